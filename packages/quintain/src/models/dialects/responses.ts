import type { Dialect } from './dialect.ts'
import { DialectError } from './dialect.ts'

function notYet(): never {
  throw new DialectError('unsupported', 'The Responses dialect is not written yet.')
}

/** OpenAI's Responses API. */
export const responsesDialect: Dialect = {
  name: 'responses',
  path: '/responses',
  headers: notYet,
  requestBody: notYet,
  readReply: notYet,
  replyReader: notYet,
  readRequest: notYet,
  writeReply: notYet,
  replyWriter: notYet,
  errorBody: notYet,
}
