import { QuintainError } from './errors.ts'

/** Milliseconds, or text such as `500ms`, `30s`, `2m`, `1h`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h'}`

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const

/** Milliseconds of a duration. Throws `limits_invalid` for anything that is not a positive finite duration. */
export function toMs(duration: Duration, name = 'duration'): number {
  const match = typeof duration === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(duration) : null
  const ms =
    typeof duration === 'number'
      ? duration
      : match
        ? Number(match[1]) * units[match[2] as keyof typeof units]
        : Number.NaN
  if (!Number.isFinite(ms) || ms <= 0) {
    throw new QuintainError(
      'limits_invalid',
      `${name} is ${typeof duration === 'string' ? JSON.stringify(duration) : String(duration)}; give milliseconds above zero or text such as "30s" or "2m".`,
      { facts: { name, duration } },
    )
  }
  return ms
}
