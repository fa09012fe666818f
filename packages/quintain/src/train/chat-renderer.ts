import { z } from 'zod'
import { QuintainError } from '../core/errors.ts'
import type { AssistantMessage, Content, Message } from '../core/message.ts'
import type { ToolSpec } from '../core/model.ts'
import { extractToolCalls, normalizeToolCalls } from '../models/index.ts'
import type { Renderer, RendererDescription, Termination } from './renderer.ts'
import { byteVocabulary, specialId, specialTokens, textVocabulary, type Vocabulary } from './vocabulary.ts'

/** `renderer.json` of a checkpoint. */
export const rendererDescription = z.object({
  schema: z.literal('quintain.renderer'),
  v: z.literal(1),
  vocabulary: z.union([z.literal('bytes'), z.array(z.string())]),
  omit: z.array(z.enum(['system', 'first_user', 'observations'])).exactOptional(),
})

/**
 * Conversations for a small policy: each message is opened by the token of its role, and what a model said is closed by
 * `<end>`. Tools are a system message of JSON lines before all others, and calls stand in a reply as
 * `<tool_call>{"name": …, "arguments": …}</tool_call>`, as many chat templates have them; both need a vocabulary that can
 * write any text. Reasoning is not rendered.
 *
 * Throws `options_invalid` for a vocabulary that is none. Its methods throw `prompt_invalid` for what cannot be rendered:
 * text that the vocabulary does not cover, images, tools with a vocabulary of given texts.
 *
 * @example
 * const renderer = chatRenderer({ vocabulary: ['a', 'b', 'aG', 'bG'], omit: ['system', 'first_user'] })
 */
export function chatRenderer(description: Pick<RendererDescription, 'vocabulary' | 'omit'>): Renderer {
  return new ChatRenderer(description)
}

const [assistant, end] = [specialId('<assistant>'), specialId('<end>')]
const opening = {
  system: specialId('<system>'),
  user: specialId('<user>'),
  assistant,
  tool: specialId('<tool>'),
}

class ChatRenderer implements Renderer {
  readonly stop = [end]
  private readonly words: Vocabulary
  private readonly texts: 'bytes' | readonly string[]
  private readonly omitted: ReadonlySet<NonNullable<RendererDescription['omit']>[number]>

  constructor({ vocabulary, omit = [] }: Pick<RendererDescription, 'vocabulary' | 'omit'>) {
    this.texts = vocabulary
    this.words = vocabulary === 'bytes' ? byteVocabulary() : textVocabulary(vocabulary)
    this.omitted = new Set(omit)
  }

  get vocabulary(): number {
    return this.words.size
  }

  render(messages: readonly Message[], tools?: readonly ToolSpec[]): Int32Array {
    const ids: number[] = []
    this.putTools(tools, ids)
    for (const message of this.shown(messages)) this.put(message, ids)
    ids.push(assistant)
    return Int32Array.from(ids)
  }

  renderNext(messages: readonly Message[], ended: Termination): Int32Array {
    const ids = ended === 'stop' ? [] : [end]
    for (const message of messages) {
      if (message.role !== 'system' || !this.omitted.has('system')) this.put(message, ids)
    }
    ids.push(assistant)
    return Int32Array.from(ids)
  }

  renderExample(
    messages: readonly Message[],
    trained: readonly boolean[],
    tools?: readonly ToolSpec[],
  ): { ids: Int32Array; mask: Uint8Array } {
    if (trained.length !== messages.length) {
      throw new QuintainError(
        'datum_invalid',
        `An example has ${messages.length} messages and says of ${trained.length} whether they are learned: one for each is needed.`,
      )
    }
    const ids: number[] = []
    const learned: [from: number, to: number][] = []
    this.putTools(tools, ids)
    const shown = new Set(this.shown(messages))
    messages.forEach((message, at) => {
      if (!shown.has(message)) return
      const from = ids.length + 1
      this.put(message, ids)
      if (trained[at] && message.role === 'assistant') learned.push([from, ids.length])
    })
    const mask = new Uint8Array(ids.length)
    for (const [from, to] of learned) mask.fill(1, from, to)
    return { ids: Int32Array.from(ids), mask }
  }

