import type { Decoder } from '../decoder.ts'

/**
 * A decoder whose logits are a hash of the weights and of all that the cache holds up to the row: a stale key or value, one
 * of other weights, or one that was never computed gives other logits.
 */
export function hashDecoder(
  sizes: { vocabulary?: number; context?: number; slots?: number; maxRows?: number } = {},
): Decoder & { rowsDecoded: number; poison?: number } {
  const { vocabulary = 7, context = 64, slots = 8, maxRows = 32 } = sizes
  const logitStride = vocabulary + 1
  const kept = Array.from({ length: slots }, () => new Float64Array(context).fill(-1))
  const logits = new Float32Array(maxRows * logitStride)
  const logSumExp = new Float32Array(maxRows)
  const row = (): Int32Array => new Int32Array(maxRows)
  const rows = { slots: row(), positions: row(), tokens: row(), wanted: row() }
  return {
    vocabulary,
    context,
    slots,
    maxRows,
    rows,
    logitStride,
    logSumExp,
    rowsDecoded: 0,
    decode(weights, count) {
      if (count > maxRows) throw new RangeError('more rows than fit')
      this.rowsDecoded += count
      let wanted = 0
      for (let at = 0; at < count; at++) {
        const cache = kept[rows.slots[at]!]!
        const position = rows.positions[at]!
        // Keys and values hang on what is before them, as in the real one.
        cache[position] = hashed((position === 0 ? 0 : cache[position - 1]!) + weights, rows.tokens[at]!)
        if (rows.wanted[at] === 0) continue
        const from = wanted * logitStride
        let sum = 0
        for (let id = 0; id < vocabulary; id++) {
          const logit =
            this.poison === weights ? Number.NaN : Math.fround((hashed(cache[position]!, id) % 4096) / 1024)
          logits[from + id] = logit
          sum += Math.exp(logit)
        }
        logSumExp[wanted++] = Math.log(sum)
      }
      return logits
    },
    copy(from, to, positions) {
      kept[to]!.set(kept[from]!.subarray(0, positions))
    },
  }
}

function hashed(state: number, token: number): number {
  let bits = Math.imul(state ^ Math.imul(token + 1, 0x9e3779b1), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
