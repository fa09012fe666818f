/** Density of the standard normal distribution. */
export function normalDensity(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI)
}

/** P(Z > x) for x >= 0 by the continued fraction of Laplace, evaluated from its tail. */
function upperTail(x: number): number {
  let fraction = 0
  for (let k = 200; k >= 1; k--) fraction = k / (x + fraction)
  return normalDensity(x) / (x + fraction)
}

/** P(Z <= x) of the standard normal distribution; relative error below 1e-13 in both tails. */
export function normalCdf(x: number): number {
  if (Number.isNaN(x)) return Number.NaN
  if (x > 3) return 1 - upperTail(x)
  if (x < -3) return upperTail(-x)
  // Near the centre: 1/2 + density * (x + x^3/3 + x^5/15 + ...), every term of one sign.
  let term = x
  let sum = x
  for (let n = 3; Math.abs(term) > 1e-18 * Math.abs(sum); n += 2) {
    term *= (x * x) / n
    sum += term
  }
  return 0.5 + normalDensity(x) * sum
}

/** The x with `normalCdf(x) = p`, for p in [0, 1]; NaN outside. Accurate to 1e-12. */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) return Number.NaN
  if (p === 0) return -Infinity
  if (p === 1) return Infinity
  if (p > 0.5) return -normalQuantile(1 - p)
  // Newton on log(cdf), which is concave: from the left of the root every step stays finite and none overshoots far.
  let x = p > 0.02 ? 0 : -Math.sqrt(-2 * Math.log(p))
  for (let i = 0; i < 100; i++) {
    const cdf = normalCdf(x)
    const step = ((Math.log(cdf) - Math.log(p)) * cdf) / normalDensity(x)
    x -= step
    if (Math.abs(step) < 1e-14 * Math.max(1, Math.abs(x))) break
  }
  return x
}
