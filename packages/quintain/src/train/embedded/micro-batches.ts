import type { Datum } from '../engine.ts'
import { unitsOf } from '../losses-sequence.ts'

/**
 * Datums whose loss is computed at once, as places in the data, rising. Their tokens fit a micro-batch as a rule, and there is
 * one piece; a unit that is longer has several, which are computed one after the other.
 */
export type Part = readonly (readonly number[])[]

/** Share of the data, whose parts are computed in their order. */
export type DataShare = readonly Part[]

/** Tokens of some data. */
export function tokensOf(data: readonly Pick<Datum, 'input'>[]): number {
  return data.reduce((sum, { input }) => sum + input.length, 0)
}

/**
 * Data in so many shares of about as many tokens, whole units at a time, and each share in parts of at most `most` tokens. The
 * same data and number of shares give the same parts.
 */
export function microBatches(data: readonly Datum[], count: number, most: number): DataShare[] {
  const units = unitsOf(data).map((members) => ({
    members,
    tokens: tokensOf(members.map((member) => data[member]!)),
  }))
  const total = tokensOf(data)
  const shares: (typeof units)[] = Array.from({ length: count }, () => [])
  let before = 0
  for (const unit of units) {
    // The share in which the middle of the unit falls.
    const middle = (before + unit.tokens / 2) / total
    shares[Math.min(count - 1, Math.floor(middle * count))]!.push(unit)
    before += unit.tokens
  }
  return shares.map((share) => partsOf(share, data, most))
}

function partsOf(
  units: readonly { members: readonly number[]; tokens: number }[],
  data: readonly Datum[],
  most: number,
): Part[] {
  const total = units.reduce((sum, { tokens }) => sum + tokens, 0)
  // Parts of about one size: a small rest at the end would be computed at a bad rate.
  const aim = total / Math.max(1, Math.ceil(total / most))
  const parts: Part[] = []
  let members: number[] = []
  let tokens = 0
  const close = (): void => {
    if (members.length > 0) parts.push([members])
    members = []
    tokens = 0
  }
  for (const unit of units) {
    if (unit.tokens > most) {
      close()
      parts.push(piecesOf(unit.members, data, most))
      continue
    }
    if (tokens + unit.tokens > most || tokens >= aim) close()
    members.push(...unit.members)
    tokens += unit.tokens
  }
  close()
  return parts
}

function piecesOf(members: readonly number[], data: readonly Datum[], most: number): number[][] {
  const pieces: number[][] = [[]]
  let tokens = 0
  for (const member of members) {
    const length = data[member]!.input.length
    if (tokens > 0 && tokens + length > most) {
      pieces.push([])
      tokens = 0
    }
    pieces.at(-1)!.push(member)
    tokens += length
  }
  return pieces
}
