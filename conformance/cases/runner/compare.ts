import { decimalsOf } from './case.ts'

/** One difference between what came out and what was expected. */
export interface Mismatch {
  /** Path inside `expected`; empty for the whole. */
  path: string
  message: string
}

/** What a case is compared with: the value that came out, and how long it took. */
export interface CaseResult {
  value: unknown
  /** Milliseconds. */
  tookMs: number
}

type Fields = Record<string, unknown>

/**
 * Compares by the rules of the case files: keys that `expected` does not name are not compared, at any depth; arrays
 * are compared whole and in order; numbers after rounding; and some keys are conditions on another key. Returns the
 * differences, none for a pass.
 */
export function compare(expected: unknown, result: CaseResult): Mismatch[] {
  return compareValue(expected, result.value, { path: '', tookMs: result.tookMs, decimals: undefined })
}

interface Place {
  path: string
  tookMs: number
  /** Decimals that the expected number shows. */
  decimals: number | undefined
}

function compareValue(expected: unknown, actual: unknown, place: Place): Mismatch[] {
  if (Array.isArray(expected)) return compareArray(expected, actual, place)
  if (isFields(expected)) return compareFields(expected, actual, place)
  if (typeof expected === 'number') {
    return sameNumber(expected, actual, place.decimals) ? [] : [mismatch(place, expected, actual)]
  }
  return Object.is(expected, actual) ? [] : [mismatch(place, expected, actual)]
}

function compareArray(expected: unknown[], actual: unknown, place: Place): Mismatch[] {
  if (!isList(actual)) return [mismatch(place, expected, actual)]
  if (actual.length !== expected.length) {
    return [{ path: place.path, message: `expected ${expected.length} elements, got ${actual.length}` }]
  }
  return expected.flatMap((element, i) =>
    compareValue(element, actual[i], {
      ...place,
      path: `${place.path}[${i}]`,
      decimals: decimalsOf(expected, i),
    }),
  )
}

function compareFields(expected: Fields, actual: unknown, place: Place): Mismatch[] {
  const keys = Object.keys(expected)
  const onlyConditions = keys.length > 0 && keys.every((key) => key in wholeConditions)
  const comparable = isFields(actual) || (onlyConditions && (typeof actual === 'string' || isList(actual)))
  if (!comparable) return [mismatch(place, expected, actual)]
  if ('or_error' in expected && codeOf(actual) === expected['or_error']) return []
  return Object.entries(expected).flatMap(([key, wanted]) => {
    if (key === 'or_error') return []
    const at: Place = {
      ...place,
      path: place.path === '' ? key : `${place.path}.${key}`,
      decimals: decimalsOf(expected, key),
    }
    const condition = conditionOf(key)
    // A field that happens to be called like a condition is compared as what it is.
    if (condition === undefined || (condition.base !== '' && isPlainField(key, condition.base, actual))) {
      return compareField(key, wanted, actual, at)
    }
    const complaint = condition.test(wanted, actual, place.tookMs)
    return complaint === undefined ? [] : [{ path: at.path, message: complaint }]
  })
}

function compareField(key: string, wanted: unknown, actual: unknown, at: Place): Mismatch[] {
  if (key === 'error') {
    const code = codeOf(actual)
    // `error: null` says that there was none.
    return (wanted ?? undefined) === code ? [] : [mismatch(at, wanted, code)]
  }
  if (!isFields(actual) || !Object.hasOwn(actual, key)) return [mismatch(at, wanted, undefined)]
  return compareValue(wanted, actual[key], at)
}

function isPlainField(key: string, base: string, actual: unknown): boolean {
  return (
    isFields(actual) && Object.hasOwn(actual, key) && !Object.hasOwn(actual, base) && !/within_/.test(key)
  )
}

interface Condition {
  /** The key it is a condition on; empty for a condition on the whole result. */
  base: string
  /** A complaint, or undefined when it holds. */
  test(wanted: unknown, actual: unknown, tookMs: number): string | undefined
}

const orders: Record<string, [(actual: number, bound: number) => boolean, string]> = {
  _lt: [(actual, bound) => actual < bound, 'below'],
  _gt: [(actual, bound) => actual > bound, 'above'],
  _ge: [(actual, bound) => actual >= bound, 'at least'],
  _min: [(actual, bound) => actual >= bound, 'at least'],
  _max: [(actual, bound) => actual <= bound, 'at most'],
}

function conditionOf(key: string): Condition | undefined {
  const whole = wholeConditions[key]
  if (whole !== undefined) return { base: '', test: whole }
  const log = key === 'log_contains' || key === 'log_not_contains'
  if (log) {
    return {
      base: '',
      test: (wanted, actual) => {
        const texts = textsIn(isFields(actual) && 'log' in actual ? actual['log'] : actual)
        return containsAll(wanted, texts, key === 'log_contains')
      },
    }
  }
  if (key === 'within_ms' || key.endsWith('_within_s')) return { base: key, test: within(key) }
  if (key.endsWith('_between')) {
    const base = key.slice(0, -'_between'.length)
    return {
      base,
      test(wanted, actual) {
        const value = fieldOf(actual, base)
        const [low, high] = wanted as [number, number]
        const holds = typeof value === 'number' && value >= low && value <= high
        return holds ? undefined : `expected ${base} between ${low} and ${high}, got ${show(value)}`
      },
    }
  }
  if (key.endsWith('_contains')) {
    const base = key.slice(0, -'_contains'.length)
    return { base, test: (wanted, actual) => contains(base, wanted, actual) }
  }
  for (const [suffix, [holds, word]] of Object.entries(orders)) {
    if (!key.endsWith(suffix)) continue
    const base = key.slice(0, -suffix.length)
    return {
      base,
      test(wanted, actual) {
        const value = fieldOf(actual, base)
        const right = typeof value === 'number' && typeof wanted === 'number' && holds(value, wanted)
        return right ? undefined : `expected ${base} ${word} ${show(wanted)}, got ${show(value)}`
      },
    }
  }
  return undefined
}

