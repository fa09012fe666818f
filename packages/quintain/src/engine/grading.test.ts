import { describe, expect, test } from 'vitest'
import { environment, unscored } from '../core/index.ts'
import { never, recorded } from './__fixtures__/recorded.ts'

const boom = () => {
  throw new Error('boom')
}
const tasks = [
  { id: 'bad', prompt: 'go' },
  { id: 'good', prompt: 'go' },
]
const agent = () => 'hello'
const limits = { grade: 40 }
/** A grader that fails for the task `bad` alone. */
const onBad =
  (failing: () => unknown) =>
  ({ task }: { task: { id: string } }) =>
    (task.id === 'bad' ? failing() : 1) as number

describe('a reward that is no number is a fault of the grader that names it', () => {
  const cases: [string, () => unknown, string][] = [
    ['throws', boom, 'threw'],
    ['rejects', async () => boom(), 'threw'],
    ['throws nothing', () => Promise.reject(undefined), 'threw'],
    ['hangs', never, 'timeout'],
    ['gives NaN', () => Number.NaN, 'reward_not_finite'],
    ['gives Infinity', () => Number.POSITIVE_INFINITY, 'reward_not_finite'],
    ['gives a string', () => '1', 'reward_not_a_number'],
    ['gives nothing', () => undefined, 'reward_not_a_number'],
    ['gives null', () => null, 'reward_not_a_number'],
    ['gives false', () => false, 'reward_not_a_number'],
    ['gives true', () => true, 'reward_not_a_number'],
    ['gives an empty list', () => [], 'reward_not_a_number'],
    ['gives a list with a string', () => [1, '1'], 'reward_not_a_number'],
    ['gives a list with NaN', () => [1, Number.NaN], 'reward_not_finite'],
    ['gives a bigint', () => 1n, 'reward_not_a_number'],
    ['gives an object', () => ({ score: 1 }), 'reward_not_a_number'],
    ['gives a value inside that is NaN', () => ({ value: Number.NaN }), 'reward_not_finite'],
    [
      'ran fewer checks than expected',
      () => ({ value: 1, checks: { expected: 3, run: 2 } }),
      'checks_missing',
    ],
    ['does not know how many checks ran', () => ({ value: 1, checks: { expected: 3 } }), 'checks_missing'],
  ]
  test.for(cases)('%s', async ([, failing, code]) => {
    const env = environment({ tasks, rewards: { exact: onBad(failing) } })
    const run = await recorded(env, { agent }, { limits })
    const [bad, good] = run.states
    expect(bad).toMatchObject({ status: 'faulted', tries: 1 })
    expect(bad!.chosen!.fault).toMatchObject({ owner: 'grader', stage: 'grade', code })
    expect(bad!.chosen!.fault!.message).toContain('reward "exact"')
    // No number is invented, and how the agent ended stays a fact.
    expect(bad!.chosen!.verdict).toBeNull()
    expect(bad!.chosen!.outcome).toBe('completed')
    expect(good!.chosen!.verdict!.reward).toBe(1)
  })

  test('a metric and success() are named the same way', async () => {
    const metric = environment({ tasks, rewards: { one: () => 1 }, metrics: { length: onBad(() => 'long') } })
    const success = environment({ tasks, rewards: { one: () => 1 }, success: (() => 1) as never })
    const throwing = environment({ tasks, rewards: { one: () => 1 }, success: boom })
    const [first, second, third] = await Promise.all(
      [metric, success, throwing].map((env) => recorded(env, { agent }, { limits })),
    )
    expect(first!.only.fault).toMatchObject({ owner: 'grader', code: 'reward_not_a_number' })
    expect(first!.only.fault!.message).toContain('metric "length" gave a string')
    expect(second!.only.fault).toMatchObject({ owner: 'grader', code: 'success_not_a_boolean' })
    expect(second!.only.fault!.message).toContain('success() gave a number')
    expect(third!.only.fault).toMatchObject({ owner: 'grader', code: 'threw' })
    expect(third!.only.fault!.message).toContain('success() threw: boom')
  })

  test('a metric may say that there is nothing to measure', async () => {
    const env = environment({ tasks, rewards: { one: () => 1 }, metrics: { length: () => null } })
    const run = await recorded(env, { agent })
    expect(run.only.verdict).toMatchObject({ reward: 1, metrics: { length: null } })
  })
})

