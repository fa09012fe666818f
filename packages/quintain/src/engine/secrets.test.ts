import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { environment, FaultError, ModelFault, unscored } from '../core/index.ts'
import { filesOf, modelThat, pause, type Recorded, recorded } from './__fixtures__/recorded.ts'
import { previewRun } from './run.ts'
import type { RunOptions } from './run-options.ts'

const gold = 'canary-7f3a91c05e-gold'
const key = 'canary-key-58d1b7e2a9'
const spellings = [
  gold,
  gold.toUpperCase(),
  Buffer.from(gold).toString('base64').replace(/=+$/, ''),
  key,
  Buffer.from(key).toString('base64').replace(/=+$/, ''),
]

const printed: string[] = []
beforeEach(() => {
  process.env['CANARY_API_KEY'] = key
  printed.length = 0
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      printed.push(String(text))
      return true
    })
  }
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...parts) => void printed.push(parts.map(String).join(' ')))
  }
})
afterEach(() => {
  delete process.env['CANARY_API_KEY']
  vi.restoreAllMocks()
})

type Definition = Parameters<typeof environment>[0]

/** An environment whose one task has the canary as its secret. */
function guarded(definition: object) {
  return environment({
    tasks: [{ id: 'task', prompt: 'guess', secret: { answer: gold, deep: [{ also: gold }] } }],
    rewards: { any: () => 1 },
    ...definition,
  } as unknown as Definition)
}

const quoting = (thrown?: (text: string) => unknown) => () => {
  const text = `expected ${gold} (${gold.toUpperCase()}, ${Buffer.from(gold).toString('base64')}), with ${key}`
  throw thrown === undefined ? new Error(text) : thrown(text)
}
const text = `expected ${gold}`

/** Runs, and gives everything of the run that somebody other than its owner may see. */
async function shownBy(
  env: unknown,
  player: Parameters<typeof recorded>[1],
  options: Partial<RunOptions> = {},
): Promise<{ run: Recorded; shown: Map<string, string> }> {
  const progress: unknown[] = []
  const run = await recorded(env as never, player, {
    maxTries: 1,
    onProgress: (now) => progress.push(now),
    ...options,
  })
  const shown = await filesOf(run.dir, 'publishable')
  shown.set('(progress)', JSON.stringify(progress))
  shown.set('(printed)', printed.join(''))
  shown.set('(end)', JSON.stringify(run.end))
  const preview = await previewRun({ env: env as never, seats: { agent: player, ...options.seats } })
  shown.set('(preview)', JSON.stringify(preview))
  return { run, shown }
}

function expectNoCanary(shown: Map<string, string>): void {
  for (const [where, content] of shown) {
    for (const spelling of spellings) expect(content, where).not.toContain(spelling)
  }
}

const agent = () => 'a guess'
const world = (methods: object) => ({ world: () => ({ finish: () => null, ...methods }) })

