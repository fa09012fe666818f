import type { ReplyDelta } from '../core/wire.ts'
import { createCallAssembly } from './call-assembly.ts'
import { createCallTeller } from './call-teller.ts'
import type { RawCompletion, RawMessage } from './completion.ts'
import type { ReaderOptions, ReplyReader } from './dialects/dialect.ts'
import { excerpt, isRetryableStatus, type ProviderError, readProviderError } from './provider-error.ts'
import { createWeightLog, promptIdsOf, sampledTokens, weightVersionOf } from './sampled-tokens.ts'
import { createThinkingSplitter } from './thinking.ts'

/** How a stream stands. Only `complete` is a reply; what came before an error or a torn end is never one. */
export type StreamEnd =
  | { state: 'complete'; completion: RawCompletion }
  | { state: 'incomplete'; message: string }
  | { state: 'error'; error: ProviderError; retryable: boolean }

/**
 * Assembles the chunks of a chat completion stream (OpenAI's shape, with the token ids of vLLM, SGLang and llama.cpp) into
 * one completion, and tells them as they come.
 */
export function createStreamAssembly(options: ReaderOptions = {}): ReplyReader {
  const { redact = (text) => text, onDelta } = options
  const tellPieces = onDelta !== undefined && options.as !== 'events'
  const message: RawMessage = {}
  const assembly = createCallAssembly()
  const completion: RawCompletion = { message }
  let content: string | undefined
  let warnings = 0
  let chunks = 0
  let over = false
  let finished = false
  let torn: string | undefined
  let error: ProviderError | undefined

  const weights = createWeightLog()
  const thinking = createThinkingSplitter(options.thinkTags ?? 'leading', (type, text) =>
    tell({ type, text }),
  )
  const calls = createCallTeller(assembly, { taken: options.taken, tell })
  /** The field that reasoning comes in; some servers send the same text in two. */
  let reasoningField: string | undefined

  function tell(delta: ReplyDelta): void {
    if (tellPieces) onDelta(delta)
  }

  function sampled(): number {
    return completion.outputIds?.length ?? completion.logprobs?.length ?? 0
  }

  function tellText(key: string, text: string): void {
    if (text === '') return
    if (key === 'refusal') tell({ type: 'refusal', text })
    if (key !== 'reasoning' && key !== 'reasoning_content') return
    reasoningField ??= key
    if (key === reasoningField) tell({ type: 'reasoning', text })
  }

  function addDelta(delta: RawMessage): void {
    for (const key in delta) {
      const value = delta[key]
      if (value === null || value === undefined) continue
      if (key === 'content' && typeof value === 'string') {
        content = (content ?? '') + value
        if (tellPieces) thinking.push(value)
      } else if (key === 'tool_calls') {
        if (Array.isArray(value)) for (const call of value) assembly.push(call)
      } else if (key === 'function_call') assembly.push({ function: value })
      else if (key === 'role') message['role'] = value
      else {
        if (tellPieces && typeof value === 'string') tellText(key, value)
        const before = message[key]
        if (typeof value === 'string' && typeof before === 'string') message[key] = before + value
        else if (Array.isArray(value) && Array.isArray(before)) before.push(...(value as unknown[]))
        else message[key] = Array.isArray(value) ? [...(value as unknown[])] : value
      }
    }
    if (tellPieces) calls.progress()
  }

  function addTokens(choice: RawMessage): void {
    const promptIds = promptIdsOf({}, choice)
    if (promptIds !== undefined) completion.promptIds ??= promptIds
    const { ids, logprobs, tokens } = sampledTokens(choice)
    if (ids !== undefined) completion.outputIds = joined(completion.outputIds, ids)
    if (logprobs !== undefined) completion.logprobs = joined(completion.logprobs, logprobs)
    if (tokens !== undefined) completion.logprobTokens = joined(completion.logprobTokens, tokens)
  }

  function addChunk(chunk: RawMessage): void {
    chunks++
    if (typeof chunk['id'] === 'string' && chunk['id'] !== '') completion.id ??= chunk['id']
    if (typeof chunk['model'] === 'string' && chunk['model'] !== '') completion.model ??= chunk['model']
    if (chunk['usage']) completion.usage = chunk['usage']
    const choices = chunk['choices']
    const version = weightVersionOf(chunk, Array.isArray(choices) ? (choices[0] as RawMessage) : undefined)
    if (version !== undefined) {
      completion.weightVersion = version
      weights.note(version, sampled())
    }
    const promptIds = promptIdsOf(chunk, undefined)
    if (promptIds !== undefined) completion.promptIds ??= promptIds
    if (!Array.isArray(choices)) return
    for (const raw of choices) {
      if (typeof raw !== 'object' || raw === null) continue
      const choice = raw as RawMessage
      if (typeof choice['index'] === 'number' && choice['index'] !== 0) {
        completion.others = true
        continue
      }
      if (typeof choice['error'] === 'object' && choice['error'] !== null)
        error ??= readProviderError(choice, redact)
      const delta = choice['delta'] ?? choice['message']
      if (typeof delta === 'object' && delta !== null) addDelta(delta as RawMessage)
      addTokens(choice)
      const finish = choice['finish_reason']
      if (typeof finish === 'string' && finish !== '') {
        completion.finish = finish
        finished = true
      }
    }
  }

  return {
    get warnings() {
      return warnings
    },
    push(data, event) {
      if (over || error !== undefined) return false
      const text = data.trim()
      if (text === '[DONE]') {
        over = true
        return false
      }
      if (!text.startsWith('{')) {
        if (event === 'error') error = readProviderError(text, redact)
        else warnings++
        return error === undefined
      }
      let chunk: RawMessage
      try {
        chunk = JSON.parse(text) as RawMessage
      } catch {
        torn = excerpt(text, { limit: 120, redact })
        return true
      }
      if (event === 'error' || chunk['error'] || chunk['object'] === 'error') {
        error = readProviderError(chunk, redact)
        return false
      }
      addChunk(chunk)
      if (onDelta !== undefined && !tellPieces && error === undefined && !gaveUp(completion.finish))
        onDelta({
          type: 'event',
          ...(event === undefined ? {} : { event }),
          data: onOneLine(text, chunk),
          json: chunk,
        })
      return error === undefined
    },
    end() {
      if (error !== undefined) {
        const retryable = error.status === undefined || isRetryableStatus(error.status)
        return { state: 'error', error, retryable }
      }
      if (torn !== undefined) return { state: 'incomplete', message: `a chunk is no JSON: ${torn}` }
      if (!finished && !(over && chunks > 0)) {
        return { state: 'incomplete', message: 'the stream stopped before its end' }
      }
      if (content !== undefined || message['content'] === undefined) message['content'] = content ?? null
      thinking.end()
      if (tellPieces) calls.end()
      const made = assembly.calls()
      if (made.length > 0) message['tool_calls'] = made
      completion.weightSpans = weights.spans(sampled())
      return { state: 'complete', completion }
    },
  }
}

/** A finish by which a server says that the reply is none. */
export function gaveUp(finish: string | undefined): boolean {
  return finish === 'abort' || finish === 'error'
}

/** JSON may come on several lines of an event; it goes on as one. */
function onOneLine(text: string, json: RawMessage): string {
  return text.includes('\n') ? JSON.stringify(json) : text
}

function joined<T>(list: T[] | undefined, more: readonly T[]): T[] {
  const all = list ?? []
  for (const item of more) all.push(item)
  return all
}
