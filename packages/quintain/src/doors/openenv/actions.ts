import { invalid } from './refusals.ts'

/** What a client does in a step. `id` names it: a step of the name of the one before is that one again. */
export type Action =
  | { kind: 'list_tools' }
  | {
      kind: 'call_tool'
      name: string
      arguments: unknown
      id: string | undefined
      /** Ours: what the model wrote beside the call, and the name of the reply that it is of. */
      text: string | undefined
      batch: string | undefined
    }
  | { kind: 'message'; message: string; id: string | undefined }
  /** Ours: the agent's part is over although it has not said so. */
  | { kind: 'finish'; answer: string | undefined }

export interface ActionForms {
  /** A model's text comes as an action by itself: whatever JSON it wrote is what it says. */
  speaks: boolean
}

/**
 * Reads an action. Clients that make one of what a model wrote try it as JSON first, so that `42` comes as a number and an
 * answer in JSON as an object without `message`: both are meant as text. Throws a `Refusal` for what is none.
 */
export function actionOf(given: unknown, { speaks }: ActionForms): Action {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('An action is a JSON object.')
  const fields = given as Record<string, unknown>
  const { metadata, type } = fields
  const about = typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {}
  const id = nameIn(about, 'call_id')
  if (type === 'list_tools' && !('tool_name' in fields)) return { kind: 'list_tools' }
  if (type === 'finish' && !('message' in fields))
    return { kind: 'finish', answer: fields['answer'] === undefined ? undefined : asText(fields['answer']) }
  if (type === 'call_tool' || (type === undefined && 'tool_name' in fields)) {
    const { tool_name: name, arguments: args } = fields
    if (typeof name !== 'string' || name === '') throw invalid('"tool_name" of a call is the name of a tool.')
    const { text } = about
    return {
      kind: 'call_tool',
      name,
      arguments: args ?? {},
      id,
      text: typeof text === 'string' ? text : undefined,
      batch: nameIn(about, 'batch'),
    }
  }
  if ('message' in fields) return { kind: 'message', message: asText(fields['message']), id }
  const { metadata: _, ...said } = fields
  if (speaks && Object.keys(said).length > 0) return { kind: 'message', message: asText(said), id }
  throw invalid(
    speaks
      ? 'An action is { "message": text }.'
      : 'An action is { "type": "call_tool", "tool_name": name, "arguments": {…} } or { "type": "list_tools" }.',
  )
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function nameIn(about: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = about[key]
  return typeof value === 'string' && value !== '' && value.length <= 256 ? value : undefined
}
