/** Greatest common divisor of two whole numbers, never negative. */
export function gcd(a: number, b: number): number {
  let [x, y] = [Math.abs(a), Math.abs(b)]
  while (y !== 0) [x, y] = [y, x % y]
  return x
}

/** A fraction in lowest terms, its sign in front: `-\frac{3}{4}`. The denominator is not zero. */
export function fraction(numerator: number, denominator = 1): string {
  const divisor = gcd(numerator, denominator) || 1
  const sign = numerator < 0 !== denominator < 0 && numerator !== 0 ? '-' : ''
  const [top, bottom] = [Math.abs(numerator) / divisor, Math.abs(denominator) / divisor]
  return bottom === 1 ? `${sign}${top}` : `${sign}\\frac{${top}}{${bottom}}`
}

/** A whole number times a symbol: `3x`, `-x`; empty when there is nothing of it. */
export function multiple(count: number, symbol: string): string {
  if (count === 0) return ''
  if (symbol === '') return String(count)
  return `${count === 1 ? '' : count === -1 ? '-' : count}${symbol}`
}

/** A fraction of a symbol: `\frac{3\pi}{4}`, `-\sqrt{2}`. */
export function share(numerator: number, denominator: number, symbol: string): string {
  const divisor = gcd(numerator, denominator) || 1
  const sign = numerator < 0 !== denominator < 0 ? '-' : ''
  const [top, bottom] = [Math.abs(numerator) / divisor, Math.abs(denominator) / divisor]
  return bottom === 1
    ? `${sign}${multiple(top, symbol)}`
    : `${sign}\\frac{${multiple(top, symbol)}}{${bottom}}`
}

/** Terms with their signs between them; `0` when all are empty. */
export function sum(terms: readonly string[]): string {
  const kept = terms.filter((term) => term !== '')
  if (kept.length === 0) return '0'
  return kept.map((term, at) => (at > 0 && !term.startsWith('-') ? `+${term}` : term)).join('')
}

/** A polynomial from its coefficients, that of the constant first. */
export function polynomial(coefficients: readonly number[], variable = 'x'): string {
  const power = (exponent: number) =>
    exponent === 0 ? '' : exponent === 1 ? variable : `${variable}^{${exponent}}`
  return sum(coefficients.map((count, exponent) => multiple(count, power(exponent))).reverse())
}

/** A square root in lowest terms: what stands before the root, and what stays below it. */
export function simplestRoot(radicand: number): { outside: number; inside: number } {
  let [outside, inside] = [1, radicand]
  for (let factor = 2; factor * factor <= inside; factor++) {
    while (inside % (factor * factor) === 0) {
      inside /= factor * factor
      outside *= factor
    }
  }
  return { outside, inside }
}

/** Rows of a matrix in round brackets. */
export function matrix(rows: readonly (readonly number[])[]): string {
  return `\\begin{pmatrix}${rows.map((row) => row.join(' & ')).join(' \\\\ ')}\\end{pmatrix}`
}
