import { type Extraction, extractAnswer, type NumberPolicy, readNumber, sameNumber } from 'quintain/scoring'

/** What a profile judges: the agent's last message, the gold answer as the data writes it, and whether the message was cut off. */
export interface Answered {
  said: string
  gold: string
  truncated: boolean
}

export interface Ruling {
  correct: boolean
  /** What was taken for the agent's answer; null where there was none. */
  extracted: string | null
  /** Why it is not correct: a code of the extraction, or `different`. */
  reason?: string
}

export type Profile = (answered: Answered) => Ruling

/**
 * The published scorer (openai/grade-school-math, `grade_school_math/dataset.py`), with its behaviour in every detail:
 * the first `####` that one space and digits follow, commas taken out, compared as text. So `#### 18.` and `#### 18.0`
 * are not 18, `#### $18` is no answer, and of several answers the first counts. It sees the whole text, reasoning
 * included.
 */
export const official: Profile = ({ said, gold }) => {
  const extracted = officialAnswer(said)
  if (extracted === null) return { correct: false, extracted, reason: 'no_candidate' }
  return ruling(extracted === officialAnswer(`#### ${gold}`), extracted)
}

function officialAnswer(text: string): string | null {
  return /#### (-?[0-9.,]+)/.exec(text)?.[1]?.replaceAll(',', '') ?? null
}

/** Math-Verify rounds to six decimals before it compares, and reads a percent sign either way. */
const verifiersPolicy: NumberPolicy = { percent: 'optional', units: 'ignore', tolerance: { abs: 5e-7 } }

/**
 * As the `gsm8k` environment of verifiers v1 (a60a606) scores: what follows the last `####`, or else the whole message,
 * is put in a box and compared with the gold answer by Math-Verify. Ours knows numbers where Math-Verify knows
 * expressions, and where there is no `####` it takes the number that is declared or comes last. A test holds what both
 * say of a table of spellings side by side.
 */
export const verifiers: Profile = ({ said, gold }) => {
  const marked = [...said.matchAll(/####\s*([^\n]+)/g)].at(-1)?.[1]?.trim()
  if (marked !== undefined && unreadInBox(marked)) {
    return { correct: false, extracted: marked, reason: 'not_a_number' }
  }
  return compare(extractAnswer(marked ?? said, { kind: 'final_number' }), gold, verifiersPolicy)
}

/** In a box Math-Verify reads no number that has words, emphasis, a tilde, a symbol or the end of a sentence beside it. */
function unreadInBox(marked: string): boolean {
  return /[.!]$|\*\*|_|~|\p{Extended_Pictographic}|\p{L}{2}/u.test(marked.replace(/\\[a-z]+/g, ''))
}

/** Questions that ask for a percentage have the bare number as gold, and none has a unit. */
export const robustPolicy: NumberPolicy = { percent: 'ignore', units: 'ignore' }

/**
 * Ours: after the reasoning, the number that is declared last (`####`, a box, "the answer is"), or else the last number
 * of the message, compared as an exact number with its sign. `$18`, `18.00`, `18 dollars` and `**18**` are 18; `18-20`,
 * `18 + 2`, `18 or 7`, `not 18`, `> 18` and half of a message that was cut off are no answer.
 */
export const robust: Profile = ({ said, gold, truncated }) =>
  compare(extractAnswer(said, { kind: 'final_number', truncated }), gold, robustPolicy)

function compare(found: Extraction, gold: string, policy: NumberPolicy): Ruling {
  if (found.answer === null) return { correct: false, extracted: null, reason: found.reason }
  const target = readNumber(gold)
  const same = found.number !== undefined && target !== null && sameNumber(target, found.number, policy)
  return ruling(same, found.answer)
}

function ruling(correct: boolean, extracted: string): Ruling {
  return correct ? { correct, extracted } : { correct, extracted, reason: 'different' }
}

export const profiles = { robust, official, verifiers } satisfies Record<string, Profile>
