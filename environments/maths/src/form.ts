/** Everything that has still to be worked out in an expression, a bracket beside a bracket included. */
const operation =
  /\\(?:frac|dfrac|tfrac|sqrt|cdot|times|div|binom|log|ln|sum|prod|int|left\(|begin)(?![A-Za-z])|[+*/^!√]|(?<=[\w})\]])\s*-|[)}\d]\s*(?=\\?[([])/g

/** How many operations an expression has. Layout and the exponents of a polynomial count on both sides alike. */
export function operations(text: string): number {
  const plain = text
    .replace(/\\(?:left|right|big|Big|bigg|Bigg)(?![A-Za-z])|\\[,;:! ]/g, '')
    .replace(/−/g, '-')
  return plain.match(operation)?.length ?? 0
}

/** What a worked out answer has only where the gold one has it too. */
const unfinished = [
  /\\(?:log|ln|lg|sin|cos|tan|exp|int|sum|prod|binom|choose|lim|det)(?![A-Za-z])|\b(?:log|ln|sin|cos|tan|exp)\b|!/g,
  /\\begin(?![A-Za-z])|\[\s*\[/g,
  // The imaginary unit below a fraction bar.
  /(?:\\[dt]?frac\s*\{[^{}]*\}\s*\{[^{}]*|\/[^,;]*)(?<![A-Za-z])i(?![A-Za-z])/g,
]

/**
 * Whether an answer is worked out as far as the gold one, give or take one operation. Equality alone does not say so:
 * `\frac{1}{2}+\frac{1}{3}` equals 5/6, and whoever copies the question has answered nothing. Where the gold answer is a
 * whole number, so is the answer, or a decimal or fraction that says it.
 */
export function workedOut(gold: string, answer: string): boolean {
  const bare = answer.replace(/^\s*[A-Za-z]\s*=/, '')
  const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0
  if (unfinished.some((pattern) => count(bare, pattern) > count(gold, pattern))) return false
  const whole = /^-?\d+$/.test(gold)
  // A fraction that says a whole number has one operation; a sum or a product of others is left to do.
  const said = whole ? bare.replace(/^\s*-?\s*\\[dt]?frac\{-?\d+\}\{-?\d+\}\s*$/, '1') : bare
  return operations(said) <= operations(gold) + (whole ? 0 : 1)
}
