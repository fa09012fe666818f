import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { http } from '../episodes/clients/http.ts'
import { playerOf } from '../episodes/players.ts'
import { openSessionCore, type SessionCore } from '../session/index.ts'
import { everyRequest, type Guess } from './__fixtures__/every-request.ts'
import { overhear } from './__fixtures__/overheard.ts'
import { canary, planted } from './__fixtures__/planted.ts'
import type { DoorName } from './door.ts'
import { doorNames, loadDoor } from './door-names.ts'

/*
 * Every door is opened for environments whose secrets are marked, and everything that its addresses answer is overheard:
 * episodes that are played right, played wrong and left; and all requests of all protocols, by whoever guesses.
 */

let folder: string
const cores = new Map<string, SessionCore>()
const logged: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quintain-planes-'))
  for (const [name, env] of Object.entries(planted))
    cores.set(name, await openSessionCore({ env, dir: join(folder, name), isolation: 'inline' }))
})
afterAll(async () => {
  for (const core of cores.values()) await core.close()
  await rm(folder, { recursive: true, force: true })
})

/** Those whose episodes can be scored. */
const fit = ['quiz', 'buttons', 'talk']

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

const log = (line: string) => logged.push(line)

async function guessed(url: string, guesses: readonly Guess[]) {
  const answers: { guess: Guess; status: number; text: string }[] = []
  for (const guess of guesses) {
    const { status, text } = await http(url + guess.path, {
      method: guess.method,
      headers: { accept: 'application/json, text/event-stream' },
      ...(guess.body === undefined ? {} : { body: guess.body }),
    })
    answers.push({ guess, status, text })
  }
  return answers
}

/** Plays a task through a door, with what the client of its protocol can do. What is refused is looked at too. */
async function played(
  door: DoorName,
  core: SessionCore,
  url: string,
  words: readonly string[],
): Promise<void> {
  const player = playerOf(door, { core, url })
  try {
    const client = await player.open({ id: 'train-0', split: 'train', tools: ['push'] })
    if (client.opening.tools.includes('push')) await client.call('push', '{}', { batch: 'a' })
    for (const said of words) await client.say(said)
    await client.end()
    await client.close()
  } catch {
    // An episode that fails says so in the words of its protocol, which were overheard.
  } finally {
    await player.close()
  }
}

describe.each(doorNames)('%s', (name) => {
  test.each(Object.keys(planted))('says nothing of the secrets of %s', async (environment) => {
    const core = cores.get(environment)!
    const door = await loadDoor(name)
    const open = await door.open([core], { host: '127.0.0.1', port: 0, log })
    const heard = await overhear(open.addresses[0]!.url)
    const before = core.stats()
    try {
      await played(name, core, heard.url, ['right'])
      await played(name, core, heard.url, ['wrong', 'wrong again', 'right'])
      await played(name, core, heard.url, [])
      if (!heard.url.startsWith('tcp:')) await guessed(heard.url, everyRequest(core.environment.slug))
      // Otherwise nothing would have been said that could hold a secret.
      const { scored, unscored, failed } = core.stats()
      const without = unscored - before.unscored + total(failed) - total(before.failed)
      expect(fit.includes(environment) ? scored - before.scored : without).toBeGreaterThan(0)
      expect(heard.text()).not.toContain(canary)
      expect(logged.join('\n')).not.toContain(canary)
    } finally {
      await heard.close()
      await open.close()
    }
  })
})

