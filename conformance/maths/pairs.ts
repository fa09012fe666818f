import {
  generatorNames,
  type Level,
  mutants,
  problemOf,
  rewritings,
} from '../../environments/maths/src/index.ts'
import { golds } from './golds.ts'
import { handMade } from './hand-made.ts'

/** Two answers, and whether they are equal by the way in which they were made. */
export interface Pair {
  /** Generator, or `by hand`. */
  of: string
  /** What was done to the gold answer. */
  kind: string
  gold: string
  answer: string
  equal: boolean
}

const levels: readonly Level[] = [1, 2, 3]

/** The pairs of a seed: gold answers as they are, written otherwise, and made wrong. */
export function pairsOf({ seed, turns }: { seed: number; turns: number }): Pair[] {
  const pairs = [...handMade, ...golds.flatMap((gold) => around('by hand', gold))]
  for (const generator of generatorNames)
    for (const level of levels)
      for (let turn = 0; turn < turns; turn++)
        pairs.push(...around(generator, problemOf({ generator, level, seed, turn }).answer))
  const known = new Set<string>()
  return pairs.filter(({ gold, answer }) => {
    const key = JSON.stringify([gold, answer])
    if (known.has(key)) return false
    known.add(key)
    return true
  })
}

function around(of: string, gold: string): Pair[] {
  const pair =
    (equal: boolean) =>
    ({ kind, text }: { kind: string; text: string }): Pair => ({ of, kind, gold, answer: text, equal })
  return [
    { of, kind: 'the same', gold, answer: gold, equal: true },
    ...rewritings(gold).map(pair(true)),
    ...mutants(gold).map(pair(false)),
  ]
}