describe('a canary secret is in nothing that is published, printed or told', () => {
  const sources: Record<
    string,
    [object, (Parameters<typeof recorded>[1] | undefined)?, Partial<RunOptions>?]
  > = {
    'nothing goes wrong': [{}],
    'world() throws it': [{ world: quoting() }],
    'world() throws it and is not declared': [{ world: quoting(), needs: undefined }],
    'open throws it': [world({ open: quoting() })],
    'reply throws it': [world({ reply: quoting() })],
    'reply throws a fault with it': [
      world({
        reply: quoting(
          (message) => new FaultError({ owner: 'sandbox', code: 'lost', message, retryable: false }),
        ),
      }),
    ],
    'tools() throws it': [world({ tools: quoting() })],
    'a tool throws it': [world({ tools: () => [{ name: 'x', spec: { name: 'x' }, run: quoting() }] })],
    'finish throws it': [world({ finish: quoting() })],
    'finish gives it, in the state': [world({ finish: () => ({ answer: gold }) })],
    'finish gives it, in what JSON cannot hold': [world({ finish: () => ({ [gold]: 1n }) })],
    'snapshot gives it': [world({ snapshot: () => ({ answer: gold }) })],
    'close throws it': [world({ close: quoting() })],
    'a reward throws it': [{ rewards: { any: quoting() } }],
    'a reward throws it where the message is cut': [
      { rewards: { any: quoting(() => new Error(`${'-'.repeat(280)}${gold}`)) } },
    ],
    'a reward throws it in lines': [{ rewards: { any: quoting(() => new Error(`not\n  ${gold}\n`)) } }],
    'a reward gives it': [{ rewards: { any: () => gold } }],
    'a reward declines with it': [{ rewards: { any: () => unscored(text) } }],
    'a reward explains with it': [{ rewards: { any: () => ({ value: 0, explain: text }) } }],
    'a metric gives it': [{ metrics: { any: () => gold } }],
    'success() gives it': [{ success: () => gold }],
    'success() throws it': [{ success: quoting() }],
    'a group reward throws it': [
      { groupRewards: { rank: { reward: quoting() } } },
      undefined,
      { repeats: 2 },
    ],
    'a group reward declines with it': [
      {
        groupRewards: {
          rank: {
            reward: ({ members }: { members: { id: string }[] }) =>
              Object.fromEntries(members.map(({ id }) => [id, unscored(text)])),
          },
        },
      },
      undefined,
      { repeats: 2 },
    ],
    'the oracle throws it': [{ oracle: quoting() }, { policy: 'script:oracle' }],
    'the oracle throws it in its first step': [
      {
        // biome-ignore lint/correctness/useYield: it throws before it could.
        *oracle() {
          quoting()()
        },
      },
      { policy: 'script:oracle' },
    ],
    'the oracle does something odd with it': [
      {
        *oracle() {
          yield { [gold]: gold }
        },
      },
      { policy: 'script:oracle' },
    ],
    "another seat's script throws it": [
      { ...world({ reply: () => ({ content: 'x', next: 'user' }) }), seats: { user: { play: quoting() } } },
    ],
    "another seat's system message throws it": [
      {
        ...world({ reply: () => ({ content: 'x', next: 'user' }) }),
        seats: { user: { system: quoting(), *play() {} } },
      },
    ],
    'a model fault quotes it': [
      {},
      {
        model: modelThat(
          quoting(
            (message) =>
              new ModelFault({
                owner: 'provider',
                stage: 'model',
                code: 'http_401',
                message,
                retryable: false,
              }),
          ),
        ),
      },
    ],
    "a model's client throws it": [{}, { model: modelThat(quoting()) }],
    'an agent throws it': [{}, { agent: quoting() as never }],
  }

  test.for(Object.entries(sources))('when %s', async ([, [definition, player, options]]) => {
    const { run, shown } = await shownBy(guarded(definition), player ?? { agent }, options)
    expect(run.attempts.length).toBeGreaterThan(0)
    expectNoCanary(shown)
  })

  test('but the private records keep it, with the whole text of what failed', async () => {
    const { run } = await shownBy(guarded({ rewards: { any: quoting() } }), { agent })
    const hidden = await run.hidden()
    expect(hidden!.secret).toMatchObject({ answer: gold })
    expect(hidden!.errors!.map(({ text }) => text).join()).toContain(gold)
    // A key of the host is nobody's business there either.
    for (const content of (await filesOf(run.dir, 'private')).values()) expect(content).not.toContain(key)
  })

  test('nor is it in what an agent, a model, a script or another world sees', async () => {
    const seen: string[] = []
    const env = guarded({
      seats: { user: { play: undefined } },
      policies: {
        *look(context: object) {
          seen.push(JSON.stringify(context))
          yield 'x'
        },
      },
      world: () => ({ finish: () => null }),
    })
    const model = modelThat((request, context) => {
      seen.push(JSON.stringify([request, context]))
      return 'x'
    })
    const seats = { user: { model } }
    await recorded(env, { policy: 'script:look' }, { seats })
    await recorded(env, { model }, { seats })
    await recorded(
      env,
      {
        agent: (turn) => {
          seen.push(JSON.stringify(turn))
          return 'x'
        },
      },
      { seats },
    )
    expect(seen).toHaveLength(3)
    for (const text of seen) expect(text).not.toContain(gold)
  })
})

test('an error that comes after the rollout is over is not printed', async () => {
  const { shown } = await shownBy(
    guarded(
      world({
        reply: async () => {
          await pause(100)
          throw new Error(gold)
        },
      }),
    ),
    { agent },
    { limits: { tool: 20 } },
  )
  await pause(200)
  shown.set('(printed)', printed.join(''))
  expectNoCanary(shown)
})
