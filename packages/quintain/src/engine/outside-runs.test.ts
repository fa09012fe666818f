import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { boxGateway, type HarnessContext, type Model, ModelFault, QuintainError } from '../core/index.ts'
import type { Gateway, LeaseOptions } from '../gateway/index.ts'
import { FakeBoxes } from './__fixtures__/fake-boxes.ts'
import { outside, packaged, talk, till } from './__fixtures__/outside.ts'
import { modelThat, pause, recorded, resumed, say } from './__fixtures__/recorded.ts'
import { startPanel } from './panel.ts'
import { previewRun } from './run.ts'
import type { OpenGateway } from './run-gateway.ts'

const oracle = { policy: 'script:oracle' }
const one = { tasks: ['A'], workers: 1 }

/** As much of a message in a chat completion as is looked at here. */
interface WireMessage {
  content: string | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

/** A gateway that only says who has which address. */
function fakeGateway() {
  const leases: { options: LeaseOptions; closed: boolean }[] = []
  const seen = { opened: 0, closed: 0, leases }
  const open: OpenGateway = async () => {
    seen.opened++
    return {
      port: 1,
      socketPath: '/run/gateway.sock',
      open(options) {
        const lease = { options, closed: false }
        leases.push(lease)
        const path = `/r/${leases.length}/v1`
        return {
          baseURL: `http://127.0.0.1:1${path}`,
          anthropicBaseURL: `http://127.0.0.1:1/r/${leases.length}`,
          apiKey: `key-${leases.length}`,
          model: 'policy',
          socketPath: '/run/gateway.sock',
          path,
          fetch,
          close: () => {
            lease.closed = true
          },
        }
      },
      async close() {
        seen.closed++
      },
    } satisfies Gateway
  }
  return { seen, open }
}

describe('the address of an agent outside', () => {
  test('is one for an attempt, of a gateway that is opened once and only when it is asked for', async () => {
    const { seen, open } = fakeGateway()
    const keys: string[][] = []
    const agent = outside(async (context) => {
      const both = await Promise.all([context.model.address(), context.model.address()])
      keys.push(both.map(({ apiKey }) => apiKey))
      const { seat } = seen.leases.at(-1)!.options
      // A program's call, as the gateway makes it.
      await seat.generate({ messages: context.messages })
      return talk(context)
    })
    const run = await recorded(
      await packaged(till()),
      { agent, behind: oracle },
      { workers: 2, concurrency: 1, openGateway: open },
    )
    expect(seen).toMatchObject({ opened: 1, closed: 1 })
    expect(keys).toEqual([1, 2, 3].map((number) => [`key-${number}`, `key-${number}`]))
    expect(seen.leases.map(({ closed, options }) => [closed, options.signal?.aborted])).toEqual(
      Array(3).fill([true, true]),
    )
    expect(run.states.map(({ chosen }) => chosen?.counts.turns)).toEqual([3, 3, 3])
    const none = fakeGateway()
    await recorded(
      await packaged(till()),
      { agent: outside(talk), behind: oracle },
      { ...one, openGateway: none.open },
    )
    expect(none.seen).toMatchObject({ opened: 0, closed: 0 })
  })

  test('that cannot be opened is a fault of the gateway, and is tried again', async () => {
    const { seen, open } = fakeGateway()
    let tries = 0
    const agent = outside(async (context) => {
      await context.model.address()
      return talk(context)
    })
    const run = await recorded(
      await packaged(till()),
      { agent, behind: oracle },
      {
        ...one,
        openGateway: async (options) => {
          if (tries++ === 0) throw new Error('no port')
          return open(options)
        },
      },
    )
    expect(run.attempts.map(({ fault }) => fault?.code ?? null)).toEqual(['gateway_start_failed', null])
    expect([run.states[0]?.status, seen.closed]).toEqual(['scored', 1])
  })
})

test.each(['worker', 'inline'] as const)('a program reaches its policy over HTTP (%s)', async (isolation) => {
  const statuses: number[] = []
  let after: (() => Promise<Response>) | undefined
  const agent = outside(async ({ model, messages, tools, reply }) => {
    const { baseURL, apiKey } = await model.address()
    const ask = (history: unknown[]) =>
      fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'gpt-anything',
          messages: history,
          tools: tools.specs.map((spec) => ({ type: 'function', function: spec })),
        }),
      })
    after = () => ask([])
    const history: unknown[] = messages.map(({ role, content }) => ({ role, content }))
    for (;;) {
      const response = await ask(history)
      statuses.push(response.status)
      const { choices } = (await response.json()) as { choices: { message: WireMessage }[] }
      const { message } = choices[0]!
      history.push(message)
      if (message.tool_calls === undefined) {
        const turn = await reply!(message.content ?? '')
        if (turn.done !== undefined) return { outcome: 'env_done', stop: turn.done }
        history.push({ role: 'user', content: turn.content })
        continue
      }
      const calls = message.tool_calls.map(({ id, function: called }) => ({ id, ...called }))
      const result = await tools.run(calls, { truncated: false })
      for (const { toolCallId, content } of result.messages)
        history.push({ role: 'tool', tool_call_id: toolCallId, content })
    }
  })
  const run = await recorded(await packaged(till()), { agent, behind: oracle }, { ...one, isolation })
  expect(run.only).toMatchObject({
    fault: null,
    verdict: { success: true },
    counts: { turns: 3, toolCalls: 1 },
  })
  expect(statuses).toEqual([200, 200, 200])
  const { nodes, calls } = await run.trajectory()
  // One branch: each call's prompt goes on from what the one before has sampled.
  expect(calls.map(({ prompt, output }) => [nodes[prompt]?.message.role, nodes[output]?.sampled])).toEqual([
    ['user', true],
    ['tool', true],
    ['user', true],
  ])
  await expect(after!()).rejects.toThrow()
})

