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

interface Output {
  blocks: { type: string; text?: string }[]
  metadata: { error?: string; success?: boolean | null } | null
  reward: number | null
  finished: boolean
}

interface ToolList {
  tools: { name: string }[]
  terminal_tool?: { name: string } | null
}

/** Plays by the Open Reward Standard: JSON over HTTP, and calls whose results are streams of events. */
export function orsPlayer(url: string): Player {
  const agent = new Agent({ keepAlive: true })
  let environment: Promise<string> | undefined
  return {
    way: 'ors',
    anyArguments: false,
    unsaid: [],
    async open(task) {
      environment ??= environmentAt(url, agent)
      return new OrsClient(url, agent, await environment).begin(task)
    },
    close: async () => agent.destroy(),
  }
}

/** The first environment there, by whose name its paths begin. */
async function environmentAt(url: string, agent: Agent): Promise<string> {
  const { text } = await http(`${url}/list_environments`, { agent })
  return (JSON.parse(text) as string[])[0] ?? ''
}

class OrsClient {
  private readonly url: string
  private readonly agent: Agent
  private readonly environment: string
  private sid = ''
  private verdict: ClientVerdict = { kind: 'none' }

  constructor(url: string, agent: Agent, environment: string) {
    this.url = url
    this.agent = agent
    this.environment = environment
  }

  async begin({ id, split, tools: recorded }: PlayedTask): Promise<EpisodeClient> {
    const named = eventsIn(await this.ask('POST', '/create_session', {}))
    this.sid = named.find(({ event }) => event === 'task_id')?.data ?? ''
    await this.ask('POST', '/create', { task_spec: { id, split } })
    const prompt = JSON.parse(await this.ask('GET', `/${this.environment}/prompt`)) as Output['blocks']
    const listed = await this.tools()
    const names = listed.tools.map(({ name }) => name)
    const speaks = listed.terminal_tool?.name ?? speakingTool(names, recorded)
    const shown = shownNames(recorded, names, speaks)
    const parameter = speaks?.startsWith('say') ? 'message' : 'answer'
    return {
      opening: { text: prompt.map(({ text }) => text ?? '').join(''), tools: names },
      call: (name, args) => this.call(shown(name), objectOf(args)),
      say: async (text) => {
        if (speaks === undefined) throw new ClientRefused('there is no tool by which to speak')
        return this.call(speaks, { [parameter]: text })
      },
      end: async () => this.verdict,
      close: async () => void (await this.ask('POST', '/delete_session', {})),
    }
  }

  /** Those of the task; servers with the same ones for every task list none there. */
  private async tools(): Promise<ToolList> {
    const ofTask = JSON.parse(await this.ask('GET', `/${this.environment}/task_tools`)) as ToolList
    return ofTask.tools.length > 0
      ? ofTask
      : (JSON.parse(await this.ask('GET', `/${this.environment}/tools`)) as ToolList)
  }

  private async call(name: string, input: Record<string, unknown>): Promise<ClientStep> {
    const events = eventsIn(await this.ask('POST', `/${this.environment}/call`, { name, input }))
    const failed = events.find(({ event }) => event === 'error')
    if (failed !== undefined) throw new ClientRefused(failed.data, 'no_number')
    const json = events.filter(({ event }) => event === 'chunk' || event === 'end').map(({ data }) => data)
    const { ok, output, error } = JSON.parse(json.join('')) as {
      ok: boolean
      output: Output
      error?: string
    }
    if (!ok) throw new ClientRefused(`ok: false, ${error ?? 'without a reason'}`)
    const { reward, finished, metadata, blocks } = output
    if (finished && reward !== null)
      this.verdict = { kind: 'scored', reward, success: metadata?.success ?? null }
    const code = metadata?.error
    return {
      text: blocks.map(({ text }) => text ?? '').join(''),
      ...(code === undefined ? {} : { error: code }),
      done: finished,
    }
  }

  private async ask(method: string, path: string, body?: unknown): Promise<string> {
    const headers: Record<string, string> = this.sid === '' ? {} : { 'x-session-id': this.sid }
    const reply = await http(this.url + path, { method, headers, body, agent: this.agent })
    if (reply.status < 400) return reply.text
    throw new ClientRefused(
      `${method} ${path}: ${reply.status} ${reply.text.slice(0, 300)}`,
      reply.status >= 500 ? 'no_number' : undefined,
    )
  }
}

/** Events of a stream, as clients in Python read them, which take white space off the head of each line of data. */
export function eventsIn(stream: string): { event: string; data: string }[] {
  return stream
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .flatMap((block) => {
      const lines = block.split('\n')
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7)
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6).trimStart())
      return event === undefined ? [] : [{ event, data: data.join('\n') }]
    })
}
