import { Budget, MathLimit } from './budget.ts'
import { Comparison } from './compare.ts'
import type { Sameness } from './compare-values.ts'
import type { BareLog, Reader } from './evaluate.ts'
import type { MathPolicy, MathReason, MathVerdict } from './math-policy.ts'
import { parseAnswer } from './parse.ts'
import { samePlainNumber } from './plain-number.ts'
import type { Node } from './syntax.ts'
import type { TokenOptions } from './tokens.ts'

/** An answer that was read once, to be compared often. */
export interface PreparedMath {
  readonly text: string
  readonly node: Node | undefined
}

/** Reads a gold answer once. Never throws; what cannot be read is compared as text. */
export function prepareMath(text: string): PreparedMath {
  return { text, node: parsed(text) }
}

/**
 * Whether an answer is mathematically the gold answer: exact values, in LaTeX or plain writing. `equal` is null where
 * neither can be shown: no match, and no proof of a wrong answer. Symmetric but for a relative tolerance, which is a share
 * of the gold. Runs nothing of what it reads, never throws, and ends at its deadline.
 *
 * @example mathEqual('\\frac{7}{3}', '2 1/3') // { equal: true, … }
 * @example mathEqual('\\sqrt{3}', '1.7320508') // { equal: false, reason: 'different', … }
 */
export function mathEqual(
  gold: string | PreparedMath,
  answer: string | PreparedMath,
  policy: MathPolicy = {},
): MathVerdict {
  const [target, given] = [textOf(gold), textOf(answer)]
  if (target.trim() === '') return { equal: null, reason: 'invalid_gold', policy }
  if (given.trim() === '') return { equal: false, reason: 'no_answer', policy }
  const plain = policy.tolerance === undefined ? samePlainNumber(target, given) : undefined
  if (plain !== undefined)
    return plain ? { equal: true, policy } : { equal: false, reason: 'different', policy }
  const [left, right] = [nodeOf(gold), nodeOf(answer)]
  if (normalized(target) === normalized(given)) return { equal: true, policy }
  if (left === undefined || right === undefined) {
    const isAnswer = right === undefined && left !== undefined
    return { equal: null, reason: isAnswer ? 'unreadable_answer' : 'undecided', policy }
  }
  let { equal, reason } = compared(left, right, policy)
  if (equal !== true && (mayBeList(target) || mayBeList(given))) {
    const lists = [target, given].map((text) => parsed(text, { commas: 'lists' }))
    if (lists[0] !== undefined && lists[1] !== undefined) {
      const other = compared(lists[0], lists[1], policy)
      if (other.equal === true) ({ equal, reason } = { equal: true, reason: undefined })
    }
  }
  return { equal, ...(reason === undefined ? {} : { reason }), policy }
}

function compared(
  left: Node,
  right: Node,
  policy: MathPolicy,
): { equal: boolean | null; reason?: MathReason } {
  const budget = new Budget(policy.deadlineMs ?? 1_000)
  const under = (bareLog: BareLog): { same: Sameness; again: boolean } => {
    const reader: Reader = { budget, bareLog, sawBareLog: false }
    const same = new Comparison(policy, reader).same(left, right)
    return { same, again: reader.sawBareLog }
  }
  try {
    const first = under(10)
    // Where books differ in what log means, one reading under which both are the same is enough.
    const same = first.same !== true && first.again ? either(first.same, under('e').same) : first.same
    if (same === true) return { equal: true }
    return { equal: same, reason: same === null ? 'undecided' : 'different' }
  } catch (thrown) {
    if (thrown instanceof MathLimit) return { equal: null, reason: thrown.reason }
    // A stack that is too deep for what was read.
    if (thrown instanceof RangeError) return { equal: null, reason: 'too_large' }
    throw thrown
  }
}

function either(a: Sameness, b: Sameness): Sameness {
  if (a === true || b === true) return true
  return a === null || b === null ? null : false
}

function textOf(given: string | PreparedMath): string {
  return typeof given === 'string' ? given : given.text
}

function nodeOf(given: string | PreparedMath): Node | undefined {
  return typeof given === 'string' ? parsed(given) : given.node
}

/** Whether commas in it may be those of a list of numbers of three digits. */
function mayBeList(text: string): boolean {
  return text.length < 1_000 && /\d,\d{3}(?!\d)/.test(text)
}

function parsed(text: string, options: TokenOptions = {}): Node | undefined {
  try {
    return parseAnswer(text, options)
  } catch (thrown) {
    // Numbers beyond what is worked with.
    if (thrown instanceof MathLimit || thrown instanceof RangeError) return undefined
    throw thrown
  }
}

function normalized(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}
