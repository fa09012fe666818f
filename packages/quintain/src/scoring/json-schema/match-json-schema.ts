import { type OutputUnit, type Schema, type SchemaDraft, validate } from '@cfworker/json-schema'
import { withinProcessorTime } from '../../core/processor-budget.ts'
import { readJsonValue } from './json-value.ts'
import { type ReadSchema, readSchema } from './read-schema.ts'

/** One thing that is wrong: where (a JSON Pointer, empty for the whole), which keyword says so, and what. */
export interface SchemaProblem {
  path: string
  keyword: string
  message: string
}

/**
 * Whether a value fits. `fits` is null when there is no saying: the schema is none (its author's fault), or the check took
 * too long or nested too deep.
 */
export type SchemaMatch =
  | { fits: true; problems: readonly [] }
  | { fits: false; problems: readonly SchemaProblem[] }
  | { fits: null; problems: readonly []; error: 'invalid_schema' | 'deadline' | 'too_deep'; message: string }

/** Milliseconds of processor time that a check has when nothing is said. */
const checkMs = 1_000
const mostProblems = 100
/** Keywords by which two integers that one double stands for would be told apart. */
const exactKeywords = /"(?:const|enum|uniqueItems|multipleOf|(?:exclusive)?(?:m|M)(?:in|ax)imum)"/

/**
 * Holds a value, or a JSON text, against a JSON Schema of draft 4, 7, 2019-09 or 2020-12 (which, `$schema` says; the last
 * when it does not). Formats are checked. Nothing is fetched: a reference out of the schema is `invalid_schema`, and so is
 * `$dynamicRef`. Patterns have the check's deadline, as has everything else.
 *
 * A text must be one JSON value and nothing else. Keys twice in one object do not fit; neither does an integer that a
 * double cannot carry, where the schema compares numbers. Problems may quote the schema: show them to no agent that must
 * not know it. Never throws for a schema, a value or a text.
 *
 * @example matchJsonSchema({ type: 'object', required: ['city'] }, { text: '{"city":"Oslo"}' }) // { fits: true, … }
 */
export function matchJsonSchema(
  schema: Readonly<Record<string, unknown>> | boolean,
  given: { value: unknown } | { text: string },
  options: { ms?: number } = {},
): SchemaMatch {
  const ms = options.ms ?? checkMs
  const read = readInTime(schema, ms)
  if ('error' in read) return { fits: null, problems: [], error: read.error, message: read.message }
  let { value } = 'value' in given ? given : { value: undefined }
  if ('text' in given) {
    const json = readJsonValue(given.text)
    if (json.problem !== undefined) return { fits: false, problems: [json.problem] }
    if (json.inexact !== undefined && exactKeywords.test(read.text)) {
      const message = `the number ${json.inexact} has more digits than can be compared`
      return { fits: false, problems: [{ path: '', keyword: 'number', message }] }
    }
    value = json.value
  }
  return check(read, { value, ms })
}

function check(
  read: Exclude<ReadSchema, { error: string }>,
  given: { value: unknown; ms: number },
): SchemaMatch {
  const { schema, draft, lookup } = read
  const { value, ms } = given
  const first = errorsOf({ schema, draft, lookup, value, ms, all: false })
  if (typeof first === 'string') {
    return { fits: null, problems: [], error: first, message: messages[first] }
  }
  if (first.length === 0) return { fits: true, problems: [] }
  // Every problem where they can be had, else those of the first that was found.
  const all = errorsOf({ schema, draft, lookup, value, ms, all: true })
  const errors = typeof all === 'string' || all.length === 0 ? first : all
  return { fits: false, problems: errors.filter(isLeaf).slice(0, mostProblems).map(problemOf) }
}

const messages = {
  deadline: 'the check took too long; give a simpler schema, or a smaller value',
  too_deep: 'the schema or the value nests too deep to be checked',
} as const

function errorsOf(options: {
  schema: Schema | boolean
  draft: SchemaDraft
  lookup: Record<string, Schema | boolean>
  value: unknown
  ms: number
  all: boolean
}): OutputUnit[] | keyof typeof messages {
  const { schema, draft, lookup, value, ms, all } = options
  let errors: OutputUnit[] = []
  try {
    const { done } = withinProcessorTime(ms, () => {
      const result = validate(value, schema, draft, lookup, !all)
      errors = result.valid ? [] : result.errors
    })
    return done ? errors : 'deadline'
  } catch {
    // The stack is over, or what was given is no JSON value at all.
    return 'too_deep'
  }
}

/** Not one that only says that a part of the schema found something. */
function isLeaf({ error }: OutputUnit, _: number, all: readonly OutputUnit[]): boolean {
  return all.length === 1 || !/subschema had errors|does not match schema|^Items did not match/.test(error)
}

function problemOf({ instanceLocation, keyword, error }: OutputUnit): SchemaProblem {
  return { path: instanceLocation.replace(/^#/, ''), keyword, message: error.slice(0, 500) }
}

function readInTime(schema: unknown, ms: number): ReadSchema {
  const found: { read: ReadSchema } = { read: { error: 'deadline', message: messages.deadline } }
  const { done } = withinProcessorTime(ms, () => {
    found.read = readSchema(schema)
  })
  return done ? found.read : { error: 'deadline', message: messages.deadline }
}
