import { types } from 'node:util'
import { kindOf } from './given.ts'

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Deeper is no data that anybody wrote by hand, and may have no end. */
const plainDepth = 32

/** Whether something is surely plain data through and through, so that every way of sending it carries it. */
export function isPlainData(value: unknown, depth = plainDepth): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0 || types.isProxy(value)) return false
  const isInnerPlain = (inner: unknown) => isPlainData(inner, depth - 1)
  if (Array.isArray(value)) return value.every(isInnerPlain)
  return isPlain(value) && Object.values(value).every(isInnerPlain)
}

/** A copy of plain data; what is not plain (a function, an instance of a class) is kept as it is. */
export function plainCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => plainCopy<unknown>(item)) as T
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainCopy(item)])) as T
}

/** Freezes plain data through and through. */
export function freezePlain<T>(value: T): T {
  if (!Array.isArray(value) && !isPlain(value)) return value
  for (const item of Object.values(value)) freezePlain(item)
  return Object.freeze(value)
}

/** Says where data holds what JSON would change in silence: `state.seen that is a Set`. Undefined fields are left out by JSON and are fine. */
export function notPlainIn(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} that is ${value}`
  if (typeof value === 'function' || typeof value === 'symbol') return `${path} that is ${kindOf(value)}`
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = notPlainIn(value[at], `${path}[${at}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (value instanceof Map || value instanceof Set || value instanceof Date || ArrayBuffer.isView(value)) {
    return `${path} that is a ${value.constructor.name}`
  }
  if ('toJSON' in value) return undefined
  for (const [key, item] of Object.entries(value)) {
    const found = notPlainIn(item, `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
