import { chatError } from './chat-reply.ts'
import type { Dialect } from './dialect.ts'
import { responsesBody } from './responses-body.ts'
import { responsesReplyIds } from './responses-ids.ts'
import { responsesReader } from './responses-reader.ts'
import { readResponsesReply, writeResponsesReply } from './responses-reply.ts'
import { readResponsesRequest } from './responses-request.ts'
import { responsesWriter } from './responses-writer.ts'
import { orRunFault } from './run-fault.ts'

/**
 * OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses), as of `openai` 7.59. Functions are
 * the only tools, since tools that run at the provider would leave the environment; nothing is stored there either.
 */
export const responsesDialect: Dialect = {
  name: 'responses',
  path: '/responses',
  headers: (apiKey): Record<string, string> =>
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  requestBody: (request, options) => orRunFault(request, () => responsesBody(request, options)),
  readReply: readResponsesReply,
  replyReader: responsesReader,
  readRequest: readResponsesRequest,
  writeReply: writeResponsesReply,
  replyWriter: responsesWriter,
  replyIds: responsesReplyIds,
  errorBody: chatError,
}
