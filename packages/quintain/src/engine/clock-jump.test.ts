import { afterEach, expect, test, vi } from 'vitest'
import { environment, foldRun } from '../core/index.ts'
import { modelThat, pause, recorded, resumed } from './__fixtures__/recorded.ts'

afterEach(() => {
  vi.useRealTimers()
})

const hour = 3_600_000

/** The machine's clock jumps by so much in every turn. */
const jumping = (ms: number) =>
  environment({
    tasks: Array.from({ length: 3 }, (_, at) => ({ id: `t${at}`, prompt: 'go' })),
    limits: { wall: '5m', tool: '30s', grade: '30s' },
    world: () => ({
      async reply() {
        await pause(5)
        vi.setSystemTime(Date.now() + ms)
        return { content: 'done', done: 'enough' }
      },
      finish: () => ({}),
    }),
    rewards: {
      one: () => {
        vi.setSystemTime(Date.now() + ms)
        return 1
      },
    },
  })

test.each([
  ['back', -hour],
  ['forward', hour],
])('a clock that jumps %s changes dates, and no duration, limit or count', async (_way, ms) => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const env = jumping(ms)
  const run = await recorded(env, { model: modelThat(() => 'hi') }, { concurrency: 1 })
  expect(run.end.stop).toBeUndefined()
  expect(run.states.map(({ status }) => status)).toEqual(['scored', 'scored', 'scored'])
  for (const { timing, start, end, outcome } of run.attempts) {
    expect(outcome).toBe('env_done')
    expect(Math.sign(Date.parse(end) - Date.parse(start))).toBe(Math.sign(ms))
    for (const took of Object.values(timing)) expect(took >= 0 && took < 60_000).toBe(true)
  }
  // Attempts that bear dates of the past or the future are neither lost nor run again.
  const more = await resumed(run, { env, players: { agent: { model: modelThat(() => 'hi') } }, repeats: 2 })
  expect(more.states.map(({ status, tries }) => [status, tries])).toEqual(Array(6).fill(['scored', 1]))
  expect((await foldRun(run.dir)).issues).toEqual([])
})
