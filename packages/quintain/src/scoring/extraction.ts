import type { NumberReading } from './number-text.ts'

/**
 * Why there is no answer:
 * - `empty`: there is no text.
 * - `unterminated_reasoning`: the reasoning never ends, so nothing was answered.
 * - `truncated`: the text was cut before an answer was complete.
 * - `unclosed`: a box or fence that was opened last is not closed, and there is no complete one.
 * - `not_a_number`: what was declared as the answer is no single number.
 * - `not_a_choice`, `ambiguous`: what was declared is none of the choices, or several.
 * - `no_candidate`: none of the above; nothing of the declared kind is in the text.
 */
export type NoAnswer =
  | 'empty'
  | 'unterminated_reasoning'
  | 'truncated'
  | 'unclosed'
  | 'not_a_number'
  | 'not_a_choice'
  | 'ambiguous'
  | 'no_candidate'

/** An answer as it stands in the text, or null and why. Never the whole text for want of an answer. */
export type Extraction<Answer = string> =
  | {
      answer: Answer
      /** The answer read as a number, where it is one. */
      number?: NumberReading
      reason?: undefined
    }
  | { answer: null; reason: NoAnswer; number?: undefined }

export function none(reason: NoAnswer): { answer: null; reason: NoAnswer } {
  return { answer: null, reason }
}