test('a program over HTTP is told of its turn limit, and ends at it', async () => {
  const refusals: number[] = []
  const agent = outside(async ({ model, messages }) => {
    const { baseURL, apiKey } = await model.address()
    for (;;) {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'm',
          messages: messages.map(({ role, content }) => ({ role, content })),
        }),
      })
      if (response.ok) continue
      refusals.push(response.status)
      throw new Error(await response.text())
    }
  })
  const run = await recorded(
    await packaged(till()),
    { agent, behind: { policy: 'script:speak' } },
    { ...one, limits: { turns: 2 } },
  )
  expect(run.only).toMatchObject({ outcome: 'turn_limit', fault: null, counts: { turns: 2 } })
  expect(refusals).toEqual([403])
})

test('a worker that is lost in the middle of a play tells its agent, and the order is run again', async () => {
  const signals: AbortSignal[] = []
  const agent = outside(async (context) => {
    signals.push(context.signal)
    if (signals.length > 1) return talk(context)
    const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')
    for (const pid of children.trim().split(' ').map(Number)) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (line.includes('worker-main')) process.kill(pid, 'SIGKILL')
    }
    // What it asks of a world that is gone is refused.
    await context.tools.run([{ id: '1', name: 'pay', arguments: '{}' }], { truncated: false })
    return { outcome: 'completed' }
  })
  const run = await recorded(await packaged(till()), { agent, behind: oracle }, one)
  expect(run.attempts.map(({ fault }) => fault?.code ?? null)).toEqual(['worker_lost', null])
  expect(run.states[0]?.status).toBe('scored')
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('thirty agents at a time stay apart', async () => {
  const body = till().replace("['A', 'B', 'C']", "Array.from({ length: 30 }, (_, at) => 'T' + at)")
  let open = 0
  let most = 0
  const agent = outside(async (context) => {
    most = Math.max(most, ++open)
    while (most < 30) await pause(5)
    return talk(context)
  })
  const run = await recorded(await packaged(body), { agent, behind: oracle }, { workers: 2, concurrency: 30 })
  expect(run.states.map(({ chosen }) => chosen?.verdict?.success)).toEqual(Array(30).fill(true))
})

describe('a run of an agent outside', () => {
  test('keeps its environment in workers, and says who plays', async () => {
    const env = await packaged(till())
    const seats = { agent: { agent: outside(talk), behind: oracle } }
    const preview = await previewRun({ env, seats, ...one })
    expect(preview).toMatchObject({
      isolation: 'worker',
      seats: { agent: { policy: 'script:oracle', harness: 'program@1' } },
    })
    // A harness that runs beside its world cannot.
    const beside = outside(talk, { runs: 'with-world' })
    expect(
      await previewRun({ env, seats: { agent: { agent: beside, behind: oracle } }, ...one }),
    ).toMatchObject({
      isolation: 'inline',
    })
  })

  test('is refused with a script that is not there, and with two harnesses', async () => {
    const env = await packaged(till())
    const agent = outside(talk)
    const refused = (player: object, options = {}) =>
      recorded(env, player as never, { ...one, ...options }).catch((error: unknown) =>
        QuintainError.isInstance(error) ? error.code : error,
      )
    expect(await refused({ agent, behind: { policy: 'script:orakle' } })).toBe('policy_unknown')
    expect(await refused({ agent, behind: oracle }, { harness: outside(talk, { runs: 'with-world' }) })).toBe(
      'usage',
    )
    expect(await refused({ agent: { ...agent, runs: 'elsewhere' } })).toBe('usage')
    expect(
      await refused({ agent: outside(talk, { carries: { turns: true, tools: false, images: true } }) }),
    ).toBe('needs_unmet')
  })

  test('is resumed with the same agent, and with no other', async () => {
    const controller = new AbortController()
    let played = 0
    const agent = outside(async (context) => {
      if (++played === 1) controller.abort()
      return talk(context)
    })
    const run = await recorded(
      await packaged(till()),
      { agent, behind: oracle },
      { workers: 1, concurrency: 1, signal: controller.signal },
    )
    expect(run.states.map(({ status }) => status)).toEqual(['scored', 'pending', 'pending'])
    const refused = (players?: object) =>
      resumed(run, (players === undefined ? {} : { players }) as never).catch((error: unknown) =>
        QuintainError.isInstance(error) ? error.code : error,
      )
    expect(await refused()).toBe('policy_unknown')
    expect(await refused({ agent: oracle })).toBe('policy_unknown')
    expect(await refused({ agent: { agent: outside(talk, { name: 'another@2' }) } })).toBe('run_mismatch')
    const again = await resumed(run, { players: { agent: { agent } } })
    expect(again.states.map(({ chosen }) => chosen?.verdict?.success)).toEqual([true, true, true])
  })

  test('takes turns with others: one agent with two models, and two agents with one model', async () => {
    const env = await packaged(till())
    const number = modelThat(
      ({ messages }) => `canary-gold-${/back (.)/.exec(String(messages[1]?.content))?.[1]}`,
      'right',
    )
    const other = modelThat(() => 'no idea', 'wrong')
    const agent = outside(talk)
    const runs = async (players: Parameters<typeof startPanel>[0]['players']) => {
      const { dir, runs } = await startPanel({ env, players, workers: 2, limits: { turns: 3 } })
      return {
        dir,
        seats: runs.map(({ manifest }) => manifest.seats['agent']),
        folders: runs.map((run) => run.dir.slice(dir.length + 1)),
      }
    }
    const models = await runs([
      { agent, behind: { model: number } },
      { agent, behind: { model: other } },
    ])
    expect(models.seats.map((seat) => [seat?.policy, seat?.harness])).toEqual([
      ['right', 'program@1'],
      ['wrong', 'program@1'],
    ])
    const agents = await runs([
      { agent, name: 'before', behind: { model: number } },
      { agent, name: 'after', behind: { model: number } },
    ])
    expect(agents.seats.map((seat) => [seat?.policy, seat?.harness])).toEqual([
      ['right', 'agent:before'],
      ['right', 'agent:after'],
    ])
    expect(new Set(agents.folders).size).toBe(2)
  })
})

describe('a simulated user beside an agent outside', () => {
  const shop = `{
    tasks: [{ id: 'A', prompt: 'Serve.', secret: { wish: 'canary-wish' } }],
    needs: ['turns', 'seats'],
    seats: { user: { system: ({ task }) => 'You want ' + task.secret.wish } },
    world: () => {
      let said = []
      return {
        reply: (content, seat) => {
          said.push(seat + ': ' + content)
          if (content === 'Thanks.') return { content: '', done: 'served' }
          return { content, next: seat === 'agent' ? 'user' : 'agent' }
        },
        finish: () => ({ said }),
      }
    },
    rewards: { served: ({ state }) => state.said.length },
  }`
  const usage = { fresh: 1, cacheRead: 0, cacheWrite: 0, output: 5 }

  test('has the turn handed over, and is billed apart', async () => {
    const agent = modelThat((_request, _context, call) => ({
      message: say(call === 0 ? 'What do you want?' : 'Here.'),
      costUsd: 1,
      usage,
    }))
    const user = modelThat((_request, _context, call) => ({
      message: say(call === 0 ? 'That one.' : 'Thanks.'),
      costUsd: 10,
      usage,
    }))
    const run = await recorded(
      await packaged(shop),
      { agent: outside(talk), behind: { model: agent } },
      { ...one, seats: { user: { model: user } } },
    )
    expect(run.only).toMatchObject({
      outcome: 'env_done',
      stop: 'served',
      verdict: { reward: 4 },
      counts: { turns: 2 },
      costUsd: { agent: 2, simulator: 20 },
      usage: { agent: { output: 10 }, simulator: { output: 10 } },
    })
    const { nodes } = await run.trajectory()
    expect(
      nodes.filter(({ seat }) => seat === 'user').map(({ message, sampled }) => [message.role, sampled]),
    ).toEqual([
      ['system', false],
      ['user', false],
      ['assistant', true],
      ['user', false],
      ['assistant', true],
      ['user', false],
    ])
  })

  test('is to blame for its own failure', async () => {
    const user = modelThat(() => {
      throw new Error('the user is gone')
    })
    let told: unknown
    const run = await recorded(
      await packaged(shop),
      {
        agent: outside(async ({ reply }) => {
          await reply!('Hello?').catch((error: unknown) => {
            told = error
          })
          return { outcome: 'completed' }
        }),
        behind: { model: modelThat(() => 'hello') },
      },
      { ...one, maxTries: 1, seats: { user: { model: user } } },
    )
    expect(run.only.fault).toMatchObject({ owner: 'simulator' })
    expect(told).toBeInstanceOf(Error)
  })
})

describe('the box of the world', () => {
  const boxed = `{
    tasks: [{ id: 'A', prompt: 'Make it.', secret: { gold: 'canary-gold' } }],
    needs: ['turns'],
    sandbox: { artefacts: ['/box'] },
    async world(_task, { sandbox }) {
      const box = await sandbox.start({ files: { 'readme.txt': 'Make it.' } })
      return {
        reply: () => ({ content: 'on' }),
        finish: async () => ({ made: (await box.read('made.txt')).ok }),
      }
    },
    rewards: { made: ({ state }) => Number(state.made) },
    *oracle() { yield 'made' },
  }`

  test.each(['worker', 'inline'] as const)(
    "is the agent program's too, until its part is over (%s)",
    async (isolation) => {
      const driver = new FakeBoxes({ run: (command) => `ran ${command}` })
      let late: HarnessContext | undefined
      const agent = outside(async (context) => {
        late = context
        const box = context.box!
        const readme = await box.read('readme.txt')
        const { stdout } = await box.exec(['make', 'it'])
        await box.write('made.txt', `${readme.ok} ${stdout}`)
        // It is not the agent's to end.
        await box.stop()
        return { outcome: 'completed', answer: 'made' }
      })
      const run = await recorded(
        await packaged(boxed),
        { agent, behind: oracle },
        { ...one, isolation, sandbox: driver },
      )
      expect(run.only).toMatchObject({ fault: null, verdict: { reward: 1 } })
      expect(driver.open).toBe(0)
      await expect(late!.box!.exec('true')).rejects.toThrow(/over/)
      // Nothing asked for a way to the gateway.
      expect(driver.started[0]?.network).toBeUndefined()
    },
  )

  test('has a way to the gateway where the harness runs in it', async () => {
    const { seen, open } = fakeGateway()
    const driver = new FakeBoxes()
    const agent = outside(async () => ({ outcome: 'completed' }), { needsBox: true })
    await recorded(
      await packaged(boxed),
      { agent, behind: oracle },
      { ...one, sandbox: driver, openGateway: open },
    )
    expect(driver.started.map(({ network }) => network)).toEqual([
      { sockets: [{ box: { port: boxGateway.port }, host: { path: '/run/gateway.sock' } }] },
    ])
    expect(seen).toMatchObject({ opened: 1, closed: 1 })
  })

  test('is absent where the world has none', async () => {
    let had = true
    const agent = outside(async (context) => {
      had = 'box' in context
      return { outcome: 'completed' }
    })
    await recorded(await packaged(till()), { agent, behind: oracle }, one)
    expect(had).toBe(false)
  })
})

test('what was said by those who never saw the secret gives none away by what is taken out of it', async () => {
  const env = `{
    tasks: [{ id: 'A', prompt: 'How many?', secret: { answer: 5 } }],
    rewards: { exact: ({ transcript, task }) => Number(transcript.answer === String(task.secret.answer)) },
  }`
  const said = 'the server at 127.0.0.5 gave up after 5 attempts'
  const stops = await recorded(
    await packaged(env),
    {
      agent: outside(async () => {
        throw new Error(said)
      }),
    },
    one,
  )
  expect(stops.states.map(({ chosen }) => chosen?.stop)).toEqual([said])
  const ended = outside(async () => ({ outcome: 'agent_error', stop: said }))
  expect((await recorded(await packaged(env), { agent: ended }, one)).states[0]?.chosen?.stop).toBe(said)
  const down = modelThat(() => {
    const fault = {
      owner: 'provider',
      stage: 'model',
      code: 'http_502',
      message: said,
      retryable: false,
    } as const
    throw new ModelFault(fault)
  })
  for (const player of [{ model: down }, { agent: outside(talk), behind: { model: down } }]) {
    const run = await recorded(await packaged(env), player, { ...one, maxTries: 1 })
    expect(run.attempts.map(({ fault }) => fault?.message)).toEqual([said])
  }
})

test('a call that an agent did not wait for is in the record, with what it had read', async () => {
  const model: Model = {
    id: 'fake',
    generate: (_request, { onDelta, signal }) =>
      new Promise((_, reject) => {
        for (let piece = 0; piece < 6; piece++) onDelta?.({ type: 'text', text: 'word' })
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  const hasty = outside(async ({ messages, model }) => {
    const read = Promise.withResolvers<void>()
    model.generate({ messages }, { onDelta: () => read.resolve() }).catch(() => {})
    await read.promise
    return { outcome: 'completed', answer: 'enough' }
  })
  // Of another the time is up first.
  const slow = outside(async ({ messages, model }) => {
    await model.generate({ messages }, { onDelta: () => {} })
    return { outcome: 'completed' }
  })
  const env = await packaged(`{ tasks: [{ id: 'A', prompt: 'Go.' }], rewards: { none: () => 0 } }`)
  for (const [agent, outcome] of [
    [hasty, 'completed'],
    [slow, 'wall_limit'],
  ] as const) {
    const run = await recorded(env, { agent, behind: { model } }, { ...one, limits: { wall: 300 } })
    const [attempt] = run.attempts
    expect([attempt?.outcome, attempt?.counts.turns, attempt?.usage.agent.output]).toEqual([outcome, 1, 6])
    expect(attempt?.counts.flags).toEqual({ client_left: 1, usage_estimated: 1 })
    expect(attempt?.costUsd.agent).toBeNull()
  }
})
