/** A day that a text names by its distance from another. */
export interface RelativeDay {
  /** `2026-08-29`. */
  date: string
  /** Where it stands in the text. */
  from: number
  to: number
}

const numbers: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
}
const count = (name: string) => `(?<${name}>\\d{1,4}|${Object.keys(numbers).join('|')})`
const pattern = new RegExp(
  [
    '(?<word>day after tomorrow|day before yesterday|tomorrow|today|tonight|yesterday)',
    `in ${count('ahead')} (?<aheadUnit>days?|weeks?)`,
    `${count('from')} (?<fromUnit>days?|weeks?) from (?:now|today)`,
    `${count('ago')} (?<agoUnit>days?|weeks?) ago`,
  ]
    .map((part) => `\\b(?:${part})\\b`)
    .join('|'),
  'gi',
)
const fixed: Readonly<Record<string, number>> = {
  'day before yesterday': -2,
  yesterday: -1,
  today: 0,
  tonight: 0,
  tomorrow: 1,
  'day after tomorrow': 2,
}

/**
 * Days that a text names relative to a reference day, in order: "tomorrow", "in two weeks", "3 days ago". The reference
 * is the world's own day (`clock`), never the day on which somebody grades. What people read differently, such as "next
 * Monday", is left out.
 */
export function relativeDaysIn(text: string, reference: string): RelativeDay[] {
  const start = Date.parse(`${reference.slice(0, 10)}T00:00:00Z`)
  if (Number.isNaN(start)) return []
  return [...text.matchAll(pattern)].flatMap((match) => {
    const date = new Date(start + distance(match.groups ?? {}) * 86_400_000)
    if (Number.isNaN(date.getTime())) return []
    return [{ date: date.toISOString().slice(0, 10), from: match.index, to: match.index + match[0].length }]
  })
}

/** Days from the reference; NaN for what is not understood. */
function distance(groups: Readonly<Record<string, string | undefined>>): number {
  const { word, ahead, from, ago } = groups
  if (word !== undefined) return fixed[word.toLowerCase()] ?? Number.NaN
  const given = (ahead ?? from ?? ago ?? '').toLowerCase()
  const unit = groups['aheadUnit'] ?? groups['fromUnit'] ?? groups['agoUnit'] ?? ''
  return (ago === undefined ? 1 : -1) * (numbers[given] ?? Number(given)) * (/^week/i.test(unit) ? 7 : 1)
}
