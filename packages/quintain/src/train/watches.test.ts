import { describe, expect, test } from 'vitest'
import { madeUpEvaluation, madeUpStep, madeUpSteps } from './__fixtures__/made-up-history.ts'
import type { StepLine, StepRecord } from './records.ts'
import { alarmsAt, standingAlarms, watches } from './watches.ts'

/** The alarms of every step of a history, as `step: watch`. */
function rung(history: readonly StepLine[]): string[] {
  return history.flatMap((line, i) =>
    line.kind === 'step'
      ? alarmsAt(history.slice(0, i), line).map(({ watch }) => `${line.step}: ${watch}`)
      : [],
  )
}

/** Steps whose measures go on a straight line from the first to the last, with a wobble that is always the same. */
function ramp(count: number, of: (share: number, wobble: number) => Partial<StepRecord>): StepRecord[] {
  return madeUpSteps(count, (step) => of((step - 1) / (count - 1), 0.01 * Math.sin(2.3 * step)))
}

const says = (history: readonly StepLine[], watch: string) =>
  standingAlarms(history).find((alarm) => alarm.watch === watch)?.says

test('a training in which nothing is wrong rings nothing', () => {
  expect(
    rung(
      ramp(80, (share, wobble) => ({ rewardMean: 0.3 + 0.5 * share + wobble, success: 0.3 + 0.5 * share })),
    ),
  ).toEqual([])
  expect(alarmsAt([], madeUpStep(1))).toEqual([])
})

test('missing measures ring nothing', () => {
  const nothing = { rewardMean: null, success: null, deadGroups: null, truncated: null, malformed: null }
  const none = { ...nothing, tokensMean: null, entropy: null, kl: null, mismatch: null, rewardSpread: null }
  expect(rung(madeUpSteps(40, () => none))).toEqual([])
})

test('each watch has a name of its own, and says why its threshold lies where it does', () => {
  expect(new Set(watches.map(({ name }) => name)).size).toBe(watches.length)
  for (const { of, because } of watches) expect(Math.min(of.length, because.length)).toBeGreaterThan(20)
})

describe('a trouble is told once', () => {
  test('while it lasts, also where it comes and goes', () => {
    expect(rung(madeUpSteps(60, () => ({ truncated: 0.5 })))).toEqual(['5: truncation'])
    expect(
      rung(madeUpSteps(60, (step) => ({ truncated: Math.floor(step / 6) % 2 === 0 ? 0.6 : 0 }))),
    ).toEqual(['5: truncation'])
  })

  test('and again when it comes back after a rest', () => {
    const history = madeUpSteps(60, (step) => ({ truncated: step <= 10 || step > 40 ? 0.5 : 0 }))
    expect(rung(history)).toEqual(['5: truncation', '42: truncation'])
  })

  test('the alarms that are recorded change nothing, so that a resumed training rings alike', () => {
    const history = madeUpSteps(30, () => ({ truncated: 0.5, alarms: [{ watch: 'truncation', says: '' }] }))
    expect(rung(history)).toEqual(['5: truncation'])
  })
})

describe('reward hacking', () => {
  test('rings when the reward rises and the shadow verifier does not', () => {
    const history = ramp(60, (share, wobble) => ({
      rewardMean: 0.3 + 0.5 * share + wobble,
      shadow: 0.3 + wobble,
    }))
    expect(rung(history)[0]).toMatch(/^\d+: reward_hacking$/)
    expect(says(history, 'reward_hacking')).toMatch(
      /rose from 0\.\d+ to 0\.\d+ while the shadow verifier did not.*highest reward/,
    )
  })

  test('success is the shadow where there is no other', () => {
    const history = ramp(60, (share, wobble) => ({
      rewardMean: 0.3 + 0.5 * share + wobble,
      success: 0.2 + wobble,
    }))
    expect(says(history, 'reward_hacking')).toContain('while success did not')
  })

  test.each([
    ['the shadow rises too', (share: number, wobble: number) => 0.3 + 0.2 * share + wobble],
    ['the shadow is full', () => 0.99],
    ['the shadow is too noisy to tell', (_: number, wobble: number) => 0.4 + 40 * wobble],
  ])('does not ring when %s', (_, shadow) => {
    const history = ramp(60, (share, wobble) => ({
      rewardMean: 0.3 + 0.5 * share + wobble,
      shadow: shadow(share, wobble),
    }))
    expect(rung(history)).toEqual([])
  })

  test('does not ring while the reward is flat', () => {
    expect(rung(ramp(60, (_, wobble) => ({ rewardMean: 0.5 + wobble, shadow: 0.2 })))).toEqual([])
  })
})

