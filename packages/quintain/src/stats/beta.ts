/** Natural logarithm of the gamma function for x > 0 (Stirling's series after a shift to x >= 10). */
export function logGamma(x: number): number {
  if (!(x > 0)) return Number.NaN
  let shift = 0
  let y = x
  while (y < 10) {
    shift += Math.log(y)
    y += 1
  }
  const r = 1 / (y * y)
  const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188))))) / y
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series - shift
}

/** The continued fraction of the incomplete beta function, by the modified Lentz method. Converges fast for x < (a+1)/(a+b+2). */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300
  let c = 1
  let d = 1 - ((a + b) * x) / (a + 1)
  if (Math.abs(d) < tiny) d = tiny
  d = 1 / d
  let result = d
  for (let m = 1; m <= 100_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 + even * d
    if (Math.abs(d) < tiny) d = tiny
    c = 1 + even / c
    if (Math.abs(c) < tiny) c = tiny
    d = 1 / d
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 + odd * d
    if (Math.abs(d) < tiny) d = tiny
    c = 1 + odd / c
    if (Math.abs(c) < tiny) c = tiny
    d = 1 / d
    const factor = d * c
    result *= factor
    if (Math.abs(factor - 1) < 1e-15) break
  }
  return result
}

/** The regularised incomplete beta function I_x(a, b): the distribution function of Beta(a, b). NaN outside a, b > 0. */
export function betaCdf(x: number, a: number, b: number): number {
  if (!(a > 0 && b > 0) || Number.isNaN(x)) return Number.NaN
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** The x with `betaCdf(x, a, b) = p`, by bisection to the last bit that matters. NaN outside p in [0, 1]. */
export function betaQuantile(p: number, a: number, b: number): number {
  if (!(p >= 0 && p <= 1) || !(a > 0 && b > 0)) return Number.NaN
  if (p === 0) return 0
  if (p === 1) return 1
  let low = 0
  let high = 1
  for (let i = 0; i < 200 && high - low > 1e-15 * high; i++) {
    const middle = (low + high) / 2
    if (betaCdf(middle, a, b) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
