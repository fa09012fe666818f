import type { AssistantMessage, Message, ToolSpec } from '../core/index.ts'

/** Why a reply ended: it sampled its end, or it came to its length. */
export type Termination = 'stop' | 'length'

/**
 * Turns conversations into the tokens of a policy and back. A conversation that goes on is rendered by its addition
 * (`renderNext`), never again from its text: what was sampled stays as it was sampled.
 */
export interface Renderer {
  readonly vocabulary: number
  /** Ids that end a reply. */
  readonly stop: readonly number[]
  /** The prompt of a reply to these messages. */
  render(messages: readonly Message[], tools?: readonly ToolSpec[]): Int32Array
  /**
   * What comes between the end of a reply and the next prompt: its end where it was cut before it sampled one, then the
   * messages since, then the beginning of a reply.
   */
  renderNext(messages: readonly Message[], ended: Termination): Int32Array
  /** A conversation to imitate: its ids, and 1 for each token of a message that is to be learned, its end included. */
  renderExample(
    messages: readonly Message[],
    trained: readonly boolean[],
    tools?: readonly ToolSpec[],
  ): { ids: Int32Array; mask: Uint8Array }
  /** The message that sampled ids say; what is malformed is in `flags` (`no_end`, `malformed_call`), never thrown. */
  parse(
    ids: Int32Array,
    options?: { tools?: readonly ToolSpec[] },
  ): { message: AssistantMessage; flags: string[] }
  /** Ids of a text that is nobody's message. Throws `prompt_invalid` for text that no token covers. */
  encode(text: string): Int32Array
  /** The text of ids, for streams and for people. */
  text(ids: Int32Array): string
  /** What the renderer is, so that a checkpoint carries it. Vocabulary, roles, template. */
  describe(): RendererDescription
}

/** A renderer as data: `renderer.json` of a checkpoint. */
export interface RendererDescription {
  schema: 'quintain.renderer'
  v: 1
  /**
   * Texts of the tokens after the special ones, the longest that fits is taken; `bytes` is the 256 bytes. Text that no
   * token covers is `prompt_invalid`.
   */
  vocabulary: 'bytes' | readonly string[]
  /**
   * What is left out of a conversation: system messages and the first user message, which games want, or all that the
   * environment says, tools included. A policy of the last knows when it is its turn and nothing else.
   */
  omit?: readonly ('system' | 'first_user' | 'observations')[]
}
