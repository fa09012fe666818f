import {
  type MathPolicy,
  mathEqual,
  type PercentPolicy,
  scoreMath,
  type UnitPolicy,
} from '../../packages/quintain/src/scoring/index.ts'
import type { Ops } from './runner/case.ts'

type Input = Record<string, unknown>

function policyOf(input: Input): MathPolicy {
  const { percent, units, relations_as_sets: relations, strict, tolerance, deadline_ms: deadline } = input
  return {
    ...(percent === undefined ? {} : { percent: percent as PercentPolicy }),
    ...(units === undefined ? {} : { units: units as UnitPolicy }),
    ...(relations === undefined ? {} : { relationsAsSets: relations === true }),
    ...(strict === undefined ? {} : { strict: strict === true }),
    ...(tolerance === undefined || tolerance === null
      ? {}
      : { tolerance: tolerance as { abs?: number; rel?: number } }),
    ...(deadline === undefined ? {} : { deadlineMs: Number(deadline) }),
  }
}

const equal = (gold: unknown, answer: unknown, policy: MathPolicy): boolean =>
  mathEqual(String(gold), String(answer), policy).equal === true

const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))

export const ops: Ops = {
  'math.equal': (input) => {
    const started = performance.now()
    const verdict = mathEqual(String(input['gold']), String(input['pred']), policyOf(input))
    return {
      equal: verdict.equal === true,
      reason: verdict.reason ?? null,
      within_ms: performance.now() - started,
      code_executed: false,
    }
  },
  'math.equal.batch': ({ pairs, ...input }) => ({
    equal: (pairs as unknown[][]).map(([gold, pred]) => equal(gold, pred, policyOf(input))),
  }),
  'math.equal.symmetry': ({ a, b, ...input }) => ({
    equal_ab: equal(a, b, policyOf(input)),
    equal_ba: equal(b, a, policyOf(input)),
  }),
  'math.score': ({ gold, pred, ...input }) => {
    const { policy: _, ...score } = scoreMath({
      gold: text(gold),
      answer: text(pred),
      policy: policyOf(input),
    })
    return score
  },
}
