import { once } from 'node:events'
import { WebSocket } from 'ws'
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

interface Observation {
  prompt?: string
  message?: string
  tools?: { name: string }[]
  result?: { data: string; is_error: boolean } | null
  error?: { message: string } | null
  metadata?: { error_code?: string; success?: boolean | null }
}

interface Frame {
  type: string
  data: {
    observation: Observation
    reward: number | null
    done: boolean
    message?: string
    code?: string
    reason?: string
  }
}

export interface OpenEnvOptions {
  /** Ask for the tools, which not every server of the protocol knows. On when absent; else they are those of the recording. */
  listTools?: boolean
}

/** Plays by OpenEnv's WebSocket: one socket is one episode, and its frames are answered in order. */
export function openEnvPlayer(url: string, { listTools = true }: OpenEnvOptions = {}): Player {
  return {
    way: 'openenv',
    anyArguments: false,
    unsaid: [],
    open: (task) => openSocket(url, task, listTools),
    close: async () => {},
  }
}

async function openSocket(url: string, task: PlayedTask, listTools: boolean): Promise<EpisodeClient> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, { perMessageDeflate: false })
  await once(socket, 'open')
  const client = new OpenEnvClient(socket)
  try {
    return await client.begin(task, listTools)
  } catch (thrown) {
    socket.terminate()
    throw thrown
  }
}

class OpenEnvClient {
  private readonly socket: WebSocket
  private readonly answers = new Answers()
  private verdict: ClientVerdict = { kind: 'none' }

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('message', (text: Buffer) => this.answers.came(String(text)))
    socket.on('close', () => this.answers.ended())
  }

  async begin({ id, split, tools: recorded }: PlayedTask, listTools: boolean): Promise<EpisodeClient> {
    const { observation } = await this.ask('reset', { task_id: id, split })
    const names = listTools ? await this.tools() : recorded
    const speaks = speakingTool(names, recorded)
    const shown = shownNames(recorded, names, speaks)
    const spoken = (text: string) => ({ [speaks?.startsWith('say') ? 'message' : 'answer']: text })
    return {
      opening: { text: observation.prompt ?? '', tools: names },
      call: (name, args) =>
        this.step({ type: 'call_tool', tool_name: shown(name), arguments: objectOf(args) }),
      say: (text) =>
        this.step(
          speaks === undefined
            ? { message: text }
            : { type: 'call_tool', tool_name: speaks, arguments: spoken(text) },
        ),
      end: async () => {
        if (this.verdict.kind === 'none') await this.step({ type: 'finish' })
        return this.verdict
      },
      close: async () => this.close(),
    }
  }

  private async tools(): Promise<string[]> {
    const { observation } = await this.ask('step', { type: 'list_tools' })
    return (observation.tools ?? []).map(({ name }) => name)
  }

  private async step(action: object): Promise<ClientStep> {
    const { observation, reward, done } = await this.ask('step', action)
    const { message, result, error, metadata } = observation
    if (done && reward !== null) this.verdict = { kind: 'scored', reward, success: metadata?.success ?? null }
    const code = metadata?.error_code
    return {
      text: error?.message ?? result?.data ?? message ?? '',
      ...(code === undefined ? {} : { error: code }),
      done,
    }
  }

  private async ask(type: string, data: object): Promise<Frame['data']> {
    const answer = this.answers.next()
    this.socket.send(JSON.stringify({ type, data }))
    const frame = JSON.parse(await answer) as Frame
    if (frame.type !== 'error') return frame.data
    const { code, message, reason } = frame.data
    const verdict = reason === 'infrastructure' ? 'failed' : reason === 'unscored' ? reason : undefined
    throw new ClientRefused(`${code}: ${message}`, verdict)
  }

  private close(): void {
    if (this.socket.readyState !== this.socket.OPEN) return
    this.socket.send(JSON.stringify({ type: 'close', data: {} }))
    this.socket.close()
  }
}
