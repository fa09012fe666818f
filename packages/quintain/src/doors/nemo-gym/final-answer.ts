import { isObject } from './json.ts'

/** A call that a model made, as the Responses API writes it. */
export interface FunctionCall {
  callId: string
  name: string
  /** JSON text as the model wrote it, valid or not. */
  arguments: string
}

/**
 * The agent's last word in the output of a response: what it said after its last tool call. Undefined where it said
 * nothing after that, such as when its steps ran out: what stands before a call was not its answer.
 */
export function finalAnswer(output: readonly unknown[]): string | undefined {
  let answer: string | undefined
  for (const item of output) {
    if (!isObject(item)) continue
    const type = item['type'] ?? 'message'
    if (type === 'message' && item['role'] === 'assistant') answer = textOfItem(item)
    // A custom call is a call too, and so is whatever a provider's own tools do.
    else if (typeof type === 'string' && /_call(_output)?$/.test(type)) answer = undefined
  }
  return answer
}

/** All that was said in one turn of a model. */
export function saidIn(output: readonly unknown[]): string {
  return output
    .filter(isObject)
    .filter((item) => (item['type'] ?? 'message') === 'message' && item['role'] === 'assistant')
    .map(textOfItem)
    .join('')
}

/** The tools that were called in one turn of a model, in order. */
export function callsIn(output: readonly unknown[]): FunctionCall[] {
  return output.filter(isObject).flatMap((item) => {
    const { type, name, call_id: callId, arguments: given } = item
    if (type !== 'function_call' || typeof name !== 'string' || typeof callId !== 'string') return []
    return [{ callId, name, arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}) }]
  })
}

function textOfItem(item: Record<string, unknown>): string {
  const { content } = item
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter(isObject)
    .map((part) => (part['type'] === 'output_text' || part['type'] === 'text' ? part['text'] : ''))
    .filter((text) => typeof text === 'string')
    .join('')
}