describe('the gap between train and held-out tasks', () => {
  const train = (step: number, success: number) => madeUpEvaluation(step, success, { role: 'train' })

  test('rings at the step after the evaluation that shows it', () => {
    const history = [
      ...[train(0, 0.4), madeUpEvaluation(0, 0.4)],
      ...madeUpSteps(10),
      ...[train(10, 0.8), madeUpEvaluation(10, 0.45)],
      madeUpStep(11),
    ]
    expect(rung(history)).toEqual(['11: train_heldout_gap'])
    expect(says(history, 'train_heldout_gap')).toMatch(
      /0\.800 on tasks that are trained on and 0\.450.*at step 0 the gap was 0\.000/,
    )
  })

  test('stands at the end although no step follows', () => {
    expect(says([train(0, 0.9), madeUpEvaluation(0, 0.5)], 'train_heldout_gap')).toContain(
      'from the beginning',
    )
  })

  test.each([
    ['the gap is small', 0.5, 0.45, {}],
    ['the intervals leave it in doubt', 0.6, 0.45, { interval: [0.2, 0.7] as [number, number] }],
    ['there is no interval', 0.9, 0.3, { interval: null }],
    [
      'none of ten held-out tasks was solved, which is little to go by',
      0.3,
      0,
      { interval: [0, 0.278] as [number, number] },
    ],
    ['held-out tasks go better', 0.3, 0.8, {}],
    ['only the greedy policy was measured', 0.9, 0.3, { temperature: 0 }],
  ])('does not ring when %s', (_, of, held, given) => {
    expect(standingAlarms([train(0, of), madeUpEvaluation(0, held, given)])).toEqual([])
  })
})

describe('held-out tasks that go worse than at the beginning', () => {
  const ends = (low: number, high: number) => ({ interval: [low, high] as [number, number] })

  test('ring once, with where it began and where it is', () => {
    const history = [
      madeUpEvaluation(0, 0.7, ends(0.54, 0.82)),
      ...[madeUpStep(1), madeUpStep(2), madeUpEvaluation(2, 0, ends(0, 0.1))],
      ...[madeUpStep(3), madeUpStep(4)],
    ]
    expect(rung(history)).toEqual(['3: held_out_fell'])
    expect(says(history, 'held_out_fell')).toMatch(
      /from 0\.700 \(step 0\) to 0\.000 \(step 2\).*lower learning rate/,
    )
  })

  test('are told of by the reward where there is no success', () => {
    const worthless = madeUpEvaluation(5, 0, { success: null, reward: 0.1, ...ends(0.05, 0.15) })
    const history = [madeUpEvaluation(0, 0, { success: null, reward: 0.6, ...ends(0.5, 0.7) }), worthless]
    expect(says(history, 'held_out_fell')).toMatch(/^The reward on validation tasks fell from 0\.600/)
  })

  test.each([
    ['it recovered', [0.7, 0.2, 0.68], {}],
    ['few tasks leave it in doubt', [0.6, 0.2], ends(0.1, 0.8)],
    ['it was measured once', [0.7], {}],
  ])('do not ring when %s', (_, values, given) => {
    const history = values.map((value, at) => madeUpEvaluation(5 * at, value, given))
    expect(says(history, 'held_out_fell')).toBeUndefined()
  })
})