const wholeConditions: Record<string, Condition['test']> = {
  contains: (wanted, actual) => containsAll(wanted, textsIn(actual), true),
  not_contains: (wanted, actual) => containsAll(wanted, textsIn(actual), false),
  contains_mean(wanted, actual) {
    const low = fieldOf(actual, 'low')
    const high = fieldOf(actual, 'high')
    const inside =
      typeof low === 'number' &&
      typeof high === 'number' &&
      typeof wanted === 'number' &&
      low <= wanted &&
      wanted <= high
    return inside
      ? undefined
      : `expected an interval round ${show(wanted)}, got ${show(low)} to ${show(high)}`
  },
  has(wanted, actual) {
    const present = (name: unknown) =>
      isList(actual)
        ? actual.includes(name)
        : isList(fieldOf(actual, 'has'))
          ? (fieldOf(actual, 'has') as unknown[]).includes(name)
          : (fieldOf(actual, String(name)) ?? null) !== null
    const missing = (isList(wanted) ? wanted : [wanted]).filter((name) => !present(name))
    return missing.length === 0 ? undefined : `missing: ${show(missing)}`
  },
}

/** `within_ms` and `…_within_s`: what the result says of its time, or the time that the call took. */
function within(key: string): Condition['test'] {
  return (wanted, actual, tookMs) => {
    const unit = key.endsWith('_s') ? 's' : 'ms'
    const said =
      fieldOf(actual, key) ??
      (key === 'within_ms' ? fieldOf(actual, 'elapsed_ms') : fieldOf(actual, key.replace('_within_s', '_s')))
    const returned = key === 'within_ms' || key === 'returns_within_s'
    const measured = returned ? tookMs / (unit === 's' ? 1000 : 1) : undefined
    const value = said ?? measured
    const holds = typeof value === 'number' && typeof wanted === 'number' && value <= wanted
    return holds ? undefined : `expected at most ${show(wanted)} ${unit}, got ${show(value)}`
  }
}

/** `_contains` looks in the field, and in code and message, ignoring case. */
function contains(base: string, wanted: unknown, actual: unknown): string | undefined {
  const own = fieldOf(actual, base)
  const texts =
    base !== 'error' && own !== undefined ? textsIn(own) : textsIn([own, codeOf(actual), messageIn(actual)])
  const lowered = texts.map((text) => text.toLowerCase())
  const needles = (isList(wanted) ? wanted : [wanted]).map((needle) => String(needle).toLowerCase())
  const missing = needles.filter((needle) => !lowered.some((text) => text.includes(needle)))
  return missing.length === 0 ? undefined : `expected ${base} to contain ${show(wanted)}, got ${show(texts)}`
}

function containsAll(wanted: unknown, texts: string[], present: boolean): string | undefined {
  const needles = (isList(wanted) ? wanted : [wanted]).map(String)
  const wrong = needles.filter((needle) => texts.some((text) => text.includes(needle)) !== present)
  if (wrong.length === 0) return undefined
  return `expected ${present ? 'some' : 'no'} text with ${show(wrong)}, got ${show(texts)}`
}

/** Every text inside a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap(textsIn)
  if (isFields(value)) return Object.values(value).flatMap(textsIn)
  return []
}

function fieldOf(value: unknown, key: string): unknown {
  return isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The code of a result that is an error: `{ error: code }` or `{ error: { code } }`. */
function codeOf(actual: unknown): unknown {
  const error = fieldOf(actual, 'error')
  return (isFields(error) ? error['code'] : error) ?? undefined
}

function messageIn(actual: unknown): unknown {
  const error = fieldOf(actual, 'error')
  return [fieldOf(actual, 'message'), fieldOf(error, 'message')]
}

/** Equal after rounding to six decimals, or to as many as `expected` shows where that is four or five. */
function sameNumber(expected: number, actual: unknown, shown: number | undefined): boolean {
  if (typeof actual !== 'number' || !Number.isFinite(actual)) return Object.is(expected, actual)
  const decimals = shown === 4 || shown === 5 ? shown : 6
  return Number(expected.toFixed(decimals)) === Number(actual.toFixed(decimals))
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !isList(value)
}

function mismatch(place: Place, expected: unknown, actual: unknown): Mismatch {
  return { path: place.path, message: `expected ${show(expected)}, got ${show(actual)}` }
}

/** A value on one line, at most `limit` characters: JSON where it is JSON, and what it is elsewhere. */
export function show(value: unknown, limit = 400): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner === 'number' && !Number.isFinite(inner)) return `<${inner}>`
      if (typeof inner === 'bigint') return `<${inner}n>`
      if (inner instanceof Error) return `<${inner.name}: ${inner.message}>`
      if (inner === undefined) return '<undefined>'
      return inner
    })
  } catch {
    text = undefined
  }
  const line = (value === undefined ? 'nothing' : (text ?? String(value))).replaceAll('\n', ' ')
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line
}
