import { type FakeOptions, fakeCore } from '../../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../../session/session.ts'
import { openOpenEnv } from '../door.ts'
import { defaultTimes, type Times } from '../times.ts'
import { SocketClient } from './socket-client.ts'

export interface Served {
  core: SessionCore
  url: string
  /** What it told its log. */
  lines: string[]
  connect(path?: string, headers?: Record<string, string>): SocketClient
  get(path: string): Promise<{ status: number; json: Record<string, never> }>
  post(path: string, body?: unknown): Promise<{ status: number; json: Record<string, never> }>
}

/** Opens the door to a core; `afterwards` is told how it is closed, as `onTestFinished` wants it. */
export async function openServed(
  afterwards: (close: () => Promise<void>) => void,
  given: FakeOptions | SessionCore = {},
  { token, ...times }: Partial<Times> & { token?: string } = {},
): Promise<Served> {
  const core = 'create' in given ? given : fakeCore(given)
  const lines: string[] = []
  const door = await openOpenEnv(
    [core],
    {
      host: '127.0.0.1',
      port: 0,
      log: (line) => lines.push(line),
      ...(token === undefined ? {} : { token }),
    },
    { ...defaultTimes, ...times },
  )
  const { url } = door.addresses[0]!
  const clients: SocketClient[] = []
  afterwards(async () => {
    for (const { socket } of clients) socket.terminate()
    await door.close()
    await core.close()
  })
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(url + path, init)
    return { status: answer.status, json: (await answer.json()) as Record<string, never> }
  }
  return {
    core,
    url,
    lines,
    connect(path, headers) {
      const client = new SocketClient(url, path, headers)
      clients.push(client)
      return client
    },
    get: (path) => ask(path),
    post: (path, body) =>
      ask(path, { method: 'POST', ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
  }
}
