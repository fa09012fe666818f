const dayMs = 86_400_000

/** The day that the desk is open: the first day of the engine's clock. */
export const today = '2026-01-01'

/** Days by their number: a task works out some ten of the same few hundred, and a Date for each would take longer. */
const written = new Map<number, string>()

/** A day so many days after another, or before it. */
export function dayAfter(day: string, days: number): string {
  const [year, month, date] = [day.slice(0, 4), day.slice(5, 7), day.slice(8)].map(Number) as [
    number,
    number,
    number,
  ]
  const number = Date.UTC(year, month - 1, date) / dayMs + days
  let text = written.get(number)
  if (text === undefined) {
    text = new Date(number * dayMs).toISOString().slice(0, 10)
    written.set(number, text)
  }
  return text
}

/** Days after delivery in which a customer may return or exchange. */
export const returnDays = { standard: 30, gold: 60 } as const
