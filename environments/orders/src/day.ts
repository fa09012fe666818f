const dayMs = 86_400_000

/** The day that the desk is open: the first day of the engine's clock. */
export const today = '2026-01-01'

/** A day so many days after another, or before it. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)
}

/** Days after delivery in which a customer may return or exchange. */
export const returnDays = { standard: 30, gold: 60 } as const
