import { stripReasoning } from '../thinking.ts'
import { jsonIn } from './output-json.ts'

/** What a reply comes to; null for one that does not say it plainly. */
export type ReplyScore = { raw: number } | null

const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/**
 * The number of a judge's reply: the whole of it, the field `result` (or `score`) of its JSON, or its last line, bare or after
 * "Score:". Never a number from within a sentence, nor one of a fraction or a percentage.
 */
export function readScoreReply(reply: string): ReplyScore {
  for (const said of verdictsOf(reply, ['result', 'score'])) {
    const raw = typeof said === 'string' ? numberIn(said) : said
    if (typeof raw === 'number' && Number.isFinite(raw)) return { raw: raw + 0 }
  }
  return null
}

/**
 * The label of a judge's reply, as it is written among the labels: the whole reply, the field `result` (or `label`) of its
 * JSON, or its last line. Case and what stands round it (quotes, stars, a final period) do not count.
 */
export function readLabelReply(reply: string, labels: readonly string[]): string | null {
  for (const said of verdictsOf(reply, ['result', 'label'])) {
    const label = typeof said === 'string' ? labelIn(said, labels) : undefined
    if (label !== undefined) return label
  }
  return null
}

/** Where a verdict may stand: the whole reply, then the field of its JSON, or where it is no object its last line. */
function verdictsOf(reply: string, fields: readonly string[]): unknown[] {
  const text = stripReasoning(reply).answer ?? ''
  const fenced = /^```(?:json)?\s*\n([\s\S]*)\n```$/i.exec(text.trim())?.[1] ?? text
  const json = jsonIn(fenced)
  if (typeof json === 'object' && json !== null) {
    const field = fields.find((name) => Object.hasOwn(json, name))
    return field === undefined ? [] : [(json as Record<string, unknown>)[field]]
  }
  const last = text.trimEnd().slice(text.trimEnd().lastIndexOf('\n') + 1)
  const named = /^[\s*_#>]*(?:final\s+)?(?:result|score|label|grade|verdict|answer)[\s*_]*[:=](.*)$/i.exec(
    last,
  )
  return text.trim() === last.trim() && named === null ? [text] : [text, named?.[1] ?? last]
}

function numberIn(text: string): number | undefined {
  const bare = bareOf(text)
  return number.test(bare) ? Number(bare) : undefined
}

function labelIn(text: string, labels: readonly string[]): string | undefined {
  const exact = labels.find((label) => label === text.trim())
  if (exact !== undefined) return exact
  const bare = bareOf(text)
  const alike = labels.filter((label) => bareOf(label).toLowerCase() === bare.toLowerCase())
  return labels.find((label) => label === bare) ?? (alike.length === 1 ? alike[0] : undefined)
}

/** A verdict without what writers put round one. */
function bareOf(text: string): string {
  const round = new Set(' \t\r\n*_`"\'“”‘’')
  let [start, end] = [0, text.length]
  while (start < end && round.has(text[start]!)) start++
  while (end > start && (round.has(text[end - 1]!) || '.!'.includes(text[end - 1]!))) end--
  return text.slice(start, end)
}
