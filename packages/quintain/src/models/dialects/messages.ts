import type { Dialect } from './dialect.ts'
import { DialectError } from './dialect.ts'

function notYet(): never {
  throw new DialectError('unsupported', 'The Messages dialect is not written yet.')
}

/** Anthropic's Messages API. */
export const messagesDialect: Dialect = {
  name: 'messages',
  path: '/messages',
  headers: notYet,
  requestBody: notYet,
  readReply: notYet,
  replyReader: notYet,
  readRequest: notYet,
  writeReply: notYet,
  replyWriter: notYet,
  errorBody: notYet,
}
