import type { Dialect } from './dialect.ts'
import { messagesBody } from './messages-body.ts'
import { messagesErrorBody } from './messages-error.ts'
import { messagesReader } from './messages-reader.ts'
import { messagesReplyIds, readMessagesReply, writeMessagesReply } from './messages-reply.ts'
import { readMessagesRequest } from './messages-request.ts'
import { messagesWriter } from './messages-writer.ts'
import { orRunFault } from './run-fault.ts'

/**
 * Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages), as of `@anthropic-ai/sdk` 1.14. Tools are
 * those that the program itself carries out, since tools that run at the provider would leave the environment.
 */
export const messagesDialect: Dialect = {
  name: 'messages',
  path: '/messages',
  headers: (apiKey): Record<string, string> => ({
    'anthropic-version': '2023-06-01',
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
  }),
  requestBody: (request, options) => orRunFault(request, () => messagesBody(request, options)),
  readReply: readMessagesReply,
  replyReader: messagesReader,
  readRequest: readMessagesRequest,
  writeReply: writeMessagesReply,
  replyWriter: messagesWriter,
  replyIds: messagesReplyIds,
  errorBody: messagesErrorBody,
}
