import type { Agent } from 'node:http'
import { ClientRefused } from '../episode-client.ts'
import { http } from './http.ts'

interface ToolResult {
  content: { type: string; text?: string }[]
  isError?: boolean
}

/** As much of an MCP client as calling tools takes: streamable HTTP, revision 2025-11-25. */
export class McpClient {
  private readonly url: string
  private readonly agent: Agent
  private session: string | undefined
  private next = 1

  constructor(url: string, agent: Agent) {
    this.url = url
    this.agent = agent
  }

  async begin(): Promise<void> {
    await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'quintain-parity', version: '1' },
    })
    await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  async tools(): Promise<string[]> {
    const { tools } = (await this.request('tools/list', {})) as { tools: { name: string }[] }
    return tools.map(({ name }) => name)
  }

  async call(name: string, given: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
    const { error, result } = await this.ask('tools/call', { name, arguments: given })
    // Clients show a model what went wrong with its call, and go on.
    if (error !== undefined) return { text: error.message, isError: true }
    const { content, isError } = result as ToolResult
    return { text: content.map(({ text }) => text ?? '').join(''), isError: isError === true }
  }

  private async request(method: string, params: object): Promise<unknown> {
    const { error, result } = await this.ask(method, params)
    if (error !== undefined) throw new ClientRefused(`${method}: ${error.code} ${error.message}`)
    return result
  }

  private async ask(method: string, params: object): Promise<Answer> {
    const id = this.next++
    const { status, text, headers } = await this.post({ jsonrpc: '2.0', id, method, params })
    if (status >= 400) throw new ClientRefused(`${method}: ${status} ${text.slice(0, 300)}`)
    const given = headers['mcp-session-id']
    if (typeof given === 'string') this.session = given
    const answer = answersIn(text).find((one) => one.id === id)
    if (answer === undefined) throw new ClientRefused(`${method}: no answer`)
    return answer
  }

  private post(body: object) {
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(this.session === undefined ? {} : { 'mcp-session-id': this.session }),
    }
    return http(this.url, { method: 'POST', headers, body, agent: this.agent })
  }
}

interface Answer {
  id?: number
  result?: unknown
  error?: { code: number; message: string }
}

/** JSON-RPC messages of a body: one of JSON, or a stream of events. */
function answersIn(text: string): Answer[] {
  if (text.startsWith('{')) return [JSON.parse(text) as Answer]
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Answer)
}
