import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environment, foldRun, type Model, ModelFault } from '../core/index.ts'
import { modelThat, temporaryFolder } from './__fixtures__/recorded.ts'
import { openRolloutRun, type Rollout, type RolloutRun, resumeRolloutRun } from './rollout-run.ts'

/** Answers are lengths; ranks are a reward of the whole group. */
const ranked = environment({
  tasks: ['a', 'b', 'c'].map((id) => ({ id, prompt: 'go', secret: { gold: 'quokka' } })),
  world: () => ({ finish: () => ({ kept: true }) }),
  rewards: { own: ({ transcript }) => transcript.answer.length },
  groupRewards: {
    rank: {
      reward: ({ members }) =>
        Object.fromEntries(
          [...members]
            .sort((a, b) => (a.rewards['own'] ?? 0) - (b.rewards['own'] ?? 0))
            .map(({ id, state }, place) => [id, (state as { kept: boolean }).kept ? place * 10 : -1]),
        ),
    },
  },
})
const plain = environment({
  tasks: ['a', 'b', 'c'].map((id) => ({ id, prompt: 'go' })),
  rewards: { own: ({ transcript }) => transcript.answer.length },
})

const down = (retryable: boolean) =>
  new ModelFault({ owner: 'sandbox', stage: 'model', code: 'down', message: 'down', retryable })

/** The repeat decides how long the answer is; `fails` says in which calls of a repeat it has a fault. */
function lengths(fails: (repeat: number, nth: number) => boolean = () => false, retryable = true): Model {
  const calls = new Map<number, number>()
  return modelThat((_request, { repeat = 0 }) => {
    const nth = calls.get(repeat) ?? 0
    calls.set(repeat, nth + 1)
    if (fails(repeat, nth)) throw down(retryable)
    return 'x'.repeat(repeat + 1)
  })
}

async function playGroup(run: RolloutRun, place: number, group: string, size: number): Promise<Rollout[]> {
  const orders = await run.orderGroup(run.tasks[place]!, { group, size })
  const rollouts = await Promise.all(orders.map((order) => run.play(order)))
  return run.gradeGroup(rollouts.filter((one) => one !== undefined))
}

