import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import {
  ClientRefused,
  type ClientStep,
  type ClientVerdict,
  type EpisodeClient,
  type PlayedTask,
  type Player,
} from '../episode-client.ts'
import { objectOf } from '../object-text.ts'
import { shownNames, speakingTool } from '../shown-names.ts'
import { Answers } from './answers.ts'
import { McpClient } from './mcp.ts'

interface Hello {
  bindings: { name: string; url: string }[]
}

interface Grade {
  score: number
  /** Absent from servers that are not ours. */
  info?: { success?: boolean | null }
}

interface Reply {
  id: number | null
  result?: unknown
  error?: { code: number; message: string; data?: { reason?: string } }
}

type PromptBlock = string | { type: string; text?: string }

/** Plays by HUD's control channel: lines of JSON-RPC for tasks and grades, and MCP for tools. */
export function hudPlayer(url: string): Player {
  const agent = new Agent({ keepAlive: true })
  return {
    way: 'hud',
    anyArguments: false,
    unsaid: ['whether a step ended the episode', 'codes of what an agent got wrong'],
    async open(task) {
      const { hostname, port } = new URL(url)
      const socket = connect({ host: hostname, port: Number(port) })
      await once(socket, 'connect')
      const client = new HudClient(socket, agent)
      try {
        return await client.begin(task)
      } catch (thrown) {
        socket.destroy()
        throw thrown
      }
    },
    close: async () => agent.destroy(),
  }
}

class HudClient {
  private readonly socket: Socket
  private readonly agent: Agent
  private readonly answers = new Answers()
  private next = 1
  private said: string | undefined

  constructor(socket: Socket, agent: Agent) {
    this.socket = socket
    this.agent = agent
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', (line) => this.answers.came(line))
    socket.on('close', () => this.answers.ended())
  }

  async begin({ id, split, tools: recorded }: PlayedTask): Promise<EpisodeClient> {
    const { bindings } = (await this.ask('hello', {})) as Hello
    const { prompt } = (await this.ask('tasks.start', { id: split, args: { id } })) as { prompt: unknown }
    const at = bindings.find(({ name }) => name === 'tools')?.url
    const mcp = at === undefined ? undefined : new McpClient(at, this.agent)
    await mcp?.begin()
    const names = (await mcp?.tools()) ?? []
    const speaks = speakingTool(names, recorded)
    const shown = shownNames(recorded, names, speaks)
    const call = async (name: string, given: Record<string, unknown>): Promise<ClientStep> => {
      if (mcp === undefined) throw new ClientRefused('the environment shows no tools')
      const { text, isError } = await mcp.call(name, given)
      return { text, ...(isError ? { error: true as const } : {}) }
    }
    return {
      opening: { text: promptText(prompt), tools: names },
      call: (name, args) => call(shown(name), objectOf(args)),
      say: async (text) => {
        if (speaks !== undefined) return call(speaks, { message: text })
        // What an agent ends with is graded with it.
        this.said = text
        return { text: '' }
      },
      end: () => this.grade(),
      close: async () => {
        await this.ask('bye', {})
        this.socket.end()
      },
    }
  }

  private async grade(): Promise<ClientVerdict> {
    const answer = this.said === undefined ? {} : { answer: this.said }
    const { score, info } = (await this.ask('tasks.grade', answer)) as Grade
    const success = info?.success
    return { kind: 'scored', reward: score, ...(success === undefined ? {} : { success }) }
  }

  private async ask(method: string, params: object): Promise<unknown> {
    const id = this.next++
    const answer = this.answers.next()
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const { result, error } = JSON.parse(await answer) as Reply
    if (error === undefined) return result
    const { code, message, data } = error
    throw new ClientRefused(`${method}: ${code} ${message}`, verdictIn(data?.reason))
  }
}

function verdictIn(reason: string | undefined): 'failed' | 'unscored' | undefined {
  if (reason?.startsWith('fault:') === true) return 'failed'
  return reason?.startsWith('unscored:') === true ? 'unscored' : undefined
}

function promptText(prompt: unknown): string {
  if (typeof prompt === 'string') return prompt
  const messages = prompt as { content: PromptBlock }[]
  return messages
    .map(({ content }) => (typeof content === 'string' ? content : (content.text ?? '')))
    .join('\n')
}
