import type { ChatRow, TokenRow } from './training-row.ts'

/** Schema and version of a line of rows; docs/rows.md lists its fields. */
export const rowSchema = { schema: 'quintain.row', v: 1 } as const

/** A row as one line of JSON, without a line end. Log-probabilities come back from it as the same Float32. */
export function rowLine(row: TokenRow | ChatRow): string {
  if (row.exactness === 'text-only') return JSON.stringify({ ...rowSchema, ...row })
  const { ids, mask, logprobs, spans, ...rest } = row
  return JSON.stringify({
    ...rowSchema,
    ...rest,
    ids: Array.from(ids),
    mask: Array.from(mask),
    // Nine digits tell any two Float32 apart; more would only be the digits of a Float64.
    logprobs: Array.from(logprobs, (value) => Number(value.toPrecision(9))),
    spans,
  })
}
