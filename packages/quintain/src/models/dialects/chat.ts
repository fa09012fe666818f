import { readCompletion } from '../completion.ts'
import { buildRequestBody } from '../request-body.ts'
import { createStreamAssembly } from '../stream-assembly.ts'
import { passedOnBody } from './chat-passed-on.ts'
import { chatError, writeChatReply } from './chat-reply.ts'
import { readChatRequest } from './chat-request.ts'
import { chatReplyWriter } from './chat-stream.ts'
import type { Dialect } from './dialect.ts'

/**
 * OpenAI's Chat Completions (https://platform.openai.com/docs/api-reference/chat), with the extras of vLLM, SGLang and
 * llama.cpp that tell what was sampled.
 */
export const chatDialect: Dialect = {
  name: 'chat',
  path: '/chat/completions',
  headers: (apiKey): Record<string, string> =>
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  requestBody: (request, options) =>
    request.wire?.dialect === 'chat'
      ? passedOnBody({ ...request, wire: request.wire }, options)
      : buildRequestBody(request, options),
  readReply: readCompletion,
  replyReader: createStreamAssembly,
  readRequest: readChatRequest,
  writeReply: writeChatReply,
  replyWriter: chatReplyWriter,
  // Calls are what a program names again, in its results; what was recorded of their reply is found by them.
  replyIds: ({ message }) => message.toolCalls?.map(({ id }) => id) ?? [],
  errorBody: chatError,
}
