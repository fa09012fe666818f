import {
  type AttemptRecord,
  type Extent,
  type OrderRecord,
  outcomes,
  type RequestRecord,
  type VerdictLine,
  type VerdictSummary,
  type VoidLine,
} from './records.ts'

/*
 * Whether a line that says it is a record has what readers take from it. A line whose bytes changed on the disk can be
 * valid JSON all the same; it must be passed over and told, not crash a reader. The schemas of `records.ts` would say
 * more, at ten times the time, and a report reads 100,000 lines.
 */

type Loose = Record<string, unknown>

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isNumberOrNull(value: unknown): boolean {
  return value === null || typeof value === 'number'
}

function isExtent(value: unknown): value is Extent {
  return Array.isArray(value) && value.length === 3 && value.every(isCount)
}

function isVerdict(value: unknown): value is VerdictSummary {
  return (
    isObject(value) &&
    isNumberOrNull(value['reward']) &&
    (value['success'] === null || typeof value['success'] === 'boolean') &&
    isObject(value['rewards']) &&
    isObject(value['metrics'])
  )
}

function isFault(value: unknown): boolean {
  return isObject(value) && typeof value['owner'] === 'string' && typeof value['code'] === 'string'
}

function isUsage(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['fresh'] === 'number' &&
    typeof value['cacheRead'] === 'number' &&
    typeof value['cacheWrite'] === 'number' &&
    typeof value['output'] === 'number'
  )
}

function hasNumbers(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'number')
}

const timings = ['wallMs', 'agentMs', 'modelMs', 'waitMs', 'gradeMs']
const counts = ['turns', 'toolCalls', 'modelRetries']
const knownOutcomes = new Set<unknown>([null, ...outcomes])

export function isOrder(value: unknown): value is OrderRecord {
  return (
    isObject(value) &&
    typeof value['id'] === 'string' &&
    isCount(value['seq']) &&
    typeof value['task'] === 'string' &&
    isCount(value['index']) &&
    isCount(value['repeat']) &&
    typeof value['group'] === 'string' &&
    typeof value['seed'] === 'number'
  )
}

export function isRequest(value: unknown): value is RequestRecord {
  const { repeats, tasks, limit } = value as Loose
  return (
    isCount(repeats) &&
    (tasks === undefined || Array.isArray(tasks)) &&
    (limit === undefined || isCount(limit))
  )
}

export function isAttempt(value: unknown): value is AttemptRecord {
  if (!isObject(value)) return false
  const { parts, usage, costUsd } = value
  return (
    typeof value['id'] === 'string' &&
    typeof value['order'] === 'string' &&
    isCount(value['seq']) &&
    typeof value['final'] === 'boolean' &&
    typeof value['start'] === 'string' &&
    typeof value['end'] === 'string' &&
    knownOutcomes.has(value['outcome']) &&
    (value['fault'] === null || isFault(value['fault'])) &&
    (value['verdict'] === null || isVerdict(value['verdict'])) &&
    isObject(usage) &&
    isUsage(usage['agent']) &&
    isObject(costUsd) &&
    isNumberOrNull(costUsd['agent']) &&
    hasNumbers(value['timing'], timings) &&
    hasNumbers(value['counts'], counts) &&
    isObject(parts) &&
    isExtent(parts['trajectory']) &&
    ['verdict', 'private', 'tokens'].every((name) => parts[name] === undefined || isExtent(parts[name]))
  )
}

export function isVerdictLine(value: unknown): value is VerdictLine {
  return (
    isObject(value) &&
    typeof value['attempt'] === 'string' &&
    typeof value['order'] === 'string' &&
    isCount(value['seq']) &&
    (value['verdict'] === null || isVerdict(value['verdict'])) &&
    (value['fault'] == null || isFault(value['fault'])) &&
    (value['part'] === undefined || isExtent(value['part']))
  )
}

export function isVoidLine(value: unknown): value is VoidLine {
  return isObject(value) && typeof value['attempt'] === 'string' && isCount(value['seq'])
}
