import { withinProcessorTime } from '../core/processor-budget.ts'
import type { JsonSchema, Schema } from '../core/standard-schema.ts'
import { cutWithMarker } from './cut-text.ts'
import { loadValidator } from './sdk.ts'

/**
 * Processor time of one check and of making a schema ready for checks, milliseconds. Patterns and references of a
 * server's schema can make a check take years, and every attempt of this process would wait for it.
 */
const checkMs = 200
const compileMs = 1_000
/** Bytes that a model is told of what is wrong. */
const problemBytes = 2_000

/** Whether a value fits a schema; `unknown` when the check had to be broken off. */
export type Fit = { kind: 'fits' } | { kind: 'wrong'; problem: string } | { kind: 'unknown' }

type Check = (value: unknown) => Fit
interface Compiler {
  getValidator(schema: JsonSchema): (value: unknown) => { valid: boolean; errorMessage?: string | undefined }
}

const mostChecks = 500
const checks = new Map<string, Promise<Check>>()
let compiler: Compiler | undefined

/**
 * Holds a value against a JSON Schema; one that cannot be compiled accepts everything. Compiled once per process for all
 * attempts, since an attempt has its own server but the same tools.
 */
export async function checkJsonSchema(schema: JsonSchema, value: unknown): Promise<Fit> {
  const key = JSON.stringify(schema)
  let check = checks.get(key)
  if (check === undefined) {
    // The compiler keeps what it has compiled, so both are dropped together.
    if (checks.size >= mostChecks) {
      checks.clear()
      compiler = undefined
    }
    check = compile(schema)
    checks.set(key, check)
  }
  return (await check)(value)
}

async function compile(schema: JsonSchema): Promise<Check> {
  const { AjvJsonSchemaValidator } = await loadValidator()
  try {
    const compiled = withinProcessorTime(compileMs, () => {
      // One that was broken off in the midst of a schema is not used again.
      const used = compiler ?? new AjvJsonSchemaValidator()
      compiler = undefined
      const validator = used.getValidator(schema)
      compiler = used
      return validator
    })
    if (compiled.done) return (value) => fitOf(compiled.value, value)
  } catch {
    // It is for the server to say what it means by it.
  }
  return () => ({ kind: 'fits' })
}

function fitOf(validator: ReturnType<Compiler['getValidator']>, value: unknown): Fit {
  const checked = withinProcessorTime(checkMs, () => validator(value))
  if (!checked.done) return { kind: 'unknown' }
  const { valid, errorMessage = 'it does not fit' } = checked.value
  return valid ? { kind: 'fits' } : { kind: 'wrong', problem: cutWithMarker(errorMessage, problemBytes).text }
}

/**
 * A JSON Schema as a Standard Schema, by which the arguments of a call are checked before they are sent. Arguments that
 * cannot be checked are refused: what they do to us, they would do to the server.
 */
export function standardSchemaOf(schema: JsonSchema): Schema {
  return {
    '~standard': {
      version: 1,
      vendor: 'quintain-mcp',
      async validate(value: unknown) {
        const fit = await checkJsonSchema(schema, value)
        if (fit.kind === 'fits') return { value }
        const message =
          fit.kind === 'wrong' ? fit.problem : 'to check them takes too long; give shorter or simpler ones'
        return { issues: [{ message }] }
      },
    },
  }
}