describe('a run of rollouts', () => {
  test('gives what was played without reading it, and records it as any run', async () => {
    const dir = join(await temporaryFolder(), 'run')
    const run = await openRolloutRun({ env: plain, dir, model: lengths() })
    const first = await playGroup(run, 0, 'g0', 2)
    const again = await playGroup(run, 0, 'g1', 2)
    await run.close()
    expect(first.map(({ attempt }) => attempt.verdict?.reward)).toEqual([1, 2])
    // A task that comes again gets further repeats, so that no two rollouts are the same order.
    expect(again.map(({ order }) => order.id)).toEqual(['a#2', 'a#3'])
    expect(again[0]!.trajectory.nodes.at(-1)!.message.content).toBe('xxx')
    const { states, issues } = await foldRun(dir)
    expect(issues).toEqual([])
    expect(states.map(({ order, status }) => [order.group, status])).toEqual([
      ['g0', 'scored'],
      ['g0', 'scored'],
      ['g1', 'scored'],
      ['g1', 'scored'],
    ])
  })

  test('grades a group when it is whole, in memory and on disk alike', async () => {
    const dir = join(await temporaryFolder(), 'run')
    const run = await openRolloutRun({ env: ranked, dir, model: lengths() })
    const graded = await playGroup(run, 1, 'g0', 3)
    await run.close()
    expect(graded.map(({ attempt }) => attempt.verdict?.reward)).toEqual([1, 12, 23])
    const { states } = await foldRun(dir)
    expect(states.map(({ chosen }) => chosen?.verdict?.reward)).toEqual([1, 12, 23])
    expect(states.every(({ chosen }) => chosen?.verdict?.pending === undefined)).toBe(true)
  })

  test('replaces a rollout that a fault took, so that the group keeps its size', async () => {
    const dir = join(await temporaryFolder(), 'run')
    const model = lengths((repeat, nth) => repeat === 1 && nth === 0)
    const run = await openRolloutRun({ env: ranked, dir, model })
    const graded = await playGroup(run, 0, 'g0', 4)
    await run.close()
    expect(graded.map(({ attempt }) => [attempt.try, attempt.verdict?.reward])).toEqual([
      [1, 1],
      [2, 12],
      [1, 23],
      [1, 34],
    ])
  })

  test('a fault that stays is nobody’s score, and the others are graded without it', async () => {
    const dir = join(await temporaryFolder(), 'run')
    const run = await openRolloutRun({
      env: ranked,
      dir,
      model: lengths((repeat) => repeat === 1),
      maxTries: 2,
    })
    const graded = await playGroup(run, 0, 'g0', 3)
    await run.close()
    expect(graded.map(({ attempt }) => [attempt.try, attempt.fault?.code, attempt.verdict?.reward])).toEqual([
      [1, undefined, 1],
      [2, 'down', undefined],
      [1, undefined, 13],
    ])
  })

  test('holds back what has no place', async () => {
    const dir = join(await temporaryFolder(), 'run')
    let at = 0
    let most = 0
    const model: Model = {
      id: 'slow',
      generate: async () => {
        most = Math.max(most, ++at)
        await new Promise((resolve) => setTimeout(resolve, 5))
        at--
        return { message: { role: 'assistant', content: 'x' }, finish: 'stop' }
      },
    }
    const run = await openRolloutRun({ env: plain, dir, model, concurrency: 2 })
    expect(await playGroup(run, 0, 'g0', 7)).toHaveLength(7)
    await run.close()
    expect(most).toBe(2)
  })

  test('is taken up where it stopped: what was played is read, what was not is played', async () => {
    const dir = join(await temporaryFolder(), 'run')
    let reached: () => void = () => {}
    const third = new Promise<void>((resolve) => {
      reached = resolve
    })
    const model: Model = {
      id: 'waits',
      generate: async (_, { repeat = 0, signal }) => {
        if (repeat < 2)
          return { message: { role: 'assistant', content: 'x'.repeat(repeat + 1) }, finish: 'stop' }
        reached()
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        throw down(true)
      },
    }
    const run = await openRolloutRun({ env: ranked, dir, model })
    const orders = await run.orderGroup(run.tasks[0]!, { group: 'g0', size: 3 })
    const playing = Promise.all(orders.map((order) => run.play(order)))
    await third
    run.stop()
    const played = await playing
    expect(played[2]).toBeUndefined()
    expect(await run.play(orders[2]!)).toBeUndefined()
    await run.close()

    const taken = await resumeRolloutRun({ env: ranked, dir, model: lengths() })
    expect(taken.before.map(({ order, status }) => [order.id, status])).toEqual([
      ['a#0', 'pending'],
      ['a#1', 'pending'],
      ['a#2', 'cancelled'],
    ])
    const rest = await taken.play(taken.before[2]!.order)
    const whole = await taken.gradeGroup([
      await taken.read(taken.before[0]!),
      await taken.read(taken.before[1]!),
      rest!,
    ])
    expect(whole.map(({ attempt }) => attempt.verdict?.reward)).toEqual([1, 12, 23])
    expect(
      (await taken.orderGroup(taken.tasks[0]!, { group: 'g1', size: 1 })).map(({ id, seq }) => [id, seq]),
    ).toEqual([['a#3', 3]])
    await taken.close()
  })

  test('measures in a run of its own, with other sampling, without opening the environment again', async () => {
    const dir = join(await temporaryFolder(), 'run')
    const asked: unknown[] = []
    const model = modelThat((request) => {
      asked.push(request.sampling?.temperature)
      return 'xx'
    })
    const run = await openRolloutRun({ env: ranked, dir, model, sampling: { temperature: 1 } })
    await playGroup(run, 0, 'g0', 1)
    const end = await run.measure({
      dir: join(dir, 'aside'),
      tasks: ['c', 'b'],
      repeats: 2,
      sampling: { temperature: 0 },
    })
    await playGroup(run, 0, 'g1', 1)
    await run.close()
    expect(end.stop).toBeUndefined()
    expect(asked).toEqual([1, 0, 0, 0, 0, 1])
    const { states, manifest } = await foldRun(join(dir, 'aside'))
    expect(states.map(({ order, status }) => [order.id, status])).toEqual([
      ['b#0', 'scored'],
      ['b#1', 'scored'],
      ['c#0', 'scored'],
      ['c#1', 'scored'],
    ])
    expect(manifest.seats['agent']!.sampling).toEqual({ temperature: 0 })
    // Its own plan has nothing of it.
    expect((await foldRun(dir)).states).toHaveLength(2)
  })

  test('a second process on it is refused', async () => {
    const dir = join(await temporaryFolder(), 'run')
    const run = await openRolloutRun({ env: plain, dir, model: lengths() })
    await expect(resumeRolloutRun({ env: plain, dir, model: lengths() })).rejects.toMatchObject({
      code: 'run_locked',
    })
    await run.close()
  })
})
