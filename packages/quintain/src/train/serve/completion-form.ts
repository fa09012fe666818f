import type { CompletionAsk } from './completion-ask.ts'
import type { EndedReply, ReplyForm, TokenTexts } from './reply-form.ts'

/** Replies as completions (https://platform.openai.com/docs/api-reference/completions), with vLLM's `token_ids`. */
export function completionForm(ask: CompletionAsk, texts: TokenTexts): ReplyForm {
  function logprobs(ids: readonly number[], values: readonly number[], from: number): object | null {
    if (!ask.logprobs) return null
    const tokens = ids.map((id) => texts.of(id, ask))
    let offset = from
    const offsets = ids.map((id) => {
      const at = offset
      offset += texts.of(id, { idsAsTokens: false }).length
      return at
    })
    return { tokens, token_logprobs: values, top_logprobs: null, text_offset: offsets }
  }

  const prompt = (ids: Int32Array | undefined) =>
    ask.tokenIds && ids !== undefined ? { prompt_token_ids: [...ids] } : {}
  const tokens = (ids: readonly number[]) => (ask.tokenIds ? { token_ids: ids } : {})
  const finish = ({ finish, stoppedBy }: EndedReply) => ({ finish_reason: finish, stop_reason: stoppedBy })

  return {
    object: 'text_completion',
    chunkObject: 'text_completion',
    idPrefix: 'cmpl-',
    promptInBody: false,
    whole: (reply) => ({
      index: reply.index,
      text: reply.text,
      logprobs: logprobs(reply.ids, reply.logprobs, 0),
      ...finish(reply),
      ...prompt(reply.prompt),
      ...tokens(reply.ids),
    }),
    piece: ({ index, prompt: ids, text, ids: sampled, logprobs: values, offset }) => ({
      index,
      text,
      logprobs: logprobs(sampled, values, offset),
      finish_reason: null,
      ...prompt(ids),
      ...tokens(sampled),
    }),
    end: (reply) => ({ index: reply.index, text: '', logprobs: null, ...finish(reply) }),
  }
}
