import type { Content, Message, ToolSpec } from '../../core/index.ts'
import { howToSpeak } from '../session/how-to-speak.ts'
import type { ListedTask, Opening, SessionCore } from '../session/session.ts'
import type { JsonObject } from './json.ts'
import { reservedTools } from './paths.ts'
import { shownText } from './shown-text.ts'

/** Which agent of NeMo Gym plays. */
export type NemoAgent = 'simple' | 'gymnasium'

export interface NemoRowsOptions {
  /**
   * `simple`: an agent that calls tools until it says something, as `simple_agent` and those of verifiers do; where the
   * environment answers, it speaks by a tool. `gymnasium`: one that sends each turn. `simple` when absent.
   */
  agent?: NemoAgent
  /** Name of the agent's instance in the configuration of NeMo Gym, which sends a row to the agent that it names. */
  agentName?: string
}

/** Tasks whose worlds are looked at, at once. */
const atOnce = 8

/**
 * Rows of a split, as NeMo Gym and verifiers read them: what the agent begins with, and the name of the task. Public only:
 * what a row does not have, a trainer cannot show. Throws `unknown_split` and what a world that does not open throws.
 */
export async function* nemoRows(
  core: SessionCore,
  split: string,
  options: NemoRowsOptions = {},
): AsyncGenerator<JsonObject> {
  for (let from = 0; ; from += atOnce) {
    const tasks = await core.tasks(split, from, from + atOnce)
    if (tasks.length === 0) return
    yield* await Promise.all(tasks.map((task) => nemoRow(core, task, options)))
  }
}

/** The row of one task. */
export async function nemoRow(
  core: SessionCore,
  { id, split, index }: ListedTask,
  { agent = 'simple', agentName }: NemoRowsOptions = {},
): Promise<JsonObject> {
  const { environment } = core
  const opening = await core.preview(
    { id },
    {
      answerTool: agent === 'simple' && environment.needs.includes('turns'),
      reserved: reservedTools,
    },
  )
  return {
    responses_create_params: {
      input: inputOf(opening),
      ...(opening.tools.length === 0 ? {} : { tools: opening.tools.map(functionTool) }),
    },
    task_id: id,
    verifier_metadata: {
      quintain: { environment: environment.name, version: environment.version, split, task: id, index },
    },
    ...(agentName === undefined ? {} : { agent_ref: { type: 'responses_api_agents', name: agentName } }),
  }
}

function functionTool({ name, description, parameters }: ToolSpec): JsonObject {
  // Not strict: that mode asks that every argument be required, and would change the schemas.
  return { type: 'function', name, description: description ?? '', parameters, strict: false }
}

function inputOf(opening: Opening): JsonObject[] {
  const told = howToSpeak(opening)
  const { messages } = opening
  if (told === undefined) return messages.flatMap(itemsOf)
  const [first, ...rest] = messages
  if (first?.role !== 'system') return [{ role: 'system', content: told }, ...messages.flatMap(itemsOf)]
  return [...itemsOf(withText(first, told)), ...rest.flatMap(itemsOf)]
}

function withText<M extends Message>(message: M, text: string): M {
  const { content } = message
  if (typeof content === 'string') return { ...message, content: `${content}\n\n${text}` }
  return { ...message, content: [...content, { type: 'text', text }] }
}

/** A message as items of the Responses API. */
function itemsOf(message: Message): JsonObject[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.toolCallId, output: shownText(message.content) }]
  if (message.role !== 'assistant') return [{ role: message.role, content: inputContent(message.content) }]
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: given }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: given,
  }))
  const said = shownText(message.content)
  return [...(said === '' && calls.length > 0 ? [] : [{ role: 'assistant', content: said }]), ...calls]
}

function inputContent(content: Content): string | JsonObject[] {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'text') return { type: 'input_text', text: part.text }
    const url =
      part.url ?? (part.data === undefined ? undefined : `data:${part.mediaType};base64,${part.data}`)
    if (url === undefined) return { type: 'input_text', text: '[an image that is not at hand]' }
    return { type: 'input_image', image_url: url, detail: part.detail ?? 'auto' }
  })
}
