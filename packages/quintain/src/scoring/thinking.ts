/** A model's text with its reasoning taken apart, as graders read it. */
export interface StrippedReasoning {
  /** What follows the last closed reasoning block, trimmed; null while reasoning is open at the end of the text. */
  answer: string | null
  /** What was inside the blocks, trimmed and joined by a blank line; null where there was no block. */
  reasoning: string | null
}

/** Names of tags that models reason in. */
export const reasoningTags = ['think', 'thinking', 'thought', 'reasoning'] as const

const marks =
  /<(\/?)(?:think|thinking|thought|reasoning)(?:\s[^<>]{0,200})?>|\[(\/?)THINK\]|◁(\/?)think▷|<\|(?:begin|(end))_of_thought\|>/gi

/**
 * Takes reasoning out of a text: what counts is what follows the last closing tag. A closing tag without an opening one
 * ends reasoning too, since chat templates write the opening tag into the prompt. Reasoning that is still open at the end
 * has no answer after it, whatever it holds. Never throws.
 */
export function stripReasoning(text: string): StrippedReasoning {
  const blocks: string[] = []
  let open: number | undefined
  let from = 0
  let any = false
  for (const match of text.matchAll(marks)) {
    const [tag, slash, squareSlash, kimiSlash, end] = match
    const closing = [slash, squareSlash, kimiSlash, end].some((part) => part !== undefined && part !== '')
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