describe('grading is tried again in place', () => {
  test('a grader that fails once is asked once more, and the agent is not run again', async () => {
    let grades = 0
    let answers = 0
    const env = environment({
      tasks: [tasks[0]!],
      rewards: {
        flaky: () => {
          if (grades++ === 0) throw new Error('a busy database')
          return 1
        },
      },
    })
    const run = await recorded(env, {
      agent: () => {
        answers++
        return 'hello'
      },
    })
    expect(run.states[0]).toMatchObject({ status: 'scored', tries: 1 })
    expect(answers).toBe(1)
    expect(run.only.counts.flags).toMatchObject({ grading_retried: 1 })
    expect((await run.hidden())!.errors).toMatchObject([{ stage: 'grade' }])
  })

  test('what the first try wrote into the state is not there at the second', async () => {
    let grades = 0
    const env = environment({
      tasks: [tasks[0]!],
      world: () => ({ finish: () => ({ points: [1, 2] }) }),
      rewards: {
        sum: ({ state }) => {
          const total = state.points.splice(0).reduce((a, b) => a + b, 0)
          if (grades++ === 0) throw new Error('once')
          return total
        },
      },
    })
    expect((await recorded(env, { agent })).only.verdict!.reward).toBe(3)
  })

  test('a grader that always fails was asked twice, for one attempt', async () => {
    let grades = 0
    const env = environment({
      tasks: [tasks[0]!],
      rewards: {
        broken: () => {
          grades++
          throw new Error('always')
        },
      },
    })
    const run = await recorded(env, { agent })
    expect([grades, run.attempts.length]).toEqual([2, 1])
  })

  test('all graders of an attempt share one budget, apart from the agent', async () => {
    const env = environment({
      tasks: [tasks[0]!],
      rewards: { quick: () => 1, slow: never },
    })
    const run = await recorded(env, { agent }, { limits: { wall: '10m', grade: 40 } })
    expect(run.only.fault).toMatchObject({ owner: 'grader', code: 'timeout' })
    expect(run.only.fault!.message).toContain('reward "slow"')
  })
})

describe('a verdict', () => {
  test('adds what is weighted and shows the rest', async () => {
    const env = environment({
      tasks: [tasks[0]!],
      rewards: {
        right: { weight: 2, reward: () => 0.5 },
        steps: () => [0.25, 0.25, 0.5],
        shown: { weight: 0, reward: () => 100 },
      },
      metrics: { words: ({ transcript }) => transcript.answer.split(' ').length },
      success: ({ rewards }) => rewards.steps === 1,
    })
    const run = await recorded(env, { agent: () => 'two words' })
    expect(run.only.verdict).toEqual({
      reward: 2,
      success: true,
      rewards: { right: 0.5, steps: 1, shown: 100 },
      metrics: { words: 2 },
    })
  })

  test('is null, with the reason, where a weighted reward declines', async () => {
    const env = environment({
      tasks: [tasks[0]!],
      rewards: { right: () => 1, judged: () => unscored('not_attempted') },
      success: () => true,
    })
    const run = await recorded(env, { agent })
    expect(run.states[0]!.status).toBe('unscored')
    expect(run.only.fault).toBeNull()
    expect(run.only.verdict).toEqual({
      reward: null,
      success: null,
      rewards: { right: 1, judged: null },
      metrics: {},
      unscored: { component: 'judged', reason: 'not_attempted' },
    })
  })

  test('is a number where only what weighs nothing, or rewards another seat, declines', async () => {
    const env = environment({
      tasks: [tasks[0]!],
      seats: { rival: { *play() {} } },
      rewards: {
        right: () => 1,
        shown: { weight: 0, reward: () => unscored('later') },
        lost: { weight: 1, seat: 'rival', reward: () => unscored('no_game') },
      },
    })
    const run = await recorded(env, { agent })
    expect(run.only.verdict).toMatchObject({ reward: 1, seats: { rival: null } })
  })

  test('keeps an explanation in the private records alone', async () => {
    const env = environment({
      tasks: [{ ...tasks[0]!, secret: { answer: 'quokka' } }],
      rewards: {
        exact: ({ task }) => ({
          value: 0,
          checks: { expected: 2, run: 2 },
          explain: { wanted: task.secret.answer },
        }),
      },
    })
    const run = await recorded(env, { agent })
    expect((await run.hidden())!.evidence).toEqual({ exact: { wanted: 'quokka' } })
  })

  test('survives an explanation that JSON cannot hold', async () => {
    const env = environment({ tasks: [tasks[0]!], rewards: { exact: () => ({ value: 1, explain: 1n }) } })
    const run = await recorded(env, { agent })
    expect(run.only.verdict!.reward).toBe(1)
  })

  test('is worked out after the agent, and what graders do to messages changes no record', async () => {
    const env = environment({
      tasks: [tasks[0]!],
      rewards: {
        rewriting: ({ transcript }) => {
          for (const message of transcript.messages) {
            try {
              ;(message as { content: string }).content = 'rewritten'
            } catch {}
          }
          return 1
        },
      },
    })
    const run = await recorded(env, { agent })
    expect(JSON.stringify(await run.trajectory())).not.toContain('rewritten')
  })
})

describe('what graders see', () => {
  test('the answer, the calls, the rewards of turns, and no reasoning unless asked for', async () => {
    const seen: Record<string, unknown>[] = []
    const env = environment({
      tasks: [{ id: 'one', prompt: 'go' }],
      world: () => ({
        reply: (content) =>
          content === 'last' ? { content: '', done: 'over', reward: 2 } : { content: 'go on', reward: 1 },
        finish: () => ({ a: 1 }),
      }),
      rewards: {
        any: ({ transcript, state }) => {
          const { answer, outcome, stop, turns, turnRewards, toolCalls } = transcript
          seen.push({ answer, outcome, stop, turns, turnRewards, toolCalls, state })
          return 1
        },
      },
    })
    const says = ['first', 'last']
    await recorded(env, { agent: () => says.shift()! })
    expect(seen).toEqual([
      {
        answer: 'last',
        outcome: 'env_done',
        stop: 'over',
        turns: 2,
        turnRewards: [1, 2],
        toolCalls: [],
        state: { a: 1 },
      },
    ])
  })
})
