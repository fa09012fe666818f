/** A fenced block of a page of the manual. */
export interface Block {
  /** Line of the opening fence, from 1. */
  line: number
  /** The first word after the fence: `ts`, `sh`, `json`, `text`, … */
  language: string
  /** The words behind it, which no reader of the page sees: `part=field`, `skip="needs a model"`, `output`. */
  words: Readonly<Record<string, string>>
  code: string
}

const fence = /^(`{3,})\s*(\S*)\s*(.*)$/

/** The fenced blocks of a Markdown text, in order. Throws for a block that is not closed. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let open: { line: number; ticks: string; language: string; words: string; lines: string[] } | undefined
  for (const [index, line] of markdown.split(/\r?\n/).entries()) {
    if (open === undefined) {
      const [, ticks, language = '', words = ''] = fence.exec(line) ?? []
      if (ticks !== undefined) open = { line: index + 1, ticks, language, words, lines: [] }
    } else if (line.trimEnd() === open.ticks) {
      const code = `${open.lines.join('\n')}\n`
      blocks.push({ line: open.line, language: open.language, words: wordsOf(open.words), code })
      open = undefined
    } else open.lines.push(line)
  }
  if (open !== undefined) throw new Error(`the block that opens in line ${open.line} is not closed`)
  return blocks
}

function wordsOf(text: string): Record<string, string> {
  const words: Record<string, string> = {}
  for (const [, name, quoted, bare] of text.matchAll(/([\w-]+)(?:="([^"]*)"|=(\S+))?/g)) {
    words[name!] = quoted ?? bare ?? ''
  }
  return words
}

/** The commands of a shell block: one per line, lines that end in `\` joined, comments left out. */
export function commandsOf(code: string): string[] {
  return code
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
}

/** The arguments of a command line; quotes hold words together. */
export function argumentsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
}

/** Paths of a page's relative links, without their anchors. */
export function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^(`{3,})[\s\S]*?^\1\s*$/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
}

const masks: [RegExp, string][] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?Z)?/g, 'TIME'],
  // Short ones have twelve digits.
  [/\b(?:[0-9a-f]{12}|[0-9a-f]{16,64})\b/g, 'DIGEST'],
  [/\b\d+(?:\.\d+)? (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)*/g, 'SPAN'],
  [/\bv?\d+\.\d+\.\d+\b/g, 'VERSION'],
]

/** A line without what differs between two runs of the same thing: times, ids, digests, versions, and how wide a column is. */
export function maskedLine(line: string): string {
  let text = line
  for (const [pattern, word] of masks) text = text.replace(pattern, word)
  return text.replace(/\s+/g, ' ').trim()
}

/**
 * What a page shows of a command's output against what the command printed: undefined when they agree, else the first
 * line that differs. A line `…` stands for any lines; times, ids, digests and versions are not compared.
 */
export function outputDifference(shown: string, printed: string): string | undefined {
  const lines = (text: string) =>
    text
      .split('\n')
      .map(maskedLine)
      .filter((line) => line !== '')
  const actual = lines(printed)
  let at = 0
  let anywhere = false
  for (const wanted of lines(shown)) {
    if (wanted === '…') {
      anywhere = true
      continue
    }
    const found = anywhere ? actual.indexOf(wanted, at) : at
    if (actual[found] !== wanted) {
      return `the page shows\n  ${wanted}\nand the command printed\n  ${anywhere ? 'nothing like it' : (actual[at] ?? 'nothing more')}`
    }
    at = found + 1
    anywhere = false
  }
  if (!anywhere && at < actual.length) return `the command also printed\n  ${actual[at]}`
  return undefined
}
