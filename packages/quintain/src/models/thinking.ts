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

/** What may still become an opening tag, and the end of a text that may still become a closing one. */
const openingBegun = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/
const closingBegun = /<(?:\/(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/

/**
 * `splitThinking` of a text that comes in pieces: tells reasoning and answer as soon as it is clear which of them a piece
 * is. A text that may begin without its tag (`anywhere`) is held until its tag comes, or its end.
 */
export function createThinkingSplitter(
  where: ThinkTags,
  tell: (kind: 'text' | 'reasoning', text: string) => void,
): { push(text: string): void; end(): void } {
  let at: 'start' | 'thinking' | 'gap' | 'text' = where === 'never' ? 'text' : 'start'
  let held = ''

  function say(kind: 'text' | 'reasoning', text: string): void {
    if (text !== '') tell(kind, text)
  }

  function start(said: string): void {
    const open = openTag.exec(held)
    if (open !== null) {
      held = held.slice(open[0].length)
      at = 'thinking'
    } else if (where === 'leading' && !openingBegun.test(held)) at = 'text'
    // A tag ends where its angle bracket comes; to look for it at every piece would take the square of a long text.
    else if (where === 'anywhere' && said.includes('>')) {
      const close = closeTag.exec(held)
      if (close !== null) at = held.slice(0, close.index).includes('<think') ? 'text' : 'thinking'
    }
  }

  function think(): void {
    const close = closeTag.exec(held)
    if (close !== null) {
      say('reasoning', held.slice(0, close.index))
      held = held.slice(close.index + close[0].length)
      at = 'gap'
      return
    }
    const kept = closingBegun.exec(held)?.index ?? held.length
    say('reasoning', held.slice(0, kept))
    held = held.slice(kept)
  }

  return {
    push(text) {
      held += text
      if (at === 'start') start(text)
      if (at === 'thinking') think()
      if (at === 'gap') {
        held = held.trimStart()
        if (held !== '') at = 'text'
      }
      if (at !== 'text') return
      say('text', held)
      held = ''
    },
    end() {
      say(at === 'thinking' ? 'reasoning' : 'text', held)
      held = ''
    },
  }
}

/** True for text in which a tool call was written, in the spelling of any common chat template. */
export function mentionsToolCall(text: string): boolean {
  return /<tool_call|<\|tool_call|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<invoke /.test(text)
}
