import type { AssistantMessage } from '../../core/index.ts'
import type { ChatAsk } from './chat-ask.ts'
import type { EndedReply, ReplyForm, ReplyPiece, TokenTexts } from './reply-form.ts'

/** Replies as chat completions (https://platform.openai.com/docs/api-reference/chat), with vLLM's `token_ids`. */
export function chatForm(ask: ChatAsk, texts: TokenTexts): ReplyForm {
  function logprobs(ids: readonly number[], values: readonly number[]): Record<string, unknown> | null {
    if (!ask.logprobs) return null
    const content = ids.map((id, at) => {
      const token = texts.of(id, ask)
      // Half a character has bytes that its text does not tell.
      const bytes = ask.idsAsTokens || token.includes('\uFFFD') ? null : [...Buffer.from(token)]
      return { token, logprob: values[at], bytes, top_logprobs: [] }
    })
    return { content, refusal: null }
  }

  const tokens = (ids: readonly number[]) => (ask.tokenIds ? { token_ids: ids } : {})
  const finish = ({ finish, message, stoppedBy }: EndedReply) => ({
    finish_reason: message.toolCalls === undefined ? finish : 'tool_calls',
    stop_reason: stoppedBy,
  })

  return {
    object: 'chat.completion',
    chunkObject: 'chat.completion.chunk',
    idPrefix: 'chatcmpl-',
    promptInBody: true,
    whole: (reply) => ({
      index: reply.index,
      message: chatMessage(reply.message),
      logprobs: logprobs(reply.ids, reply.logprobs),
      ...finish(reply),
      ...tokens(reply.ids),
    }),
    piece: ({ index, prompt, text, ids, logprobs: values }: ReplyPiece) => ({
      index,
      // What is said where tools may be called is known at the end: until then it may be half a call.
      delta: {
        ...(prompt === undefined ? {} : { role: 'assistant' }),
        content: ask.tools === undefined ? text : '',
      },
      logprobs: logprobs(ids, values),
      finish_reason: null,
      ...tokens(ids),
    }),
    end(reply) {
      const {
        role: _role,
        refusal: _refusal,
        content,
        tool_calls: calls,
        ...more
      } = chatMessage(reply.message)
      const numbered = Array.isArray(calls)
        ? { tool_calls: calls.map((call: object, index) => ({ index, ...call })) }
        : {}
      const delta = ask.tools === undefined ? more : { content, ...numbered, ...more }
      return { index: reply.index, delta, logprobs: null, ...finish(reply) }
    },
  }
}

/** A reply's message as it is sent; null beside tool calls where nothing is said, as OpenAI has it. */
export function chatMessage({ content, toolCalls, extra }: AssistantMessage): Record<string, unknown> {
  const calls = toolCalls?.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }))
  return {
    role: 'assistant',
    content: calls !== undefined && content === '' ? null : content,
    refusal: null,
    ...(calls === undefined ? {} : { tool_calls: calls }),
    ...extra,
  }
}
