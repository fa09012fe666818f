import { type HttpCall, HttpProblem } from '../../core/http-port.ts'
import type { TaskChoice } from '../session/session.ts'

export type Body = Readonly<Record<string, unknown>>

/** The body of a request; an empty one when nothing was sent. Throws 400 for what is no object. */
export async function bodyOf(call: HttpCall): Promise<Body> {
  const body = (await call.json()) ?? {}
  if (isObject(body)) return body
  throw new HttpProblem(400, 'The body must be a JSON object.')
}

/** Throws 400 where it is missing. */
export function textField(body: Body, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value !== '') return value
  throw new HttpProblem(400, `"${name}" must be a text.`)
}

/** A whole number, or undefined where the field is missing or null. Throws 400 for anything else. */
export function integerField(body: Body, name: string): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new HttpProblem(400, `"${name}" must be a whole number.`)
}

/** Throws 400 where it is missing or negative. */
export function indexField(body: Body): number {
  const index = integerField(body, 'index')
  if (index !== undefined && index >= 0) return index
  throw new HttpProblem(400, '"index" must be a whole number from 0.')
}

/** The part of a list that Python's `list[start:stop]` is. */
export function sliceOf(body: Body, length: number): { from: number; to: number } {
  const place = (value: number) => Math.min(Math.max(value < 0 ? length + value : value, 0), length)
  const from = place(integerField(body, 'start') ?? 0)
  return { from, to: Math.max(place(integerField(body, 'stop') ?? length), from) }
}

/**
 * The task of a session: by its `task_spec`, of which only what says which task it is counts, or by split and index.
 * Throws 400 for neither and for both.
 */
export function taskChoice(body: Body): TaskChoice {
  const spec = body['task_spec'] ?? undefined
  const bySpec = spec !== undefined
  if (bySpec === ((body['split'] ?? undefined) !== undefined || (body['index'] ?? undefined) !== undefined))
    throw new HttpProblem(400, 'Give either "task_spec" or both "split" and "index".')
  if (!bySpec) return { split: textField(body, 'split'), index: indexField(body) }
  if (!isObject(spec)) throw new HttpProblem(400, '"task_spec" must be an object.')
  if (typeof spec['id'] === 'string') return { id: spec['id'] }
  if (typeof spec['split'] === 'string') return { split: spec['split'], index: indexField(spec) }
  throw new HttpProblem(400, '"task_spec" must be one that was listed: its "id" says which task it is.')
}

/** The session that a request is about. Throws 400 where it names none. */
export function sessionName(call: HttpCall): string {
  const name = call.header('x-session-id')?.trim() ?? ''
  if (name === '') throw new HttpProblem(400, 'The header X-Session-ID is missing.')
  return name
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
