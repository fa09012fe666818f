import { isObject } from '../../core/chat-messages.ts'
import type { OutputFormat } from '../../core/index.ts'
import type { Findings } from './findings.ts'

/** What a job file says that a package keeps. */
export interface HostedJob {
  /** The grader in it, if any. */
  grader?: unknown
  output?: OutputFormat
  /** Fields for PROVENANCE.json. */
  facts: Record<string, unknown>
}

const kept = [
  'id',
  'object',
  'model',
  'fine_tuned_model',
  'status',
  'created_at',
  'finished_at',
  'seed',
  'suffix',
  'user_provided_suffix',
  'training_file',
  'validation_file',
  'trained_tokens',
]

/** A job as the API gave it, or the body of the request that made it. */
export function readJob(value: unknown, place: string, findings: Findings): HostedJob {
  if (!isObject(value)) {
    findings.add({
      severity: 'error',
      code: 'bad_job',
      place,
      message: 'The job is no object; save what the API gave for the job.',
    })
    return { facts: {} }
  }
  const method = isObject(value['method']) ? value['method'] : {}
  const inner = isObject(method['reinforcement']) ? method['reinforcement'] : method
  if (method['type'] !== undefined && method['type'] !== 'reinforcement')
    findings.add({
      severity: 'warning',
      code: 'other_method',
      place,
      message: `The job is of the method ${JSON.stringify(method['type']).slice(0, 40)}, and not of reinforcement.`,
    })
  const format = inner['response_format'] ?? value['response_format']
  const output = readResponseFormat(format, place, findings)
  const facts = Object.fromEntries(kept.flatMap((name) => (value[name] == null ? [] : [[name, value[name]]])))
  return {
    ...(inner['grader'] == null ? {} : { grader: inner['grader'] }),
    ...(output === undefined ? {} : { output }),
    facts: {
      ...facts,
      hyperparameters: inner['hyperparameters'] ?? value['hyperparameters'] ?? null,
      response_format: format ?? null,
    },
  }
}

/**
 * `response_format` in the shapes that files have: of Chat Completions (`{ type, json_schema: { name, schema, strict } }`),
 * flattened as on Azure and in Responses (`{ type, name, schema, strict }`), and that of Responses under `format`.
 */
export function readResponseFormat(
  given: unknown,
  place: string,
  findings: Findings,
): OutputFormat | undefined {
  if (given === undefined || given === null) return undefined
  const format = isObject(given) && isObject(given['format']) ? given['format'] : given
  const type = isObject(format) ? format['type'] : undefined
  if (!isObject(format) || typeof type !== 'string') {
    findings.add({
      severity: 'error',
      code: 'bad_response_format',
      place,
      message: 'response_format is no object with a "type".',
    })
    return undefined
  }
  if (type === 'text') return undefined
  if (type === 'json_object') return { type: 'json' }
  const flat = !isObject(format['json_schema'])
  const inner = isObject(format['json_schema']) ? format['json_schema'] : format
  const schema = inner['schema']
  if (type !== 'json_schema' || !isObject(schema)) {
    findings.add({
      severity: 'error',
      code: 'bad_response_format',
      place,
      message: `response_format of the type ${JSON.stringify(type).slice(0, 40)} has no schema; it is text, json_object, or json_schema with a schema.`,
    })
    return undefined
  }
  if (flat)
    findings.add({
      severity: 'guess',
      code: 'flat_response_format',
      place,
      message: 'response_format is in its flattened shape and was read as json_schema.',
    })
  const { name, strict } = inner
  return {
    type: 'schema',
    name: typeof name === 'string' && name !== '' ? name : 'answer',
    schema,
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
}
