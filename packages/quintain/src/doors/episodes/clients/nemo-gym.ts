import { Agent } from 'node:http'
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
import { http } from './http.ts'

interface Row {
  responses_create_params: {
    input: { content?: string | { text?: string }[] }[]
    tools?: { name: string }[]
  }
}

interface Verified {
  reward: number
  mask_sample: boolean
  failure_kind: string | null
  success?: boolean
}

/**
 * Plays as `simple_agent` of NeMo Gym does: a row begins an episode, tools are called at `POST /NAME` with its cookie, and
 * `POST /verify` grades it by all that the agent put out.
 */
export function nemoGymPlayer(rowOf: (task: string) => Promise<object>, url: string): Player {
  const agent = new Agent({ keepAlive: true })
  return {
    way: 'nemo-gym',
    anyArguments: false,
    unsaid: ['whether a step ended the episode', 'codes of what an agent got wrong'],
    async open(task) {
      return new NemoClient(url, agent, (await rowOf(task.id)) as Row).begin(task)
    },
    close: async () => agent.destroy(),
  }
}

class NemoClient {
  private readonly url: string
  private readonly agent: Agent
  private readonly row: Row
  private cookie = ''
  private calls = 0
  /** Items of the Responses API, as the agent's response holds them. */
  private readonly output: object[] = []

  constructor(url: string, agent: Agent, row: Row) {
    this.url = url
    this.agent = agent
    this.row = row
  }

  async begin({ tools: recorded }: PlayedTask): Promise<EpisodeClient> {
    await this.ask('/seed_session', this.row)
    const { input, tools = [] } = this.row.responses_create_params
    const names = tools.map(({ name }) => name)
    const speaks = speakingTool(names, recorded)
    const shown = shownNames(recorded, names, speaks)
    return {
      opening: { text: input.map(({ content }) => textIn(content)).join('\n'), tools: names },
      call: (name, args) => this.call(shown(name), objectOf(args)),
      say: async (text) => (speaks === undefined ? this.answer(text) : this.call(speaks, { message: text })),
      end: () => this.verify(),
      close: async () => void (await this.ask('/close_session', {})),
    }
  }

  /** What an agent says ends its part, and is graded with it. */
  private answer(text: string): ClientStep {
    const content = [{ type: 'output_text', text, annotations: [] }]
    this.output.push({ type: 'message', role: 'assistant', content })
    return { text: '' }
  }

  private async call(name: string, given: Record<string, unknown>): Promise<ClientStep> {
    const id = `call_${++this.calls}`
    const { status, text } = await this.send(`/${name}`, given)
    this.output.push({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(given) })
    this.output.push({ type: 'function_call_output', call_id: id, output: text })
    return { text, ...(status < 400 ? {} : { error: true as const }) }
  }

  private async verify(): Promise<ClientVerdict> {
    const text = await this.ask('/verify', { ...this.row, response: { output: this.output } })
    const { reward, mask_sample: masked, failure_kind: kind, success } = JSON.parse(text) as Verified
    if (!masked) return { kind: 'scored', reward, success: success ?? null }
    return { kind: kind === 'quintain:unscored' ? 'unscored' : 'failed' }
  }

  private async ask(path: string, body: unknown): Promise<string> {
    const { status, text } = await this.send(path, body)
    if (status < 400) return text
    throw new ClientRefused(`${path}: ${status} ${text.slice(0, 300)}`, status >= 500 ? 'failed' : undefined)
  }

  private async send(path: string, body: unknown) {
    const headers: Record<string, string> = this.cookie === '' ? {} : { cookie: this.cookie }
    const reply = await http(this.url + path, { method: 'POST', headers, body, agent: this.agent })
    const [given] = reply.headers['set-cookie'] ?? []
    if (given !== undefined) this.cookie = given.split(';')[0] ?? ''
    return reply
  }
}

function textIn(content: Row['responses_create_params']['input'][number]['content']): string {
  if (typeof content === 'string' || content === undefined) return content ?? ''
  return content.map(({ text }) => text ?? '').join('')
}