/** HUD's channel, by lines. */
class Channel {
  private readonly socket: Socket
  private readonly lines: AsyncIterator<string>
  private id = 0

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname)
    this.lines = createInterface({ input: this.socket })[Symbol.asyncIterator]()
  }

  async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++this.id, method, params })}\n`)
    const { value } = await this.lines.next()
    return (JSON.parse(String(value)) as { result: Record<string, unknown> }).result
  }

  end(): void {
    this.socket.destroy()
  }
}

/** An agent that holds an MCP address, and asks what it likes. */
class AgentPlane {
  readonly heard: string[] = []
  private readonly url: string
  private session: string | undefined
  private id = 0

  constructor(url: string) {
    this.url = url
  }

  async post(method: string, params: object): Promise<{ result?: unknown; error?: unknown }> {
    const { text, headers } = await http(this.url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...(this.session === undefined ? {} : { 'mcp-session-id': this.session }),
      },
      body: { jsonrpc: '2.0', id: ++this.id, method, params },
    })
    this.heard.push(text)
    const given = headers['mcp-session-id']
    if (typeof given === 'string') this.session = given
    const line = text.startsWith('{') ? text : /^data: (\{.*)$/m.exec(text)?.[1]
    return line === undefined ? { error: text } : (JSON.parse(line) as { result?: unknown })
  }
}

function rpcMethod(body: unknown): string[] {
  const { method } = (body ?? {}) as { method?: unknown }
  return typeof method === 'string' ? [method] : []
}

describe('the agent plane', () => {
  test('is what a door that keeps planes apart hands to agents; every other door says that it merges them', async () => {
    const apart = []
    for (const name of doorNames) {
      const door = await loadDoor(name)
      if (!door.plane.merges) apart.push(name)
      const open = await door.open([...cores.values()].slice(0, 2), { host: '127.0.0.1', port: 0, log })
      const planes = new Set(open.addresses.map(({ plane }) => plane))
      await open.close()
      expect([...planes], name).toEqual(door.plane.merges ? ['both'] : ['control'])
    }
    expect(apart).toEqual(['hud'])
  })

  test.each(['buttons', 'talk'])('of HUD has the tools of %s and nothing else', async (environment) => {
    const core = cores.get(environment)!
    const door = await loadDoor('hud')
    const open = await door.open([core], { host: '127.0.0.1', port: 0, log })
    const channel = new Channel(open.addresses[0]!.url)
    try {
      const { bindings } = (await channel.ask('hello')) as { bindings: { url: string }[] }
      await channel.ask('tasks.start', { id: 'train', args: { index: 0 } })
      const agentUrl = bindings[0]!.url
      const { origin } = new URL(agentUrl)

      // Of all that can be asked at that origin nothing is answered but what is at the session's own address.
      const outside = await guessed(origin, everyRequest(core.environment.slug))
      expect(outside.filter(({ status }) => status < 400).map(({ guess }) => guess.path)).toEqual([])
      const guesses = everyRequest(core.environment.slug)
      const beneath = await guessed(agentUrl, guesses)
      expect(beneath.filter(({ status }) => status < 400).map(({ guess }) => guess.path)).toEqual([])

      const agent = new AgentPlane(agentUrl)
      const methods = [...new Set(guesses.flatMap(({ body }) => rpcMethod(body)))]
      expect(methods).toContain('tasks.grade')
      await agent.post('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'scan', version: '1' },
      })
      const results = []
      for (const method of methods) {
        const { result } = await agent.post(method, {})
        if (result !== undefined) results.push({ method, result })
      }
      // A second `initialize` is none of a session that has begun.
      expect(results.map(({ method }) => method)).toEqual(['tools/list'])
      const { tools } = results[0]!.result as { tools: { name: string }[] }
      expect(tools.map((one) => one.name).sort()).toEqual(environment === 'talk' ? ['push', 'say'] : ['push'])

      // Tools of other names are refused, whatever they are called.
      for (const tool of ['reset', 'grade', 'verify', 'tasks.grade', '_hud_submit', 'state', 'close']) {
        const { result, error } = await agent.post('tools/call', { name: tool, arguments: {} })
        expect(error ?? (result as { isError?: boolean }).isError, tool).toBeTruthy()
      }
      for (const text of [...outside, ...beneath].map((one) => one.text).concat(agent.heard)) {
        expect(text).not.toContain(canary)
        expect(text).not.toMatch(/"(reward|score|success)"/)
      }
      // The episode that all of this was asked beside is as it was.
      const graded = await channel.ask('tasks.grade', { answer: 'right' })
      expect(graded).toMatchObject({ score: 1 })
    } finally {
      channel.end()
      await open.close()
    }
  })
})

test('the publishable records of what was served hold no secret', async () => {
  for (const core of cores.values()) await core.close()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('private'))
    .map((entry) => join(entry.parentPath, entry.name))
  expect(files.length).toBeGreaterThan(10)
  for (const file of files) expect(await readFile(file, 'utf8'), file).not.toContain(canary)
})
