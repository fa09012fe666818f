import { nestsTooDeep } from '../../core/index.ts'

export type ReadFrame =
  | { ok: true; fields: Record<string, unknown> }
  | { ok: false; syntax: boolean; why: string }

/** A frame as a JSON object. */
export function readFrame(text: string | undefined): ReadFrame {
  if (text === undefined) return { ok: false, syntax: true, why: 'frames are text, and this one is binary' }
  if (nestsTooDeep(text)) return { ok: false, syntax: true, why: 'it nests too deep' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, syntax: true, why: 'it is not valid JSON' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, syntax: false, why: 'it is no JSON object' }
  return { ok: true, fields: value as Record<string, unknown> }
}
