import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Box, boxGateway, type ModelAddress } from '../../core/index.ts'
import { SeatStop } from '../../gateway/index.ts'
import { bashDriver, bwrapDriver, processDriver } from '../../sandbox/index.ts'
import { fakeContext } from '../__fixtures__/fake-context.ts'
import { command } from './command.ts'

const bwrap = bwrapDriver()
const available = await bwrap.available()

async function listening<S extends SocketServer>(server: S): Promise<S> {
  if (!server.listening) await once(server, 'listening')
  return server
}

/** A gateway that says which path was asked for, with which key; on a Unix socket and on a port. */
let folder: string
let servers: Server[]
let address: ModelAddress
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quintain-boxes-test-'))
  const socketPath = join(folder, 'gateway.sock')
  const answer = () =>
    createServer((request, response) => {
      response.end(`${request.url} ${request.headers.authorization}`)
    })
  servers = [await listening(answer().listen(socketPath)), await listening(answer().listen(0, '127.0.0.1'))]
  const { port } = servers[1]!.address() as AddressInfo
  const path = '/r/handle/v1'
  address = {
    baseURL: `http://127.0.0.1:${port}${path}`,
    anthropicBaseURL: `http://127.0.0.1:${port}/r/handle`,
    apiKey: 'key-of-this-attempt',
    model: 'quintain',
    socketPath,
    path,
    fetch: () => Promise.reject(new Error('not here')),
  }
})
afterAll(async () => {
  for (const server of servers) server.close()
  await bwrap.close?.()
  await rm(folder, { recursive: true })
})

const asks = `
  const get = (url) => fetch(url, { headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY } })
    .then((reply) => reply.text(), () => 'unreachable')
  const { OPENAI_BASE_URL, ANTHROPIC_BASE_URL, QUINTAIN_TOOLS_URL, SHOP_URL, OTHER } = process.env
  const call = QUINTAIN_TOOLS_URL &&
    await (await fetch(QUINTAIN_TOOLS_URL + '/act', { method: 'POST', body: '{"n":1}' })).json()
  console.log(JSON.stringify({
    openai: await get(OPENAI_BASE_URL + '/models'),
    anthropic: await get(ANTHROPIC_BASE_URL + '/v1/messages'),
    call,
    shop: await get(SHOP_URL),
    other: await get(OTHER),
    env: Object.keys(process.env),
  }))`