  parse(
    ids: Int32Array,
    { tools = [] }: { tools?: readonly ToolSpec[] } = {},
  ): { message: AssistantMessage; flags: string[] } {
    const flags: string[] = []
    const stopped = ids.indexOf(end)
    if (stopped === -1) flags.push('no_end')
    const said = stopped === -1 ? ids : ids.subarray(0, stopped)
    if (said.some((id) => id < specialTokens.length)) flags.push('special_token')
    const text = this.words.decode(said)
    if (tools.length === 0) return { message: { role: 'assistant', content: text }, flags }
    const { calls, malformed } = extractToolCalls(text)
    if (malformed > 0) flags.push('malformed_call')
    if (calls.length === 0) return { message: { role: 'assistant', content: text }, flags }
    const raw = calls.map(({ name, arguments: given }) => ({ name, arguments: given }))
    const message: AssistantMessage = {
      role: 'assistant',
      content: text.replace(/<tool_call>.*?(<\/tool_call>|$)/gs, '').trimEnd(),
      toolCalls: normalizeToolCalls(raw).calls,
    }
    return { message, flags }
  }

  encode(text: string): Int32Array {
    const ids: number[] = []
    this.words.encode(text, ids)
    return Int32Array.from(ids)
  }

  text(ids: Int32Array): string {
    let text = ''
    let from = 0
    for (let at = 0; at <= ids.length; at++) {
      const special = specialTokens[ids[at] ?? -1]
      if (at < ids.length && special === undefined) continue
      text += this.words.decode(ids.subarray(from, at)) + (special ?? '')
      from = at + 1
    }
    return text
  }

  describe(): RendererDescription {
    return {
      schema: 'quintain.renderer',
      v: 1,
      vocabulary: this.texts,
      ...(this.omitted.size === 0 ? {} : { omit: [...this.omitted] }),
    }
  }

  /** The messages of a whole conversation that are rendered. */
  private shown(messages: readonly Message[]): readonly Message[] {
    if (this.omitted.size === 0) return messages
    const first = messages.find(({ role }) => role === 'user')
    return messages.filter(
      (message) =>
        !(message.role === 'system' && this.omitted.has('system')) &&
        !(message === first && this.omitted.has('first_user')),
    )
  }

  private putTools(tools: readonly ToolSpec[] = [], ids: number[]): void {
    if (tools.length === 0 || this.omitted.has('observations')) return
    if (!this.words.isWhole) {
      throw new QuintainError(
        'prompt_invalid',
        `The environment has tools (${tools.map(({ name }) => name).join(', ')}) and the policy's vocabulary of given texts cannot write calls. Use the vocabulary \`bytes\`, or an environment without tools.`,
        { facts: { tools: tools.map(({ name }) => name) } },
      )
    }
    ids.push(opening.system)
    const lines = tools.map(({ name, description, parameters }) =>
      JSON.stringify({ name, description, parameters }),
    )
    this.words.encode(lines.join('\n'), ids)
  }

  private put(message: Message, ids: number[]): void {
    ids.push(opening[message.role])
    if (message.role !== 'assistant' && this.omitted.has('observations')) return
    this.words.encode(textIn(message.content), ids)
    if (message.role !== 'assistant') return
    for (const { name, arguments: given } of message.toolCalls ?? []) {
      this.words.encode(`<tool_call>${callText(name, given)}</tool_call>`, ids)
    }
    ids.push(end)
  }
}

/** Arguments stay as they were written where they are JSON; what is none becomes a text, so that the call stays JSON. */
function callText(name: string, given: string): string {
  return `{"name":${JSON.stringify(name)},"arguments":${isJson(given) ? given : JSON.stringify(given)}}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function textIn(content: Content): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => {
      if (part.type === 'text') return part.text
      throw new QuintainError(
        'prompt_invalid',
        'The conversation has an image, and the policy reads text alone. Leave images out of the observation.',
      )
    })
    .join('')
}
