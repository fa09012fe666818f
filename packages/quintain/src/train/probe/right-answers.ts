import { canonicalJson } from '../../core/index.ts'
import type { Act } from './script.ts'

/**
 * Whether a player did what the oracle does: made its calls, or gave its last answer. A script that knows nothing and
 * succeeds so has guessed right; one that succeeds with something else is paid for something else.
 */
export function isOracles(acts: readonly Act[], oracle: readonly Act[]): boolean {
  const wanted = callsOf(oracle)
  if (wanted.length > 0) {
    const made = new Set(callsOf(acts))
    return wanted.every((call) => made.has(call))
  }
  const [answer, right] = [answerOf(acts), answerOf(oracle)]
  if (answer === right) return callsOf(acts).length === 0 || answer !== ''
  if (answer === '') return false
  const [numbers, rightNumbers] = [numbersOf(answer), numbersOf(right)]
  if (numbers.length === 1 && rightNumbers.length === 1 && numbers[0] === rightNumbers[0]) return true
  return !answer.includes(' ') && right.split(' ').at(-1) === answer
}

function callsOf(acts: readonly Act[]): string[] {
  return acts.flatMap(({ calls = [] }) =>
    calls.map((call) => `${call.name} ${canonicalJson(call.arguments)}`),
  )
}

/** The last thing that was said: lower case, without the marks that answers are put in. */
function answerOf(acts: readonly Act[]): string {
  const last = acts.findLast(({ text }) => text.trim() !== '')?.text ?? ''
  return last
    .toLowerCase()
    .replace(/<\/?[a-z]+>|\\boxed|[^\p{L}\p{N}.+-]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[.\s]+$/, '')
    .trim()
}

function numbersOf(text: string): string[] {
  return (text.match(/-?\d+(\.\d+)?/g) ?? []).map((number) => String(Number(number)))
}
