/** Every `code` a public function of Quintain may throw, with the room that throws it. */
export type ErrorCode =
  | 'options_invalid'
  | 'definition_invalid'
  | 'task_invalid'
  | 'tasks_invalid'
  | 'duplicate_task_id'
  | 'no_tasks'
  | 'not_json'
  | 'unknown_task'
  | 'schema_unsupported'
  | 'environment_not_found'
  | 'environment_load_failed'
  | 'contract_unsupported'
  | 'needs_unmet'
  | 'policy_unknown'
  | 'policy_invalid'
  | 'limits_invalid'
  | 'run_exists'
  | 'run_not_found'
  | 'run_locked'
  | 'run_too_new'
  | 'run_corrupt'
  | 'run_mismatch'
  | 'import_invalid'
  | 'export_refused'
  | 'no_sampled_tokens'
  | 'prompt_invalid'
  | 'undefined_variable'
  | 'disk_full'
  | 'journal_io'
  | 'output_exists'
  | 'output_io'
  | 'worker_start_failed'
  | 'provider_unconfigured'
  | 'spend_cap'
  | 'checkpoint_invalid'
  | 'datum_invalid'
  | 'reward_invalid'
  | 'not_finite'
  | 'operation_out_of_order'
  | 'version_mismatch'
  | 'context_overflow'
  | 'sampler_closed'
  | 'samplers_exhausted'
  | 'engine_failed'
  | 'engine_closed'
  | 'training_mismatch'
  | 'usage'
  | 'internal'

const marker = Symbol.for('quintain.error')

/**
 * The one error class that public functions throw. `code` is stable; `facts` are the values the message was
 * built from; the message says what happened and what to do next.
 *
 * What a model can get wrong is never an error: it is a value (see `tool-call.ts`).
 */
export class QuintainError extends Error {
  override readonly name = 'QuintainError'
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, unknown>>
  readonly [marker] = true

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; facts?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.facts = options.facts ?? {}
  }

  /** True for a `QuintainError` of any copy of this package in the process. */
  static isInstance(value: unknown): value is QuintainError {
    try {
      return typeof value === 'object' && value !== null && marker in value
    } catch {
      return false
    }
  }
}

/** Whether something that was thrown is of a class. Code that throws a Proxy can make `instanceof` itself throw; that is a no. */
export function isThrown<T>(thrown: unknown, kind: abstract new (...args: never[]) => T): thrown is T {
  try {
    return thrown instanceof kind
  } catch {
    return false
  }
}

/** The message of anything that was thrown, on one line, at most `limit` characters. Never throws, whatever it was. */
export function messageOf(thrown: unknown, limit = 500): string {
  let text: unknown
  try {
    text = isThrown(thrown, Error) ? thrown.message || thrown.name : thrown
    // An error's message is whatever somebody assigned to it.
    text = typeof text === 'string' ? text : String(text)
  } catch {
    text = undefined
  }
  return oneLine(typeof text === 'string' ? text : 'a value that cannot be printed was thrown', limit)
}

/** The stack of anything that was thrown, or its message where it has none. Never throws. */
export function stackOf(thrown: unknown): string {
  try {
    const stack: unknown = isThrown(thrown, Error) ? thrown.stack : undefined
    if (typeof stack === 'string' && stack !== '') return stack
  } catch {
    // A stack that is a getter of its own.
  }
  return messageOf(thrown)
}

/** What is wrong with text that is no JSON: kind and place, without the text itself, which may hold a task's secret. */
export function jsonProblem(thrown: unknown): string {
  const text = messageOf(thrown)
  if (!isThrown(thrown, SyntaxError)) return text
  const told =
    /^(?:Unexpected end of JSON input|[A-Z][^'"]*(?:'[^']{1,3}'[^'"]*)* in JSON at position \d+)/.exec(
      text,
    )?.[0]
  return told ?? 'a character where none of its kind may be'
}

/** Where something was thrown, `path:line:column` of the nearest frame that is a file; undefined when it does not say. */
export function placeOf(thrown: unknown): string | undefined {
  const frames = stackOf(thrown)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  for (const frame of frames) {
    const place = /(?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^\s()]*:\d+:\d+/.exec(frame)?.[0]
    if (place !== undefined) return place
  }
  return undefined
}

function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line
}
