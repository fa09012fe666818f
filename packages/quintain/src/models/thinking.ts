/**
 * Where reasoning in tags is looked for:
 * - `never`: the text is the answer as it stands.
 * - `leading`: a text that begins with `<think>`; no model that does not reason writes that.
 * - `anywhere`: also a closing tag without an opening one, which the chat template had written into the prompt.
 */
export type ThinkTags = 'never' | 'leading' | 'anywhere'

export interface SplitThinking {
  /** What was said after the reasoning; empty while the reasoning is unterminated. */
  content: string
  /** The text between the tags, as it was sampled; undefined when there was none. */
  reasoning: string | undefined
  /** The reasoning does not end. */
  unterminated: boolean
  /** The text before the reasoning and the break after it, so that the sampled text can be put together again. */
  around: { open: string; close: string }
}

const openTag = /^\s*<think(?:ing)?>/
const closeTag = /<\/think(?:ing)?>\s*/

/** Parts reasoning in `<think>` tags from the answer. */
export function splitThinking(text: string, where: ThinkTags): SplitThinking {
  const whole = {
    content: text,
    reasoning: undefined,
    unterminated: false,
    around: { open: '', close: '' },
  }
  if (where === 'never') return whole
  const open = openTag.exec(text)?.[0]
  if (open === undefined && where === 'leading') return whole
  const from = open?.length ?? 0
  const rest = text.slice(from)
  const close = closeTag.exec(rest)
  if (close === null) {
    if (open === undefined) return whole
    return { content: '', reasoning: rest, unterminated: true, around: { open, close: '' } }
  }
  if (open === undefined && rest.slice(0, close.index).includes('<think')) return whole
  return {
    content: rest.slice(close.index + close[0].length),
    reasoning: rest.slice(0, close.index),
    unterminated: false,
    around: { open: open ?? '', close: close[0] },
  }
}

/** True for text in which a tool call was written, in the spelling of any common chat template. */
export function mentionsToolCall(text: string): boolean {
  return /<tool_call|<\|tool_call|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<invoke /.test(text)
}
