import { logprobsOf, type RawCompletion, type RawMessage } from './completion.ts'
import { parseJsonAt } from './json-parse.ts'
import { excerpt, isRetryableStatus, type ProviderError, readProviderError } from './provider-error.ts'

/** How a stream stands. Only `complete` is a reply; what came before an error or a torn end is never one. */
export type StreamEnd =
  | { state: 'complete'; completion: RawCompletion }
  | { state: 'incomplete'; message: string }
  | { state: 'error'; error: ProviderError; retryable: boolean }

interface CallDraft {
  index: number | undefined
  id: string
  name: string
  arguments: string
}

/**
 * Puts the deltas of tool calls together. Calls are told apart by index, id and name, whichever a server gives; empty
 * strings mean absent; arguments are joined as they come.
 */
export function createCallAssembly(): { push(delta: unknown): void; calls(): RawMessage[] } {
  const drafts: CallDraft[] = []

  function isOpen(draft: CallDraft): boolean {
    if (draft.arguments === '') return false
    const parsed = parseJsonAt(draft.arguments, 0, { duplicateKeys: 'last' })
    return !parsed.ok && parsed.failure === 'truncated'
  }

  function target(index: number | undefined, id: string, name: string): CallDraft | undefined {
    if (index !== undefined) {
      const same = drafts.findLast((draft) => draft.index === index)
      if (same === undefined) return undefined
      // Some servers number every call 0, others invent an id per chunk: a new id starts a call only with a name.
      const another = id !== '' && same.id !== '' && id !== same.id && name !== ''
      return another && !isOpen(same) ? undefined : same
    }
    if (id !== '') {
      const same = drafts.findLast((draft) => draft.id === id)
      if (same !== undefined) return same
      const last = drafts.at(-1)
      return name === '' && last !== undefined && last.id === '' ? last : undefined
    }
    const last = drafts.at(-1)
    if (last === undefined || name === '') return last
    return name === last.name && (isOpen(last) || last.arguments === '') ? last : undefined
  }

  return {
    push(raw) {
      if (typeof raw !== 'object' || raw === null) return
      const delta = raw as RawMessage
      const inner = (
        typeof delta['function'] === 'object' && delta['function'] !== null ? delta['function'] : {}
      ) as RawMessage
      const given = delta['index']
      const index =
        typeof given === 'number'
          ? given
          : typeof given === 'string' && given !== ''
            ? Number(given)
            : undefined
      const rawId = delta['id']
      const id = typeof rawId === 'string' ? rawId : typeof rawId === 'number' ? String(rawId) : ''
      const rawName = inner['name'] ?? delta['name']
      const name = typeof rawName === 'string' ? rawName : ''
      const rawText = inner['arguments'] ?? delta['arguments']
      const text =
        typeof rawText === 'string'
          ? rawText
          : typeof rawText === 'object' && rawText !== null
            ? JSON.stringify(rawText)
            : ''

      let draft = target(index, id, name)
      if (draft === undefined) {
        if (id === '' && name === '' && text === '') return
        draft = { index, id, name, arguments: text }
        drafts.push(draft)
        return
      }
      if (draft.id === '') draft.id = id
      if (name !== '' && name !== draft.name) {
        // A name may come in pieces, but only before the arguments do.
        if (draft.arguments === '') draft.name += name
      }
      draft.arguments += text
    },
    calls() {
      const inOrder = drafts.every((draft) => draft.index !== undefined)
        ? drafts.toSorted((a, b) => a.index! - b.index!)
        : drafts
      return inOrder.map(({ id, name, arguments: text }) => ({ id, function: { name, arguments: text } }))
    },
  }
}

/** Assembles the chunks of a chat completion stream (OpenAI's shape, with vLLM's token ids) into one completion. */
export function createStreamAssembly(
  options: {
    /** Makes texts of the server free of secrets before they are cut for a message. */
    redact?: (text: string) => string
  } = {},
): {
  /** One event's data. Returns false once the stream has said that it is over. */
  push(data: string, event?: string): boolean
  /** What came, given that no more will. */
  end(): StreamEnd
  /** Events that were skipped because they hold no JSON, such as a gateway's comments. */
  readonly warnings: number
} {
  const { redact = (text) => text } = options
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

  function addIds(ids: unknown): void {
    if (!Array.isArray(ids)) return
    completion.outputIds ??= []
    for (const id of ids) completion.outputIds.push(Number(id))
  }

  function addDelta(delta: RawMessage): void {
    for (const [key, value] of Object.entries(delta)) {
      if (value === null || value === undefined) continue
      if (key === 'content' && typeof value === 'string') content = (content ?? '') + value
      else if (key === 'tool_calls') {
        if (Array.isArray(value)) for (const call of value) assembly.push(call)
      } else if (key === 'function_call') assembly.push({ function: value })
      else if (key === 'role') message['role'] = value
      else {
        const before = message[key]
        if (typeof value === 'string' && typeof before === 'string') message[key] = before + value
        else if (Array.isArray(value) && Array.isArray(before)) before.push(...(value as unknown[]))
        else message[key] = Array.isArray(value) ? [...(value as unknown[])] : value
      }
    }
  }

  function addChunk(chunk: RawMessage): void {
    chunks++
    if (typeof chunk['id'] === 'string' && chunk['id'] !== '') completion.id ??= chunk['id']
    if (typeof chunk['model'] === 'string' && chunk['model'] !== '') completion.model ??= chunk['model']
    if (chunk['usage']) completion.usage = chunk['usage']
    if (chunk['weight_version'] !== undefined) completion.weightVersion = chunk['weight_version']
    if (Array.isArray(chunk['prompt_token_ids']))
      completion.promptIds ??= chunk['prompt_token_ids'] as number[]
    const choices = chunk['choices']
    if (!Array.isArray(choices)) return
    for (const raw of choices) {
      if (typeof raw !== 'object' || raw === null) continue
      const choice = raw as RawMessage
      if (typeof choice['index'] === 'number' && choice['index'] !== 0) continue
      if (typeof choice['error'] === 'object' && choice['error'] !== null)
        error ??= readProviderError(choice, redact)
      const delta = choice['delta'] ?? choice['message']
      if (typeof delta === 'object' && delta !== null) addDelta(delta as RawMessage)
      addIds(choice['token_ids'])
      const logprobs = logprobsOf(choice)
      if (logprobs !== undefined) {
        completion.logprobs ??= []
        completion.logprobs.push(...logprobs.logprobs)
        completion.logprobTokens ??= []
        completion.logprobTokens.push(...logprobs.tokens)
      }
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
      return true
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
      const calls = assembly.calls()
      if (calls.length > 0) message['tool_calls'] = calls
      return { state: 'complete', completion }
    },
  }
}
