import { type EmbeddedShape, tensorsOf } from '../shape.ts'

/**
 * The same transformer in plain double precision, written from its definition and from nothing of the kernels: what they are
 * held against. One sequence; gives the log-probability of each target and the entropy at it.
 */
export function referenceScores(
  shape: EmbeddedShape,
  weights: Float64Array,
  { input, target }: { input: ArrayLike<number>; target: ArrayLike<number> },
): { logprobs: number[]; entropies: number[] } {
  const { layers, width, heads, vocabulary } = shape
  const tensors = new Map(
    tensorsOf(shape).map(({ name, offset, length }) => [name, weights.subarray(offset, offset + length)]),
  )
  const tensor = (name: string): Float64Array => tensors.get(name)!
  const embedding = tensor('embedding')
  const rows: number[][] = Array.from(input, (id) => [...embedding.subarray(id * width, (id + 1) * width)])
  for (let layer = 0; layer < layers; layer++) {
    const own = (name: string): Float64Array => tensor(`layers.${layer}.${name}`)
    const mixed = rows.map((row) => times(normed(row, own('attention.norm')), own('attention.qkv')))
    const queries = mixed.map((row, at) => turned(row.slice(0, width), heads, at))
    const keys = mixed.map((row, at) => turned(row.slice(width, 2 * width), heads, at))
    const values = mixed.map((row) => row.slice(2 * width))
    const attended = queries.map((query, at) =>
      attention(query, keys.slice(0, at + 1), values.slice(0, at + 1), heads),
    )
    for (const [at, row] of attended.entries()) add(rows[at]!, times(row, own('attention.out')))
    for (const row of rows) {
      const hidden = times(normed(row, own('feed_forward.norm')), own('feed_forward.up'))
      add(
        row,
        times(
          hidden.map((value) => Math.max(0, value) ** 2),
          own('feed_forward.down'),
        ),
      )
    }
  }
  const logprobs: number[] = []
  const entropies: number[] = []
  rows.forEach((row, at) => {
    const logits = times(normed(row, tensor('norm')), tensor('head'))
    const peak = Math.max(...logits)
    const total = peak + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - peak), 0))
    logprobs.push(logits[target[at]!]! - total)
    entropies.push(-logits.reduce((sum, logit) => sum + Math.exp(logit - total) * (logit - total), 0))
  })
  if (embedding.length !== vocabulary * width) throw new Error('the weights are of another shape')
  return { logprobs, entropies }
}

function normed(row: readonly number[], gain: Float64Array): number[] {
  const square = row.reduce((sum, value) => sum + value * value, 0) / row.length
  return row.map((value, at) => (value / Math.sqrt(square + 1e-5)) * gain[at]!)
}

function times(row: readonly number[], matrix: Float64Array): number[] {
  const columns = matrix.length / row.length
  return Array.from({ length: columns }, (_, column) =>
    row.reduce((sum, value, at) => sum + value * matrix[at * columns + column]!, 0),
  )
}

/** Rotary positions: the pairs (i, i + half) of each head. */
function turned(row: readonly number[], heads: number, position: number): number[] {
  const half = row.length / heads / 2
  return row.map((value, at) => {
    const within = at % (2 * half)
    const pair = within % half
    const angle = position * 10_000 ** (-pair / half)
    const other = within < half ? -row[at + half]! : row[at - half]!
    return value * Math.cos(angle) + other * Math.sin(angle)
  })
}

function attention(
  query: readonly number[],
  keys: readonly (readonly number[])[],
  values: readonly (readonly number[])[],
  heads: number,
): number[] {
  const size = query.length / heads
  return query.map((_, column) => {
    const head = Math.floor(column / size)
    const scores = keys.map((key) => {
      let sum = 0
      for (let at = head * size; at < (head + 1) * size; at++) sum += query[at]! * key[at]!
      return sum / Math.sqrt(size)
    })
    const peak = Math.max(...scores)
    const shares = scores.map((score) => Math.exp(score - peak))
    const total = shares.reduce((sum, share) => sum + share, 0)
    return shares.reduce((sum, share, at) => sum + (share / total) * values[at]![column]!, 0)
  })
}

function add(row: number[], addition: readonly number[]): void {
  addition.forEach((value, at) => {
    row[at]! += value
  })
}
