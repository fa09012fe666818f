import { describe, expect, test } from 'vitest'
import { environment, type GroupMember, ModelFault, type Unscored, unscored } from '../core/index.ts'
import { modelThat, never, recorded, resumed } from './__fixtures__/recorded.ts'

type Members = readonly GroupMember<unknown, unknown, unknown>[]
type Verdict = Record<string, number | Unscored>

/** Answers are lengths; a group reward ranks them. */
function ranked(
  reward: (members: Members) => Verdict | Promise<Verdict>,
  options: { atLeast?: number; weight?: number } = {},
) {
  return environment({
    tasks: [{ id: 'one', prompt: 'go', secret: { gold: 'quokka' } }],
    world: () => ({ finish: () => ({ kept: true }) }),
    rewards: { own: ({ transcript }) => transcript.answer.length },
    groupRewards: { rank: { ...options, reward: ({ members }) => reward(members) } },
    success: ({ rewards }) => rewards.own > 0,
  })
}

const byLength = (members: Members): Verdict =>
  Object.fromEntries(
    [...members]
      .sort((a, b) => a.rewards['own']! - b.rewards['own']!)
      .map(({ id }, place) => [id, place * 10]),
  )

/** The repeat decides how long the answer is; `fails` says in which calls of a repeat the provider is down. */
const lengths = (fails: (repeat: number, nth: number) => boolean = () => false, retryable = true) => {
  const calls = new Map<number, number>()
  return modelThat((_request, { repeat = 0 }) => {
    const nth = calls.get(repeat) ?? 0
    calls.set(repeat, nth + 1)
    if (fails(repeat, nth)) {
      throw new ModelFault({ owner: 'provider', stage: 'model', code: 'down', message: 'down', retryable })
    }
    return 'x'.repeat(4 - repeat)
  })
}

const rewards = (run: Awaited<ReturnType<typeof recorded>>) =>
  run.states.map(({ chosen }) => chosen!.verdict?.reward ?? null)

describe('a group reward', () => {
  test('sees all members with what they left, and pays each by id', async () => {
    const seen: unknown[] = []
    const env = ranked((members) => {
      for (const { state, transcript, task } of members) {
        seen.push([
          state,
          transcript.answer.length,
          transcript.outcome,
          (task.secret as { gold: string }).gold,
        ])
      }
      return byLength(members)
    })
    const run = await recorded(env, { model: lengths() }, { repeats: 4 })
    expect(run.states.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'scored'))
    // Own lengths 4, 3, 2, 1 and ranks 30, 20, 10, 0.
    expect(rewards(run)).toEqual([34, 23, 12, 1])
    expect(run.only.verdict).toMatchObject({ rewards: { own: 4, rank: 30 }, success: true })
    expect(seen).toEqual([4, 3, 2, 1].map((length) => [{ kept: true }, length, 'completed', 'quokka']))
  })

  test('is a fault of the grader, for every member, when one gets no value', async () => {
    const env = ranked((members) => ({ [members[0]!.id]: 1 }))
    const run = await recorded(env, { model: lengths() }, { repeats: 3 })
    for (const { status, chosen } of run.states) {
      expect(status).toBe('faulted')
      expect(chosen!.fault).toMatchObject({ owner: 'grader', stage: 'group', code: 'member_without_value' })
      expect(chosen!.fault!.message).toContain('group reward "rank"')
    }
    expect(rewards(run)).toEqual([null, null, null])
  })

  const crashes: [string, (members: Members) => never, string][] = [
    [
      'throws',
      () => {
        throw new Error('no quokka here')
      },
      'threw',
    ],
    ['hangs', never as never, 'timeout'],
    ['gives nothing', (() => undefined) as never, 'reward_not_a_number'],
    [
      'gives NaN',
      ((members: Members) => Object.fromEntries(members.map(({ id }) => [id, Number.NaN]))) as never,
      'reward_not_a_number',
    ],
  ]
  test.for(crashes)('is a fault of the grader when it %s', async ([, reward, code]) => {
    const run = await recorded(ranked(reward), { model: lengths() }, { repeats: 2, limits: { grade: 40 } })
    for (const { status, chosen } of run.states) {
      expect(status).toBe('faulted')
      expect(chosen!.fault).toMatchObject({ owner: 'grader', stage: 'group', code })
      expect(chosen!.fault!.message).not.toContain('quokka')
      // What the members did stays recorded.
      expect(chosen!.outcome).toBe('completed')
    }
  })

  test('that fails once is asked once more', async () => {
    let asked = 0
    const env = ranked((members) => {
      if (asked++ === 0) throw new Error('busy')
      return byLength(members)
    })
    expect(rewards(await recorded(env, { model: lengths() }, { repeats: 2 }))).toEqual([14, 3])
  })

  test('may decline for a member, with a reason free of secrets', async () => {
    const env = ranked((members) =>
      Object.fromEntries(
        members.map(({ id }, place) => [id, place === 0 ? unscored('a tie with quokka') : 5]),
      ),
    )
    const run = await recorded(env, { model: lengths() }, { repeats: 2 })
    expect(run.states.map(({ status }) => status)).toEqual(['unscored', 'scored'])
    expect(run.only.verdict!.unscored).toEqual({ component: 'rank', reason: 'a tie with [secret]' })
    expect(rewards(run)).toEqual([null, 8])
  })

  test('of too small a group is unscored and not a number', async () => {
    const run = await recorded(ranked(byLength), { model: lengths() }, { repeats: 1 })
    expect(run.states[0]!.status).toBe('unscored')
    expect(run.only.verdict).toMatchObject({
      reward: null,
      unscored: { component: 'rank', reason: 'group_too_small' },
    })
    const three = await recorded(ranked(byLength, { atLeast: 3 }), { model: lengths() }, { repeats: 2 })
    expect(three.states.map(({ status }) => status)).toEqual(['unscored', 'unscored'])
  })
})

