import { type Extraction, none } from './extraction.ts'

/** The body of the last closed fence, of any language. A fence that is never closed is no candidate. */
export function lastCodeBlock(text: string): Extraction {
  let open: { fence: string; from: number } | undefined
  let last: string | undefined
  let at = 0
  for (const line of text.split('\n')) {
    const fence = /^[ \t]{0,3}(`{3,}|~{3,})(.*)$/s.exec(line)
    if (open === undefined && fence !== null) open = { fence: fence[1]!, from: at + line.length + 1 }
    else if (
      open !== undefined &&
      fence !== null &&
      fence[1]!.startsWith(open.fence) &&
      fence[2]!.trim() === ''
    ) {
      last = text.slice(open.from, Math.max(open.from, at - 1))
      open = undefined
    }
    at += line.length + 1
  }
  if (last === undefined) return none(open === undefined ? 'no_candidate' : 'unclosed')
  return { answer: last }
}
