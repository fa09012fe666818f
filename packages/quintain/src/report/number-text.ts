/** A score to three places after the point, without a false minus; smaller and huge ones by their own digits. */
export function scoreText(value: number | null, places = 3): string {
  if (value === null || !Number.isFinite(value)) return 'none'
  if (Math.abs(value) >= 1e15) return value.toExponential(places)
  const text = value.toFixed(places)
  if (Number(text) !== 0) return text
  // What is not zero is not called so, unless it is what rounding leaves of a zero.
  return Math.abs(value) < 1e-12 ? (0).toFixed(places) : String(Number(value.toPrecision(2)))
}

/** A number of things, with thousands apart. */
export function countText(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `98 %`, rounded so that only all is 100 and only nothing is 0. */
export function shareText(share: number | null): string {
  if (share === null) return 'none'
  if (share > 0 && share < 0.001) return '< 0.1 %'
  if (share < 1 && share > 0.999) return '> 99.9 %'
  const percent = 100 * share
  return `${Number.isInteger(percent) ? percent : percent.toFixed(1)} %`
}

/** Milliseconds as people say them: `850 ms`, `12.3 s`, `4 min 10 s`, `2 h 5 min`. */
export function durationText(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return 'none'
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** US dollars; small sums keep two digits that mean something. */
export function dollarText(usd: number | null): string {
  if (usd === null) return 'unknown'
  if (usd === 0) return '$0'
  return usd >= 0.1 ? `$${usd.toFixed(2)}` : `$${Number(usd.toPrecision(2))}`
}

/** `1 order`, `2 orders`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : nouns}`
}
