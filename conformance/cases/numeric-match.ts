import {
  matchExact,
  matchNumber,
  matchPattern,
  type NumberLocation,
  type PercentPolicy,
} from '../../packages/quintain/src/scoring/index.ts'
import type { Ops } from './runner/case.ts'

type Input = Record<string, unknown>

function numeric({ target, output, percent, pattern, location }: Input) {
  return matchNumber({
    target: String(target),
    output: String(output),
    ...(location === undefined ? {} : { location: location as NumberLocation }),
    ...(pattern === undefined ? {} : { pattern: new RegExp(String(pattern)) }),
    ...(percent === undefined ? {} : { policy: { percent: percent as PercentPolicy } }),
  })
}

export const ops: Ops = {
  'match.exact': ({ target, output }) => matchExact({ target: String(target), output: String(output) }),
  'match.numeric': numeric,
  'match.numeric.batch': ({ outputs, ...input }) => ({
    correct: (outputs as unknown[]).map((output) => numeric({ ...input, output }).correct),
  }),
  'match.pattern': ({ pattern, match_all: all, target, output }) =>
    matchPattern({
      pattern: new RegExp(String(pattern)),
      target: String(target),
      output: String(output),
      all: all === true,
    }),
}
