import type { ReplyError } from './dialect.ts'

/** OpenAI's word for an error of an HTTP status. */
export function openaiErrorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 429:
      return 'rate_limit_error'
    default:
      return status >= 500 ? 'server_error' : 'invalid_request_error'
  }
}

/** The body of an error as OpenAI writes it. */
export function responsesErrorBody(error: ReplyError): Record<string, unknown> {
  const { status, code, message, param = null } = error
  return { error: { message, type: openaiErrorType(status), param, code } }
}
