import { toMs } from './duration.ts'
import type { Limits } from './environment.ts'
import { QuintainError } from './errors.ts'
import type { ResolvedLimits } from './records.ts'
import { didYouMean } from './suggest.ts'

/** In force where neither the environment, the task nor the run says otherwise. */
export const defaultLimits = { wall: '1h', tool: '60s', grade: '120s' } as const satisfies Limits

const names = ['turns', 'tokens', 'costUsd', 'wall', 'tool', 'grade'] as const

/** Limits in force: later ones win, field by field. Throws `limits_invalid` for unknown names and for what is not above zero. */
export function resolveLimits(...layers: (Limits | undefined)[]): ResolvedLimits {
  const merged: Limits = { ...defaultLimits }
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer ?? {})) {
      if (!(names as readonly string[]).includes(name)) {
        throw new QuintainError('limits_invalid', `unknown limit "${name}"${didYouMean(name, names)}`, {
          facts: { name },
        })
      }
      if (value !== undefined) Object.assign(merged, { [name]: value })
    }
  }
  const resolved: ResolvedLimits = {}
  for (const name of ['turns', 'tokens', 'costUsd'] as const) {
    const value = merged[name]
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value > 0) || Number.isNaN(value)) {
      throw new QuintainError(
        'limits_invalid',
        `limit ${name} is ${typeof value === 'string' ? JSON.stringify(value) : String(value)}; give a number above zero.`,
        {
          facts: { name, value },
        },
      )
    }
    // Infinity means "no limit" and has no JSON form.
    if (Number.isFinite(value)) resolved[name] = value
  }
  if (merged.wall !== undefined) resolved.wallMs = toMs(merged.wall, 'limit wall')
  if (merged.tool !== undefined) resolved.toolMs = toMs(merged.tool, 'limit tool')
  if (merged.grade !== undefined) resolved.gradeMs = toMs(merged.grade, 'limit grade')
  return resolved
}
