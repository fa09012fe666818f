/** What a provider says went wrong, in whichever shape it says so. */
export interface ProviderError {
  message: string
  /** The provider's own word, such as `context_length_exceeded`. */
  code?: string
  type?: string
  /** HTTP status, where the body tells one. */
  status?: number
}

const statusOfType: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_?many_?requests|resource_?exhausted/i, 429],
  [/overloaded/i, 529],
  [/service_?unavailable/i, 503],
  [/authentication|unauthorized|invalid_api_key/i, 401],
  [/permission|forbidden/i, 403],
  [/not_?found/i, 404],
  [/invalid_?request|bad_?request/i, 400],
  [/server_?error|api_error|internal/i, 500],
]

/**
 * Reads an error body, parsed or not: `{ error: { message, code, type } }`, `{ message }`, `{ detail }`, or text. Never
 * throws. `redact` makes texts free of secrets before they are cut.
 */
export function readProviderError(body: unknown, redact?: (text: string) => string): ProviderError {
  const short = (text: string): string => excerpt(text, { redact })
  let value = body
  if (typeof value === 'string') {
    try {
      value = JSON.parse(value)
    } catch {
      return { message: short(value as string) }
    }
  }
  if (Array.isArray(value)) value = value[0]
  if (typeof value !== 'object' || value === null) return { message: short(String(value)) }
  const outer = value as Record<string, unknown>
  const given = outer['error'] ?? outer['detail'] ?? outer
  if (typeof given !== 'object' || given === null) return withStatus({ message: short(String(given)) }, outer)
  const inner = (Array.isArray(given) ? (given[0] ?? {}) : given) as Record<string, unknown>
  const said = inner['message'] ?? inner['msg'] ?? inner['error'] ?? outer['message']
  const metadata = inner['metadata'] as Record<string, unknown> | undefined
  const upstream = typeof metadata?.['raw'] === 'string' ? ` (${metadata['raw']})` : ''
  const message = short((typeof said === 'string' ? said : JSON.stringify(said ?? inner)) + upstream)
  const error: ProviderError = { message }
  const innerError = inner['innererror'] as Record<string, unknown> | undefined
  const code = inner['code'] ?? innerError?.['code'] ?? outer['code']
  if (typeof code === 'string' && code !== '') error.code = code
  const type = inner['type'] ?? inner['status'] ?? outer['type']
  if (typeof type === 'string' && type !== '') error.type = type
  return withStatus(error, inner, outer)
}

function withStatus(error: ProviderError, ...sources: Record<string, unknown>[]): ProviderError {
  for (const source of sources) {
    for (const key of ['status', 'code', 'status_code', 'statusCode']) {
      const number = Number(source[key])
      if (Number.isInteger(number) && number >= 400 && number <= 599) return { ...error, status: number }
    }
  }
  const word = `${error.code ?? ''} ${error.type ?? ''}`
  const status = statusOfType.find(([pattern]) => pattern.test(word))?.[1]
  return status === undefined ? error : { ...error, status }
}

/** What is read of a text; far more than is ever shown of it. */
const mostRead = 20_000

/**
 * A short piece of a text on one line, without markup; 300 characters when no limit is given. `redact` makes it free of
 * secrets before the markup goes and before it is cut, so that no half of one stays.
 */
export function excerpt(
  text: string,
  options: { limit?: number; redact?: ((text: string) => string) | undefined } = {},
): string {
  const { limit = 300, redact = (given) => given } = options
  // The ellipsis tells `redact` that what stands before it may be the beginning of something.
  const read = redact(text.length > mostRead ? `${text.slice(0, mostRead)}…` : text)
  const line = redact(unmarked(read))
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line
}

function unmarked(text: string): string {
  return text
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[a-z!/][^>]*>/gi, ' ')
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim()
}

/** Sayings of providers and servers for "the prompt does not fit". */
const overflow = new RegExp(
  [
    'context[_ ]length[_ ]exceeded',
    'context[_ ]window[_ ]exceeded',
    'exceed_context_size',
    'model_max_prompt_tokens_exceeded',
    'maximum context length',
    'maximum model length',
    'maximum prompt length',
    'max(imum)? input length',
    'maximum (allowed )?(input )?length',
    'maximum number of (input )?tokens allowed',
    'prompt is too long',
    'prompt too long',
    'input is too long',
    'input too long',
    'exceeds?( the)? (available |model.?s? )?(maximum )?context',
    'exceeds?( the| your)? context (window|limit|length|size)',
    'context (window|limit|length|size) (was |is |has been |of [^.]{0,40})?exceed',
    'longer than the (model.?s )?(maximum )?(context|model) length',
    'too (large|long) for (the )?model with \\d+ maximum context',
    'prompt token count of \\d+ exceeds',
    'input token count[^.]{0,40} exceeds',
    'reduce the length of (the|your) (messages|prompt|input|conversation)',
    'inputs? (tokens|length)[^.]{0,60} must (be|have) (<=|less)',
    '`inputs` must have less than',
    'range of input length should be',
    'number of tokens in the prompt (cannot|can not|must not) exceed',
    'prompt contains \\d+ tokens',
    'max_(completion_)?tokens must be at least 1, got -',
    'string_above_max_length',
  ].join('|'),
  'i',
)

/** Sayings for "we do not answer this". */
const refusal = new RegExp(
  [
    'content_filter',
    'content_policy',
    'content policy',
    'content management policy',
    'responsibleaipolicyviolation',
    'data_inspection_failed',
    'moderation_blocked',
    'input was flagged',
    'flagged (by|as|for) ',
    'usage polic(y|ies)',
    'safety (system|filter|guideline|setting)',
    'prohibited_content',
  ].join('|'),
  'i',
)

/** How a failed answer of a provider is to be taken. */
export interface FailureClass {
  /** Fault code, such as `rate_limited`, `http_500`, `bad_request`. */
  code: string
  retryable: boolean
  /** Set when the failure is the agent's own outcome and not a fault of the provider. */
  outcome?: 'context_overflow' | 'refused'
}

/** Statuses after which the same request may succeed: 408, 409, 425, 429 and 5xx, but for those that will not change. */
export function isRetryableStatus(status: number): boolean {
  if (status >= 500) return status !== 501 && status !== 505
  return status === 408 || status === 409 || status === 425 || status === 429
}

/** Classifies a failed answer by its status and error body. */
export function classifyFailure(status: number, error: ProviderError): FailureClass {
  const said = `${error.code ?? ''} ${error.type ?? ''} ${error.message}`
  const mayBeOutcome = status !== 401 && status !== 429 && status < 502
  if (mayBeOutcome && status !== 403 && overflow.test(said))
    return { code: 'context_overflow', retryable: false, outcome: 'context_overflow' }
  if (mayBeOutcome && refusal.test(said)) return { code: 'refused', retryable: false, outcome: 'refused' }
  if (status === 429) {
    const spent =
      /insufficient_quota|quota_exceeded|billing|exceeded your current quota|credit balance/i.test(said)
    return spent ? { code: 'quota_exhausted', retryable: false } : { code: 'rate_limited', retryable: true }
  }
  const retryable = isRetryableStatus(status)
  switch (status) {
    case 400:
    case 422:
      return { code: 'bad_request', retryable }
    case 401:
    case 403:
      return { code: 'unauthorized', retryable }
    case 402:
      return { code: 'quota_exhausted', retryable }
    case 404:
      return { code: 'not_found', retryable }
    default:
      return { code: `http_${status}`, retryable }
  }
}
