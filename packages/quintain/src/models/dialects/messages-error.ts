import type { ReplyError } from './dialect.ts'

/** Anthropic's word for an error of an HTTP status. */
function errorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error'
    case 402:
      return 'billing_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 413:
      return 'request_too_large'
    case 429:
      return 'rate_limit_error'
    case 504:
      return 'timeout_error'
    case 529:
      return 'overloaded_error'
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error'
  }
}

/** The body of an error as Anthropic writes it, with our own word for it beside theirs. */
export function messagesErrorBody(error: ReplyError): Record<string, unknown> {
  const { status, code, message, param } = error
  return {
    type: 'error',
    error: {
      type: errorType(status),
      message,
      code,
      ...(param === undefined ? {} : { param }),
      // By this the provider's SDK knows to send the conversation whole.
      ...(param === 'thread'
        ? { details: { error_code: 'thread_unsupported_request', unsupported: [] } }
        : {}),
    },
    request_id: null,
  }
}
