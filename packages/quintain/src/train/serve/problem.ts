import { HttpProblem } from '../../core/http-port.ts'
import { isThrown, QuintainError } from '../../core/index.ts'
import { chatDialect, DialectError } from '../../models/index.ts'

/** A refusal as OpenAI's endpoints make it: a status, a code, and the parameter that is at fault. */
export class ModelProblem extends HttpProblem {
  readonly code: string
  readonly param: string | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    { param, headers }: { param?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(status, message, headers)
    this.code = code
    this.param = param
  }
}

/** A request in which `param` is wrong. */
export function invalid(param: string, message: string): ModelProblem {
  return new ModelProblem(400, 'invalid_request', message, { param })
}

/** What is said to everybody once the server ends. */
export function ending(): ModelProblem {
  return new ModelProblem(503, 'server_ending', 'This server is ending and samples nothing more.')
}

/** What a client is told of something that was thrown; undefined for a defect, which is none of its business. */
export function problemOf(thrown: unknown): ModelProblem | undefined {
  if (isThrown(thrown, ModelProblem)) return thrown
  if (isThrown(thrown, DialectError)) {
    const { code, message, param } = thrown
    return new ModelProblem(400, code, message, param === undefined ? {} : { param })
  }
  if (!QuintainError.isInstance(thrown)) return undefined
  if (thrown.code === 'context_overflow')
    return new ModelProblem(400, 'context_length_exceeded', thrown.message)
  if (thrown.code === 'sampler_closed') return ending()
  const askedWrongly = ['prompt_invalid', 'datum_invalid', 'needs_unmet'].includes(thrown.code)
  return askedWrongly ? new ModelProblem(400, thrown.code, thrown.message) : undefined
}

/** Codes of refusals that the listener makes itself. */
const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'invalid_api_key',
  403: 'foreign_origin',
  413: 'request_too_large',
  421: 'unknown_host',
}

/** What is said of a defect. */
export const broken = { status: 500, message: 'The server failed on this request; its log says how.' }

/** The body of a refusal in OpenAI's form. */
export function problemBody({
  status,
  message,
  code = codes[status] ?? 'internal',
  param,
}: {
  status: number
  message: string
  code?: string
  param?: string | undefined
}): Record<string, unknown> {
  return chatDialect.errorBody({ status, message, code, ...(param === undefined ? {} : { param }) })
}
