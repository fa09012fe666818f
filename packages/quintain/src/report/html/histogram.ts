/** A bar of a histogram: values from `from` up to `to`; a single value where the two are equal. */
export interface Bin {
  from: number
  to: number
  count: number
}

/** At so many different values each gets a bar of its own: a reward of 0 or 1 is two bars, not twenty with gaps. */
const fewValues = 12

/** Bars over finite numbers: one for each value where there are few, else `bars` of equal width. */
export function histogram(values: ArrayLike<number>, bars = 24): Bin[] {
  const counts = new Map<number, number>()
  const finite: number[] = []
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (!Number.isFinite(value)) continue
    finite.push(value)
    if (counts.size <= fewValues) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  if (counts.size <= fewValues) {
    return [...counts].sort(([a], [b]) => a - b).map(([value, count]) => ({ from: value, to: value, count }))
  }
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of finite) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  // Not `high - low`, which is beyond what a number holds when the two are.
  const edge = (i: number) => (i === bars ? high : low * (1 - i / bars) + high * (i / bars))
  const bins = Array.from({ length: bars }, (_, i) => ({ from: edge(i), to: edge(i + 1), count: 0 }))
  for (const value of finite) {
    let at = Math.min(
      bars - 1,
      Math.max(0, Math.floor((value / 2 - low / 2) / ((high / 2 - low / 2) / bars))),
    )
    // Rounding may put a value that lies on an edge beside its bar.
    while (at > 0 && value < bins[at]!.from) at--
    while (at < bars - 1 && value >= bins[at]!.to) at++
    bins[at]!.count++
  }
  return bins
}

/** Whole decades round some positive numbers, as exponents of ten: what several log axes share. */
export function decades(lists: readonly ArrayLike<number>[], least = 0.1): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, 0]
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      const value = list[i]!
      if (!(value > 0) || !Number.isFinite(value)) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  }
  if (high === 0) return [0, 1]
  const from = Math.floor(Math.log10(Math.max(low, least)))
  return [from, Math.max(from + 1, Math.ceil(Math.log10(Math.max(high, least))))]
}

/** Bars of equal width on a log axis from 10^from to 10^to; what is smaller, zero too, is in the first. */
export function logHistogram(
  values: ArrayLike<number>,
  [from, to]: readonly [number, number],
  bars: number,
): Bin[] {
  const edge = (i: number) => 10 ** (from + ((to - from) * i) / bars)
  const bins = Array.from({ length: bars }, (_, i) => ({ from: edge(i), to: edge(i + 1), count: 0 }))
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (!Number.isFinite(value)) continue
    const place = value > 0 ? Math.floor(((Math.log10(value) - from) / (to - from)) * bars) : 0
    bins[Math.min(bars - 1, Math.max(0, place))]!.count++
  }
  return bins
}
