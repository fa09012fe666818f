import { HttpProblem } from '../../core/http-port.ts'

export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A body that must be an object. Throws `HttpProblem` 422, as FastAPI does. */
export function objectBody(body: unknown): JsonObject {
  if (isObject(body)) return body
  throw new HttpProblem(422, 'The body must be a JSON object.')
}

/** Refuses fields that the protocol's own models forbid. */
export function onlyFields(body: JsonObject, fields: readonly string[]): void {
  const unknown = Object.keys(body).find((field) => !fields.includes(field))
  if (unknown !== undefined)
    throw new HttpProblem(422, `The field ${JSON.stringify(unknown.slice(0, 80))} is not known here.`)
}

/** A field that must be text of a length that an identifier has. */
export function identifier(body: JsonObject, field: string): string {
  const value = body[field]
  if (typeof value !== 'string' || value === '' || value.length > 512)
    throw new HttpProblem(422, `${field}: text of 1 to 512 characters is expected.`)
  return value
}
