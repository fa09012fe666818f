const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const monthName = `(${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')}|sept)\\.?`
const someMonth = /jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/i
const day = '(\\d{1,2})(?:st|nd|rd|th)?'

/** What a text calls a day. Without a year it is that day of any year. */
export interface DayInText {
  /** `2026-05-22`, or `--05-22` without a year. */
  date: string
  /** Where it stands in the text. */
  from: number
  to: number
}

const spellings: { pattern: RegExp; order: ('year' | 'month' | 'day')[] }[] = [
  { pattern: /(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])/g, order: ['year', 'month', 'day'] },
  {
    pattern: new RegExp(`(?<![\\p{L}\\d])${monthName}\\s+${day},?\\s+(\\d{4})(?!\\d)`, 'giu'),
    order: ['month', 'day', 'year'],
  },
  {
    pattern: new RegExp(`(?<![\\p{L}\\d])${day}\\s+(?:of\\s+)?${monthName},?\\s+(\\d{4})(?!\\d)`, 'giu'),
    order: ['day', 'month', 'year'],
  },
  {
    pattern: new RegExp(`(?<![\\p{L}\\d])${monthName}\\s+${day}(?![\\p{L}\\d])`, 'giu'),
    order: ['month', 'day'],
  },
  {
    pattern: new RegExp(`(?<![\\p{L}\\d])${day}\\s+(?:of\\s+)?${monthName}(?![\\p{L}\\d])`, 'giu'),
    order: ['day', 'month'],
  },
]

/**
 * Days that a text names, in order: `2026-05-22`, `May 22, 2026`, `22nd of May 2026`, `22 May`. Forms that different
 * countries read differently, such as 5/6/2026, are left out, since a guess could match the wrong day.
 */
export function daysIn(text: string): DayInText[] {
  // Most texts name no day, and five patterns cost more than a look.
  const named = someMonth.test(text)
  if (!/\d/.test(text) || !(named || /\d-\d/.test(text))) return []
  const found: (Omit<DayInText, 'date'> & { date: string | undefined })[] = []
  for (const { pattern, order } of named ? spellings : spellings.slice(0, 1)) {
    for (const match of text.matchAll(pattern)) {
      const from = match.index
      const to = from + match[0].length
      if (found.some((other) => from < other.to && other.from < to)) continue
      const part = (name: 'year' | 'month' | 'day') => match[order.indexOf(name) + 1] ?? ''
      const date = dayOf(order.includes('year') ? part('year') : undefined, part('month'), part('day'))
      // What is no day is kept as well, so that no shorter reading of it is taken for one.
      found.push({ date, from, to })
    }
  }
  return found
    .flatMap(({ date, from, to }) => (date === undefined ? [] : [{ date, from, to }]))
    .sort((a, b) => a.from - b.from)
}

/** Whether two days may be the same one: a day without a year fits that day of any year. */
export function sameDay(a: string, b: string): boolean {
  return a === b || ((a.startsWith('--') || b.startsWith('--')) && a.slice(-5) === b.slice(-5))
}

/** The day that a whole text is, with its year, as `2026-05-22`. */
export function dateOfText(text: string): string | undefined {
  const [found, ...more] = daysIn(text.trim())
  const whole =
    found !== undefined && more.length === 0 && found.from === 0 && found.to === text.trim().length
  return whole && !found.date.startsWith('--') ? found.date : undefined
}

function dayOf(year: string | undefined, month: string, dayText: string): string | undefined {
  const named = months.findIndex((name) => name.startsWith(month.slice(0, 3).toLowerCase()))
  const number = /^\d/.test(month) ? Number(month) : named + 1
  const d = Number(dayText)
  // 2000 is a leap year, so 29 February is a day of some year.
  if (!isDay(year === undefined ? 2000 : Number(year), number, d)) return undefined
  return `${year ?? '-'}-${String(number).padStart(2, '0')}-${String(d).padStart(2, '0')}`
}

function isDay(year: number, month: number, d: number): boolean {
  if (!(month >= 1 && month <= 12 && d >= 1)) return false
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, d)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === d
}

const dateTime =
  /^\s*(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([Zz]|[+-]\d{2}:?\d{2})?\s*$/

/**
 * One form for all spellings of an instant (RFC 3339, and ISO 8601 where the two agree): UTC, fractions of a second
 * without closing zeros, at any precision. A time without offset keeps none. Undefined for what is no such time.
 */
export function canonicalDateTime(text: string): string | undefined {
  const match = dateTime.exec(text)
  if (match === null) return undefined
  const [year, month, d, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (!isDay(year, month, d) || hour > 23 || minute > 59 || second > 59) return undefined
  const fraction = (match[7] ?? '').replace(/0+$/, '')
  const zone = match[8]
  const shift = zone === undefined || /z/i.test(zone) ? 0 : offsetMinutes(zone)
  if (shift === undefined) return undefined
  const time = new Date(0)
  time.setUTCFullYear(year, month - 1, d)
  time.setUTCHours(hour, minute - shift, second)
  const whole = time.toISOString().replace(/\.000Z$/, '')
  return `${whole}${fraction === '' ? '' : `.${fraction}`}${zone === undefined ? '' : 'Z'}`
}

function offsetMinutes(zone: string): number | undefined {
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(-2))
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
