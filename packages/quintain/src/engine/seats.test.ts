import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { environment, ModelFault, type Observation, tool, type Usage } from '../core/index.ts'
import { calling, modelThat, recorded, say } from './__fixtures__/recorded.ts'

const tokens = (output: number): Usage => ({ fresh: 1, cacheRead: 0, cacheWrite: 0, output })

/** A shop: the customer has a phone that only it can use, and the clerk has the till. */
function shop(
  customer?: (seen: Observation[]) => Generator<string | { tool: string }, string | void, Observation>,
) {
  const seen: Observation[] = []
  const env = environment({
    tasks: [{ id: 'refund', prompt: 'You are the clerk.', secret: { order: 'A7' } }],
    first: 'customer',
    seats: {
      customer: {
        system: ({ task }) => `You want your money for ${task.secret.order} back.`,
        *play(context) {
          if (customer !== undefined) return yield* customer(seen)
          seen.push(context.observation)
          seen.push(yield { tool: 'reboot' })
          seen.push(yield 'My phone is dead. Order A7.')
          seen.push(yield 'Thanks.')
        },
      },
    },
    world: () => {
      let rebooted = false
      let refunded = false
      return {
        open: (seat) => (seat === 'customer' ? 'The line is open.' : undefined),
        tools: (seat) => [
          seat === 'customer'
            ? tool({
                name: 'reboot',
                description: 'Reboots the phone.',
                input: z.object({}),
                run: () => {
                  rebooted = true
                  return 'It stays dark.'
                },
              })
            : tool({
                name: 'refund',
                description: 'Pays back.',
                input: z.object({ order: z.string() }),
                run: ({ order }) => {
                  refunded = order === 'A7'
                  return 'paid'
                },
              }),
        ],
        reply: (content, seat) =>
          content === 'Thanks.'
            ? { content: '', done: 'hung_up' }
            : { content, next: seat === 'customer' ? 'agent' : 'customer' },
        finish: () => ({ rebooted, refunded }),
      }
    },
    rewards: { refunded: ({ state }) => Number(state.refunded) },
    metrics: {
      rebooted: ({ state }) => Number(state.rebooted),
      customerSaid: ({ transcript }) =>
        transcript.seat('customer').filter(({ role }) => role === 'assistant').length,
    },
  })
  return { env, seen }
}

const clerk = () =>
  modelThat((_request, _context, call) =>
    call === 0
      ? { message: calling(['refund', { order: 'A7' }]), costUsd: 1 }
      : { message: say('Done.'), costUsd: 1 },
  )

describe('a customer with tools of its own who moves first', () => {
  test('is served, and each seat reads only its own side', async () => {
    const { env, seen } = shop()
    const run = await recorded(env, { model: clerk() })
    expect(run.only).toMatchObject({
      outcome: 'env_done',
      stop: 'hung_up',
      fault: null,
      verdict: { reward: 1, metrics: { rebooted: 1, customerSaid: 3 } },
      // The phone is the customer's.
      counts: { turns: 2, toolCalls: 1 },
    })
    expect(seen.map(({ text }) => text)).toEqual(['The line is open.', 'It stays dark.', 'Done.'])
    const { nodes, seats } = await run.trajectory()
    const side = (seat: string) =>
      nodes.filter((node) => node.seat === seat).map(({ message }) => `${message.role}: ${message.content}`)
    expect(side('agent')).toEqual([
      'user: You are the clerk.',
      'user: My phone is dead. Order A7.',
      'assistant: ',
      'tool: paid',
      'assistant: Done.',
    ])
    expect(side('customer')[0]).toBe('system: You want your money for A7 back.')
    expect(seats['agent']!.tools!.map(({ name }) => name)).toEqual(['refund'])
    expect(seats['customer']).toMatchObject({ policy: 'script:play' })
    expect(seats['customer']!.tools!.map(({ name }) => name)).toEqual(['reboot'])
  })

  test('is a simulator when a model plays it, with a ledger of its own', async () => {
    const { env } = shop()
    const customer = modelThat((_request, _context, call) => ({
      message: call === 0 ? say('Order A7.') : say('Thanks.'),
      costUsd: 10,
      usage: tokens(7),
    }))
    const agent = modelThat((_request, _context, call) => ({
      message: call === 0 ? calling(['refund', { order: 'A7' }]) : say('Done.'),
      costUsd: 1,
      usage: tokens(3),
    }))
    const run = await recorded(
      env,
      { model: agent },
      { seats: { customer: { model: customer } }, limits: { costUsd: 5, tokens: 7 } },
    )
    expect(run.only).toMatchObject({
      outcome: 'env_done',
      costUsd: { agent: 2, simulator: 20 },
      usage: { agent: { output: 6 }, simulator: { output: 14 } },
    })
  })
})