describe.skipIf(!available.available)('a program in a box of its own', () => {
  const program = async () => ({
    argv: ['/opt/agent/node', '--input-type=module', '-e', asks],
    mounts: [{ source: dirname(await realpath(process.execPath)), target: '/opt/agent' }],
  })

  test('reaches its model, its tools and the endpoints of the world, and nothing else of this machine', async () => {
    const shop = createServer((_request, response) => response.end('shop'))
    const other = createSocketServer()
    for (const server of [shop, other]) await listening(server.listen(0, '127.0.0.1'))
    const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
    process.env['QUINTAIN_TEST_CANARY'] = 'canary'
    try {
      const { context, done } = fakeContext({
        tools: true,
        address: async () => address,
        endpoints: { SHOP_URL: `http://127.0.0.1:${portOf(shop)}/` },
      })
      const harness = command({
        ...(await program()),
        sandbox: bwrap,
        limits: { memoryMb: 4096 },
        env: { OTHER: `http://127.0.0.1:${portOf(other)}/` },
      })
      const { answer } = await harness.run(context)
      const heard = JSON.parse(String(answer)) as Record<string, unknown> & { env: string[] }
      expect(heard).toMatchObject({
        openai: '/r/handle/v1/models Bearer key-of-this-attempt',
        anthropic: '/r/handle/v1/messages Bearer key-of-this-attempt',
        call: { content: 'act {"n":1}' },
        shop: 'shop',
        other: 'unreachable',
      })
      expect(heard.env).not.toContain('QUINTAIN_TEST_CANARY')
      expect(done.ran).toHaveLength(1)
    } finally {
      delete process.env['QUINTAIN_TEST_CANARY']
      shop.close()
      other.close()
    }
  })

  test('is ended with the attempt', async () => {
    const stop = new AbortController()
    const playing = command({
      argv: ['/bin/sh', '-c', "trap '' TERM; while :; do :; done"],
      sandbox: bwrap,
    }).run(fakeContext({ signal: stop.signal }).context)
    setTimeout(() => stop.abort(new Error('the rollout is over')), 300)
    await expect(playing).rejects.toThrow('the rollout is over')
  })

  test('talks in lines, and is ended with the attempt while it thinks', async () => {
    const { argv, mounts } = await program()
    const script = `
      let count = 0
      const say = (answer) => process.stdout.write(JSON.stringify({ answer }) + '\\n')
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { input } = JSON.parse(line)
        if (input !== 'think') say(++count + ' ' + input + ' ' + 'x'.repeat(100000))
      })`
    const harness = command({
      argv: [argv[0]!, '-e', script],
      mounts,
      sandbox: bwrap,
      turns: 'lines',
      limits: { memoryMb: 4096 },
    })
    const turns = fakeContext({
      reply: (_content, nth) => (nth === 2 ? { content: 'yes', done: 'won' } : { content: `no ${nth}` }),
    })
    expect(await harness.run(turns.context)).toMatchObject({ outcome: 'env_done', stop: 'won' })
    expect(turns.done.said.map((said) => String(said).slice(0, 8))).toEqual([
      '1 go xxx',
      '2 no 0 x',
      '3 no 1 x',
    ])
    const stop = new AbortController()
    const thinking = harness.run(
      fakeContext({ signal: stop.signal, messages: [{ role: 'user', content: 'think' }] }).context,
    )
    setTimeout(() => stop.abort(new Error('the rollout is over')), 300)
    await expect(thinking).rejects.toThrow('the rollout is over')
    const failing = command({
      argv: ['/bin/sh', '-c', 'echo oops >&2; exit 3'],
      sandbox: bwrap,
      turns: 'lines',
    })
    await expect(failing.run(fakeContext().context)).rejects.toThrow('exit code 3; it said: oops')
  })

  test('that is not there is a fault', async () => {
    const thrown: unknown = await command({ argv: ['/no/such'], sandbox: bwrap })
      .run(fakeContext().context)
      .catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(SeatStop)
    expect(thrown).toMatchObject({ fault: { code: 'agent_not_started' } })
  })

  test('reaches the gateway in the walls of a world’s box', async () => {
    const { argv, mounts } = await program()
    const box = await bwrap.start({
      mounts,
      limits: { memoryMb: 4096 },
      network: {
        sockets: [{ box: { port: boxGateway.port }, host: { path: address.socketPath } }],
      },
    })
    try {
      const end = await inWorld(box, argv)
      expect(JSON.parse(String(end.answer))).toMatchObject({
        openai: '/r/handle/v1/models Bearer key-of-this-attempt',
      })
    } finally {
      await box.stop()
    }
  })
})

function inWorld(box: Box | undefined, argv: readonly string[]) {
  const harness = command({ argv, box: 'world' })
  expect(harness.needsBox).toBe(true)
  const { context } = fakeContext({ address: async () => address, ...(box === undefined ? {} : { box }) })
  return harness.run(context)
}

describe('a program in the box of the world', () => {
  test('works on what is there, and leaves the box', async () => {
    const box = await processDriver().start({ files: { 'notes.txt': 'in the world' } })
    try {
      const end = await inWorld(box, [
        'sh',
        '-c',
        'cat notes.txt; echo " $OPENAI_BASE_URL"; cat "$QUINTAIN_TASK_FILE"',
      ])
      expect(end.answer).toContain(`in the world ${address.baseURL}`)
      expect(end.answer).toContain('"id":"task-1"')
      expect(await box.exec('cat notes.txt')).toMatchObject({ stdout: 'in the world' })
    } finally {
      await box.stop()
    }
  })

  test('that outlives the box’s own limit has reached a limit', async () => {
    const box = await processDriver().start({ limits: { wallMs: 200 } })
    try {
      expect(await inWorld(box, ['sleep', '600'])).toEqual({ outcome: 'wall_limit', stop: 'box_wall_limit' })
    } finally {
      await box.stop()
    }
  })

  test('needs one in which programs run', async () => {
    const bash = bashDriver()
    const box = await bash.start()
    try {
      for (const given of [undefined, box])
        await expect(inWorld(given, ['true'])).rejects.toMatchObject({ fault: { code: 'box_missing' } })
    } finally {
      await bash.close?.()
    }
  })

  test('that is lost is a fault of the sandbox', async () => {
    const box = await processDriver().start()
    await box.stop()
    await expect(inWorld(box, ['true'])).rejects.toMatchObject({
      name: 'SeatStop',
      fault: { owner: 'sandbox', code: 'sandbox_stopped' },
    })
  })
})
