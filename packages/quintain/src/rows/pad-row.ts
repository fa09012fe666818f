import type { TokenRow } from './training-row.ts'

/** A row made longer for a batch. All four arrays have one length. */
export interface PaddedRow extends Pick<TokenRow, 'ids' | 'mask' | 'logprobs'> {
  /** 1 for the tokens of the row, 0 for what was put behind them. */
  attention: Uint8Array
}

/**
 * Fills a row up to `length` tokens with `pad`. What is padding is told by length, never by the id: the token that pads is
 * often the one that ends a turn. Throws `RangeError` for a row that is longer; `maxLength` of `trainingRows` cuts.
 */
export function padRow(
  { ids, mask, logprobs }: Pick<TokenRow, 'ids' | 'mask' | 'logprobs'>,
  { length, pad }: { length: number; pad: number },
): PaddedRow {
  if (ids.length > length) throw new RangeError(`a row of ${ids.length} tokens does not fit into ${length}`)
  const padded: PaddedRow = {
    ids: new Int32Array(length).fill(pad),
    mask: new Uint8Array(length),
    logprobs: new Float32Array(length),
    attention: new Uint8Array(length).fill(1, 0, ids.length),
  }
  padded.ids.set(ids)
  padded.mask.set(mask)
  padded.logprobs.set(logprobs)
  return padded
}
