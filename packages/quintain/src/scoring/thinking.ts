/** A model's text with its reasoning taken apart, as graders read it. */
export interface StrippedReasoning {
  /** What follows the last closed reasoning block, trimmed; null while reasoning is open at the end of the text. */
  answer: string | null
  /** What was inside the blocks, trimmed and joined by a blank line; null where there was no block. */
  reasoning: string | null
}

/** Names of tags that models reason in. */
export const reasoningTags = [
  'think',
  'thinking',
  'thought',
  'reasoning',
  'reflection',
  'scratchpad',
  'seed:think',
] as const

const marks = new RegExp(
  [
    `<\\s?(/?)\\s?(?:${reasoningTags.join('|')})(?:\\s[^<>]{0,200})?>`,
    '\\[(/?)THINK\\]',
    '◁(/?)think▷',
    '<\\|(?:begin|(end))_of_thought\\|>',
    '<\\|(?:START|(END))_THINKING\\|>',
  ].join('|'),
  'gi',
)

/**
 * Takes reasoning out of a text: what counts is what follows the last closing tag. A closing tag without an opening one
 * ends reasoning too, since chat templates write the opening tag into the prompt. Reasoning that is still open at the end
 * has no answer after it, whatever it holds. Of a text in channels (the harmony format: `<|channel|>analysis<|message|>`)
 * what counts is the channel `final`, where it comes last. Never throws.
 */
export function stripReasoning(text: string): StrippedReasoning {
  const channels = channelsOf(text)
  const last = channels.at(-1)
  if (last === undefined) return outsideBlocks(text)
  const thoughts = channels.filter(({ name }) => name !== 'final').map((channel) => channel.text.trim())
  const final = last.name === 'final' ? outsideBlocks(last.text) : { answer: null, reasoning: null }
  const reasoning = [...thoughts, final.reasoning ?? ''].filter((block) => block !== '').join('\n\n')
  return { answer: final.answer, reasoning }
}

const channelMarks =
  /<\|channel\|>\s?([a-z_]{1,20})[^<]{0,200}(?:<\|constrain\|>[^<]{0,100})?<\|message\|>|<\|(?:end|return|call|start|channel)\|>/gi

/** The messages of a text in the harmony format; none for any other. Source: OpenAI, harmony response format. */
function channelsOf(text: string): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = []
  let open: { name: string; from: number } | undefined
  const close = (at: number) => {
    if (open !== undefined) found.push({ name: open.name, text: text.slice(open.from, at) })
    open = undefined
  }
  for (const { index, 0: mark, 1: name } of text.matchAll(channelMarks)) {
    close(index)
    if (name !== undefined) open = { name: name.toLowerCase(), from: index + mark.length }
  }
  close(text.length)
  return found
}

function outsideBlocks(text: string): StrippedReasoning {
  const blocks: string[] = []
  let open: number | undefined
  let from = 0
  let any = false
  for (const match of text.matchAll(marks)) {
    const [tag, ...ends] = match
    const closing = ends.some((part) => part !== undefined && part !== '')
    any = true
    if (!closing) {
      open ??= match.index + tag.length
      continue
    }
    blocks.push(text.slice(open ?? from, match.index).trim())
    open = undefined
    from = match.index + tag.length
  }
  if (!any) return { answer: text.trim(), reasoning: null }
  if (open !== undefined) blocks.push(text.slice(open).trim())
  const reasoning = blocks.filter((block) => block !== '').join('\n\n')
  return { answer: open === undefined ? text.slice(from).trim() : null, reasoning }
}