describe('a member that is lost to a fault', () => {
  test('is replaced, and the group is kept', async () => {
    const run = await recorded(
      ranked(byLength),
      { model: lengths((repeat, nth) => repeat === 1 && nth === 0) },
      { repeats: 4 },
    )
    expect(rewards(run)).toEqual([34, 23, 12, 1])
    expect(run.states.map(({ tries }) => tries)).toEqual([1, 2, 1, 1])
  })

  test('for good leaves a group of the others', async () => {
    const run = await recorded(
      ranked(byLength),
      { model: lengths((repeat) => repeat === 1, false) },
      { repeats: 4 },
    )
    expect(run.states.map(({ status }) => status)).toEqual(['scored', 'faulted', 'scored', 'scored'])
    expect(rewards(run)).toEqual([24, null, 12, 1])
  })
})

describe('a run that was stopped', () => {
  test('has those groups graded that are whole, and resume runs no agent again', async () => {
    const controller = new AbortController()
    let calls = 0
    const model = modelThat((_request, { repeat = 0 }) => {
      if (++calls === 4) controller.abort()
      return 'x'.repeat(4 - repeat)
    })
    const env = ranked(byLength)
    const run = await recorded(env, { model }, { repeats: 4, signal: controller.signal })
    expect(run.end.stop).toMatchObject({ code: 'cancelled' })
    expect(rewards(run)).toEqual([34, 23, 12, 1])
    const whole = await resumed(run, { env: env as never, players: { agent: { model } } })
    expect(rewards(whole)).toEqual([34, 23, 12, 1])
    expect(calls).toBe(4)
    expect(whole.attempts).toHaveLength(4)
  })

  test('with members missing is finished with all of them', async () => {
    const controller = new AbortController()
    let calls = 0
    const model = modelThat((_request, { repeat = 0 }) => {
      if (++calls === 2) controller.abort()
      return 'x'.repeat(4 - repeat)
    })
    const env = ranked(byLength)
    const run = await recorded(env, { model }, { repeats: 4, concurrency: 1, signal: controller.signal })
    const whole = await resumed(run, { env: env as never, players: { agent: { model } } })
    expect(rewards(whole)).toEqual([34, 23, 12, 1])
    expect(calls).toBe(4)
  })
})

describe('a group whose grader failed', () => {
  test('is a fault that names it, and resume grades it again without running the agents', async () => {
    let broken = true
    let calls = 0
    const model = modelThat((_request, { repeat = 0 }) => {
      calls++
      return 'x'.repeat(4 - repeat)
    })
    const env = ranked((context) => {
      if (broken) throw new Error('the judge is down')
      return byLength(context)
    })
    const run = await recorded(env, { model }, { repeats: 4 })
    expect(
      run.states.map(({ status, chosen }) => [status, chosen?.fault?.owner, chosen?.fault?.stage]),
    ).toEqual(Array.from({ length: 4 }, () => ['faulted', 'grader', 'group']))
    broken = false
    const whole = await resumed(run, { env: env as never, players: { agent: { model } } })
    expect(whole.states.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'scored'))
    expect(rewards(whole)).toEqual([34, 23, 12, 1])
    expect(calls).toBe(4)
  })
})
