import { normalCdf, normalDensity, normalQuantile } from './normal.ts'

export interface Look {
  /** Share of all planned tasks that are in at this look. */
  fraction: number
  /** Two-sided: stop when |z| (difference / stderr) reaches this. */
  z: number
  /** The p below which to stop: of a plain two-sided test at this look. */
  p: number
}

/**
 * O'Brien and Fleming's boundaries for a comparison that is looked at a few times, planned before: strict early, almost
 * the plain test at the end. The chance that a difference of zero ever crosses one is `alpha`. `looks` is a number of
 * equally spaced looks, or the fractions of the tasks at which they happen, rising to 1; up to 20. Null for others.
 *
 * With few tasks in at the first look z is no normal deviate; have thirty by then. To look whenever you like, use
 * `SequentialComparison`.
 *
 * Sources: O'Brien and Fleming (Biometrics 35, 1979); the recursion of Armitage, McPherson and Rowe (JRSS A 132, 1969).
 */
export function obrienFleming(looks: number | readonly number[], alpha = 0.05): Look[] | null {
  const fractions = typeof looks === 'number' ? evenly(looks) : looks
  if (!(alpha >= 1e-12 && alpha < 1) || fractions.length === 0 || fractions.length > 20) return null
  if (Math.abs((fractions.at(-1) ?? 0) - 1) > 1e-9) return null
  if (fractions.some((fraction, i) => !(fraction > (fractions[i - 1] ?? 0)))) return null
  // Of Brownian motion at the fractions the boundary is flat, at between the plain critical value and twice it.
  let low = normalQuantile(1 - alpha / 2)
  let high = low + 3
  for (let i = 0; i < 40 && high - low > 1e-10; i++) {
    const middle = (low + high) / 2
    if (crossing(middle, fractions) > alpha) low = middle
    else high = middle
  }
  return fractions.map((fraction) => {
    const z = high / Math.sqrt(fraction)
    return { fraction, z, p: 2 * normalCdf(-z) }
  })
}

function evenly(looks: number): number[] {
  return Number.isInteger(looks) && looks >= 1 && looks <= 20
    ? Array.from({ length: looks }, (_, i) => (i + 1) / looks)
    : []
}

/** Chance that Brownian motion is outside (-bound, bound) at one of the times. */
function crossing(bound: number, times: readonly number[]): number {
  const cells = 160
  const step = (2 * bound) / cells
  const at = Float64Array.from({ length: cells + 1 }, (_, i) => -bound + i * step)
  // Simpson's weights.
  const weight = at.map((_, i) => (step / 3) * (i === 0 || i === cells ? 1 : i % 2 === 1 ? 4 : 2))
  let density = new Float64Array(0)
  let crossed = 0
  for (const [look, time] of times.entries()) {
    const spread = Math.sqrt(time - (times[look - 1] ?? 0))
    const beyond = (from: number) => normalCdf((from - bound) / spread) + normalCdf((-bound - from) / spread)
    const before = density
    if (look === 0) crossed += beyond(0)
    else for (let i = 0; i <= cells; i++) crossed += weight[i]! * before[i]! * beyond(at[i]!)
    density = at.map((to) => {
      if (look === 0) return normalDensity(to / spread) / spread
      let sum = 0
      for (let i = 0; i <= cells; i++) sum += weight[i]! * before[i]! * normalDensity((to - at[i]!) / spread)
      return sum / spread
    })
  }
  return crossed
}