describe('a simulator that fails says nothing of the agent', () => {
  const customers = {
    'a script that throws': () => {
      throw new Error('I forgot my lines')
    },
    'a script that calls nothing sensible': function* () {
      yield { nonsense: true } as never
    },
  }
  test.for(Object.entries(customers))('%s', async ([, customer]) => {
    const { env } = shop(customer as never)
    const run = await recorded(env, { model: clerk() }, { maxTries: 1 })
    expect(run.only).toMatchObject({ outcome: null, verdict: null })
    expect(run.only.fault).toMatchObject({ owner: 'simulator', stage: 'model' })
  })

  const provider = (code: string, outcome?: 'context_overflow' | 'refused') =>
    new ModelFault(
      { owner: 'provider', stage: 'model', code, message: code, retryable: true },
      outcome === undefined ? {} : { outcome },
    )
  const models: Record<string, [ReturnType<typeof modelThat>, string]> = {
    'a model that is down': [
      modelThat(() => {
        throw provider('http_503')
      }),
      'http_503',
    ],
    'a model whose context is full': [
      modelThat(() => {
        throw provider('too_long', 'context_overflow')
      }),
      'too_long',
    ],
    'a model that refuses': [modelThat(() => ({ message: say('no'), finish: 'refusal' })), 'refused'],
    'a model that is cut for ever': [
      modelThat(() => ({ message: say('and'), finish: 'length' })),
      'truncated',
    ],
    'a model that only fails at its tools': [
      modelThat(() => ({ message: calling(['no_such_tool']) })),
      'agent_error',
    ],
    'a model whose client throws': [
      modelThat(() => {
        throw new TypeError('undefined')
      }),
      'client_threw',
    ],
  }
  test.for(Object.entries(models))('%s', async ([, [model, code]]) => {
    const { env } = shop()
    const agent = modelThat(() => 'Go on.')
    const run = await recorded(env, { model: agent }, { seats: { customer: { model } }, maxTries: 1 })
    expect(run.only.fault).toMatchObject({ owner: 'simulator', stage: 'model', code })
    expect(run.only).toMatchObject({ outcome: null, verdict: null })
  })

  test('it is tried again like a provider', async () => {
    const { env } = shop()
    let calls = 0
    const flaky = modelThat(() => {
      if (calls++ === 0) throw provider('http_503')
      return calls === 2 ? 'Order A7.' : 'Thanks.'
    })
    const run = await recorded(env, { model: clerk() }, { seats: { customer: { model: flaky } } })
    expect(run.states[0]).toMatchObject({ status: 'scored', tries: 2 })
  })

  test('parties that talk for ever without the agent are stopped', async () => {
    const env = environment({
      tasks: [{ id: 'talk', prompt: 'go' }],
      first: 'user',
      seats: { user: {} },
      world: () => ({ reply: () => ({ content: 'and?' }), finish: () => null }),
      rewards: { any: () => 1 },
    })
    const run = await recorded(
      env,
      { policy: 'script:noop' },
      { seats: { user: { model: modelThat(() => 'more') } }, maxTries: 1 },
    )
    expect(run.only.fault).toMatchObject({ owner: 'simulator', code: 'too_many_turns' })
  })
})

/** Take one to three; who takes the last of eight wins. */
const nim = environment({
  tasks: [{ id: 'nim', prompt: 'Take 1 to 3 of 8.' }],
  seats: { rival: { system: 'Take 1 to 3 of 8.' } },
  world: () => {
    let left = 8
    let winner = ''
    return {
      reply: (content, seat) => {
        left -= Number(content)
        if (left <= 0) winner = seat
        return left <= 0
          ? { content: 'over', done: `${seat} won`, reward: 1 }
          : { content: `${left} left`, next: seat === 'agent' ? 'rival' : 'agent' }
      },
      finish: () => ({ winner }),
    }
  },
  rewards: {
    won: ({ state }) => Number(state.winner === 'agent'),
    rivalWon: { weight: 1, seat: 'rival', reward: ({ state }) => Number(state.winner === 'rival') },
  },
  policies: {
    *greedy() {
      for (;;) yield '3'
    },
    *careful() {
      for (;;) yield '1'
    },
  },
})

describe('self-play', () => {
  test('two policies, each rewarded for its own seat', async () => {
    const run = await recorded(
      nim,
      { policy: 'script:greedy' },
      { seats: { rival: { policy: 'script:careful' } } },
    )
    expect(run.only).toMatchObject({
      outcome: 'env_done',
      stop: 'rival won',
      verdict: { reward: 0, seats: { rival: 1 } },
      counts: { turns: 2 },
    })
  })

  test('two models of one name are two players', async () => {
    const run = await recorded(
      nim,
      { model: modelThat(() => '3', 'same') },
      { seats: { rival: { model: modelThat(() => '1', 'same') } } },
    )
    expect(run.only.stop).toBe('rival won')
    const { nodes } = await run.trajectory()
    const said = (seat: string) => nodes.filter((node) => node.seat === seat && node.sampled)
    expect(new Set(said('agent').map(({ message }) => message.content))).toEqual(new Set(['3']))
    expect(new Set(said('rival').map(({ message }) => message.content))).toEqual(new Set(['1']))
  })
})

test('a policy that cannot play with the options is refused before anything runs, with what it lacks', async () => {
  const lame = environment({
    tasks: [{ id: 'a' }],
    rewards: { one: () => 1 },
    policies: { *walk() {}, *ride() {} },
    unplayable: () => ({ ride: 'there is no horse; --option horse=NAME' }),
  })
  await expect(recorded(lame, { policy: 'script:ride' })).rejects.toMatchObject({
    code: 'options_invalid',
    message: expect.stringContaining('script:ride cannot play with these options: there is no horse'),
  })
  expect((await recorded(lame, { policy: 'script:walk' })).only.outcome).toBe('completed')
  const odd = environment({ ...lame.definition, unplayable: () => ({ ride: 1 }) as never })
  await expect(recorded(odd, { policy: 'script:walk' })).rejects.toMatchObject({ code: 'definition_invalid' })
})

test('a seat that nobody plays, and a seat that does not exist, are refused before anything runs', async () => {
  await expect(recorded(nim, { policy: 'script:greedy' })).rejects.toMatchObject({ code: 'needs_unmet' })
  await expect(
    recorded(nim, { policy: 'script:greedy' }, { seats: { rivel: { policy: 'script:careful' } } }),
  ).rejects.toMatchObject({ code: expect.stringMatching(/needs_unmet|policy_unknown/) })
})