describe('the policy', () => {
  test('entropy that is all but gone rings, unless nearly everything is solved', () => {
    const gone = (success: number) =>
      madeUpSteps(40, (step) => ({ entropy: step <= 5 ? 1 : 0.05, success, rewardMean: success }))
    expect(rung(gone(0.4))).toContain('10: entropy_low')
    expect(rung(gone(0.95))).toEqual([])
  })

  test('entropy that halves in twenty steps rings, one that falls slowly does not', () => {
    expect(rung(madeUpSteps(60, (step) => ({ entropy: 0.96 ** step })))[0]).toMatch(/entropy_falling$/)
    expect(rung(madeUpSteps(60, (step) => ({ entropy: 0.985 ** step })))).toEqual([])
  })

  test('divergence from the reference', () => {
    expect(rung(madeUpSteps(20, () => ({ kl: 0.7 })))).toEqual(['5: kl'])
    expect(rung(madeUpSteps(20, () => ({ kl: 0.2 })))).toEqual([])
  })

  test('a sampler that disagrees at equal weights rings at once; at older weights it is expected', () => {
    const mismatch = { k1: 0.02, k2: 0.004, maxRatio: 1.4 }
    expect(rung(madeUpSteps(3, () => ({ mismatch })))).toEqual(['1: sampler_mismatch'])
    expect(rung(madeUpSteps(20, () => ({ mismatch, staleness: { mean: 1, max: 2 } })))).toEqual([])
    expect(rung(madeUpSteps(3, () => ({ mismatch: { k1: 1e-7, k2: 1e-12, maxRatio: 1.00001 } })))).toEqual([])
  })

  test('rollouts too far from the learner', () => {
    const stale = { staleness: { mean: 2, max: 4 }, mismatch: { k1: 0.1, k2: 0.3, maxRatio: 13 } }
    expect(rung(madeUpSteps(20, () => stale))).toEqual(['5: off_policy'])
  })
})

describe('the rollouts', () => {
  test('all cut and none rewarded rings at the first step', () => {
    const cut = madeUpSteps(3, () => ({ truncated: 1, rewardMean: 0, success: 0 }))
    expect(rung(cut)).toEqual(['1: all_truncated'])
    expect(rung(madeUpSteps(3, () => ({ truncated: 1, rewardMean: 0.4 })))).toEqual([])
    expect(rung(madeUpSteps(3, () => ({ truncated: 0.9, rewardMean: 0 })))).toEqual([])
    // What has no score was not refused a reward.
    expect(rung(madeUpSteps(1, () => ({ truncated: 1, rewardMean: null, success: null })))).toEqual([])
  })

  test('length that grows for nothing rings, length that earns does not', () => {
    const longer = (gain: number) =>
      ramp(60, (share, wobble) => ({
        tokensMean: 40 + 60 * share,
        rewardMean: 0.4 + gain * share + wobble,
        success: null,
      }))
    expect(rung(longer(0))[0]).toMatch(/length_growth$/)
    expect(rung(longer(0.4))).toEqual([])
  })

  test.each([
    ['too hard', { success: 0.02, rewardMean: 0.02 }, 'easier tasks'],
    ['too easy', { success: 0.97, rewardMean: 0.97 }, 'Harder tasks'],
    ['too coarse', { success: 0.5 }, 'Larger groups'],
  ])('dead groups say what to do where tasks are %s', (_, given, advice) => {
    const history = madeUpSteps(20, () => ({ deadGroups: 0.9, ...given }))
    expect(rung(history)).toEqual(['5: dead_groups'])
    expect(says(history, 'dead_groups')).toContain(advice)
  })

  test('half dead groups are usual', () => {
    expect(rung(madeUpSteps(20, () => ({ deadGroups: 0.5 })))).toEqual([])
  })

  test('malformed replies ring where they grow, or are most of all', () => {
    expect(rung(madeUpSteps(30, (step) => ({ malformed: step <= 5 ? 0.1 : 0.3 })))[0]).toMatch(/malformed$/)
    expect(rung(madeUpSteps(20, () => ({ malformed: 0.6 })))).toEqual(['5: malformed'])
    expect(rung(madeUpSteps(30, (step) => ({ malformed: step <= 5 ? 0.3 : 0.2 })))).toEqual([])
  })

  test('missing scores', () => {
    expect(rung(madeUpSteps(20, () => ({ scored: 50 })))).toEqual(['5: unscored'])
    expect(rung(madeUpSteps(20, () => ({ scored: 62 })))).toEqual([])
  })
})
