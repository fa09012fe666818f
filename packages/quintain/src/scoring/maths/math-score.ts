import { mathEqual, type PreparedMath } from './math-equal.ts'
import type { MathPolicy, MathReason } from './math-policy.ts'

/** What a mathematical answer earns. */
export type MathScore =
  | { score: 1; status: 'scored'; policy: MathPolicy }
  | { score: 0; status: 'scored'; reason: MathReason; policy: MathPolicy }
  /** The gold answer is missing or cannot be read: nobody's score, the task is broken. */
  | { score: null; status: 'invalid_gold'; policy: MathPolicy }

/**
 * Scores an answer against a gold answer. What cannot be decided earns nothing, with the reason: an answer that is too large
 * to be worked out is no way out of a zero.
 */
export function scoreMath({
  gold,
  answer,
  policy = {},
}: {
  gold: string | PreparedMath | null | undefined
  answer: string | null | undefined
  policy?: MathPolicy
}): MathScore {
  const text = typeof gold === 'string' ? gold : gold?.text
  if (gold === null || gold === undefined || text === undefined || text.trim() === '')
    return { score: null, status: 'invalid_gold', policy }
  if (answer === null || answer === undefined || answer.trim() === '')
    return { score: 0, status: 'scored', reason: 'no_answer', policy }
  const { equal, reason } = mathEqual(gold, answer, policy)
  if (equal === true) return { score: 1, status: 'scored', policy }
  return { score: 0, status: 'scored', reason: reason ?? 'different', policy }
}
