import { expect, test } from 'vitest'
import {
  formatImitation,
  type ImitationReport,
  imitationProgressText,
  leanWarnings,
} from './imitation-text.ts'

const report: ImitationReport = {
  schema: 'quintain.imitation',
  v: 1,
  recipe: 'sft',
  out: 'warm',
  from: null,
  sources: [],
  examples: {
    learned: 76,
    distinct: 71,
    heldOut: 4,
    heldOutOf: { count: 1, what: 'task' },
    left: { too_long: 3 },
    longest: 1_431,
  },
  model: { kind: 'decoder', parameters: 1_000, sizes: {} },
  end: {
    reason: 'done',
    says: 'all 14 steps',
    steps: 14,
    epochs: 3,
    elapsedS: 2,
    loss: 0.5,
    heldOut: { before: 2, after: 0.75 },
  },
}

test('says how many examples differ, what was held out whole, and the length that would hold all', () => {
  const text = formatImitation(report)
  expect(text).toMatch(/learned from +76 examples \(71 distinct\), 3\.0 times/)
  expect(text).toMatch(/held out +2\.000 before, 0\.750 after \(4 examples of 1 task, not learned from\)/)
  expect(text).toMatch(/left out +3 longer than the context \(the longest has 1,431 tokens\)/)
})

test('stopped, it says what was kept and that it is not resumed', () => {
  const stopped = (steps: number) =>
    formatImitation({
      ...report,
      end: { ...report.end, reason: 'cancelled', says: `stopped after ${steps} of 14 steps`, steps },
    })
  expect(stopped(9)).toMatch(
    /stopped after 9 of 14 steps; the policy as it was then is written.*cannot be resumed.*--from warm/,
  )
  expect(stopped(0)).toMatch(/stopped after 0 of 14 steps; nothing was written\n/)
})

test('a held-out loss that was not measured, or that rose, is called so', () => {
  const ended = (after: number | null, reason: ImitationReport['end']['reason'] = 'done') =>
    formatImitation({ ...report, end: { ...report.end, reason, heldOut: { before: 2, after } } })
  expect(ended(null, 'cancelled')).toMatch(/held out +2\.000 before, not measured after/)
  expect(ended(null, 'not_finite')).toMatch(/held out +2\.000 before, no number after/)
  expect(ended(7)).toMatch(/7\.000 after .*; worse than before: lower the learning rate/)
  expect(ended(2.01)).not.toMatch(/worse/)
})

test('the live line says after which step the held-out loss was measured', () => {
  const at = (step: number) =>
    imitationProgressText({
      ...{ step, epoch: 1, progress: 0.5, loss: 0.5, gradNorm: 1, learningRate: 1e-3, elapsedS: 2 },
      measured: { step: 0, loss: 2 },
    })
  expect(at(4)).toMatch(/held-out 2\.000 \(step 0\)$/)
  expect(at(0)).toMatch(/held-out 2\.000$/)
})

test('says so where most of what was given is not learned from', () => {
  const of = (learned: number, heldOut: number, tooLong: number) =>
    leanWarnings({ learned, heldOut, left: { too_long: tooLong } }, { recipe: 'sft', context: 8 })
  expect(of(1, 0, 999)).toEqual([
    '999 of 1,000 examples are longer than the context of 8 tokens and were left out.',
  ])
  expect(of(1, 949, 0)).toEqual([
    '949 of 950 examples are held out, and not learned from: give a smaller --held-out.',
  ])
  expect(of(76, 4, 3)).toEqual([])
})
