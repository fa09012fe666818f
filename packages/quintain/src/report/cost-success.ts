import type { Comparison } from './compare.ts'
import { dollarText, scoreText } from './number-text.ts'
import { printableLine } from './printable.ts'

/** A run as a point of cost against success. */
export interface CostSuccessPoint {
  letter: string
  label: string
  /** Success, or the mean reward where success is not declared; null where there is no headline. */
  value: number | null
  interval: [number, number] | null
  /** US dollars of an order; null is unknown, never zero. */
  cost: number | null
  /** No other run is as good for less, or better for as much. False for one that has no place in the picture. */
  frontier: boolean
}

/** What a picture of cost against success shows. */
export interface CostSuccess {
  measure: 'success' | 'reward'
  points: CostSuccessPoint[]
}

type Placed = CostSuccessPoint & { value: number; cost: number }

/** Points that have both numbers. */
export function placedPoints(points: readonly CostSuccessPoint[]): Placed[] {
  return points.filter((point): point is Placed => point.value !== null && point.cost !== null)
}

function beats(a: Placed, b: Placed): boolean {
  return a.cost <= b.cost && a.value >= b.value && (a.cost < b.cost || a.value > b.value)
}

/** The runs of a comparison by what an order costs and how well it goes. */
export function costSuccess({ runs, measure }: Comparison): CostSuccess {
  const points = runs.map((run): CostSuccessPoint => {
    const { value, interval, method } = measure === 'success' ? run.success : run.reward
    return {
      letter: run.letter,
      label: run.player,
      value,
      interval: value === null || method === 'none' ? null : interval,
      cost: run.costPerOrder,
      frontier: false,
    }
  })
  const placed = placedPoints(points)
  for (const point of placed) point.frontier = !placed.some((other) => beats(other, point))
  return { measure, points }
}

/** Where the picture begins and ends, and where a number lies in it, from 0 to 1. */
export interface Axis {
  from: number
  to: number
  log: boolean
  at(value: number): number
}

function axis(from: number, to: number, log: boolean): Axis {
  const scale = log ? Math.log : (value: number) => value
  const width = scale(to) - scale(from)
  return { from, to, log, at: (value) => Math.min(1, Math.max(0, (scale(value) - scale(from)) / width)) }
}

/** Above this ratio of the dearest to the cheapest a line of dollars would put all but one of them into a corner. */
const logFrom = 8
/** US dollars below which a cost is as good as none. */
const asGoodAsNone = 1e-9

export function costAxis(points: readonly Placed[]): Axis {
  const costs = points.map(({ cost }) => cost)
  const [least, most] = [Math.min(...costs), Math.max(...costs)]
  if (least > asGoodAsNone && most / least > logFrom) return axis(least / 1.5, most * 1.5, true)
  return axis(0, most > asGoodAsNone ? most * 1.1 : 1, false)
}

export function valueAxis(points: readonly Placed[], measure: 'success' | 'reward'): Axis {
  if (measure === 'success') return axis(0, 1, false)
  const values = points.flatMap(({ value, interval }) => [value, ...(interval ?? [])])
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const room = high > low ? 0.05 * (high - low) : 1
  return axis(low - room, high + room, false)
}

/** What is said of a point in words; whatever is unknown is said aloud. */
export function pointText({ value, interval, cost, frontier }: CostSuccessPoint, measure: string): string {
  const bounds =
    interval === null ? ' (no interval)' : ` [${interval.map((bound) => scoreText(bound)).join(', ')}]`
  const good = value === null ? `${measure} not known` : `${measure} ${scoreText(value)}${bounds}`
  const dear = cost === null ? 'cost unknown' : `${dollarText(cost)} an order`
  const absent = value === null || cost === null ? '; not in the picture' : ''
  return `${good}, ${dear}${absent}${frontier ? '; on the frontier' : ''}`
}

export function labelOf({ label }: CostSuccessPoint): string {
  return printableLine(label, 60)
}
