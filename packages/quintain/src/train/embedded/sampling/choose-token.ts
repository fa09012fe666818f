/** How a token is chosen. Temperature 0 takes the likeliest, `topK` 0 and `topP` 1 cut nothing. */
export interface TokenChoice {
  temperature: number
  topK: number
  topP: number
}

/**
 * The token that a draw in [0, 1) means. `topK` is applied before `topP`, both after the temperature, as servers do; among
 * equal logits the lower id goes first. -1 when the logits are no numbers, so that no distribution is there.
 */
export function chooseToken(
  logits: Float32Array,
  { temperature, topK, topP }: TokenChoice,
  draw: number,
): number {
  const best = likeliest(logits)
  if (best === -1 || temperature === 0) return best
  const top = logits[best]!
  const weights = weightsFor(logits.length)
  let total = 0
  for (let id = 0; id < logits.length; id++) {
    const weight = Math.exp((logits[id]! - top) / temperature)
    weights[id] = weight
    total += weight
  }
  if (!Number.isFinite(total)) return -1
  const isCut = (topK > 0 && topK < logits.length) || topP < 1
  if (isCut) total = keepLikeliest(logits, weights, { topK, topP, total })
  return drawn(weights, logits.length, draw * total, best)
}

/** Sets the weights of what is cut to 0, and gives the sum of the others. */
function keepLikeliest(
  logits: Float32Array,
  weights: Float64Array,
  { topK, topP, total }: { topK: number; topP: number; total: number },
): number {
  const order = Array.from(logits, (_, id) => id).sort((a, b) => logits[b]! - logits[a]! || a - b)
  const most = topK > 0 ? Math.min(topK, order.length) : order.length
  let kept = total
  if (most < order.length) {
    kept = 0
    for (let rank = 0; rank < most; rank++) kept += weights[order[rank]!]!
  }
  let sum = 0
  let rank = 0
  while (rank < most && (rank === 0 || sum < topP * kept)) sum += weights[order[rank++]!]!
  for (; rank < order.length; rank++) weights[order[rank]!] = 0
  return sum
}

function drawn(weights: Float64Array, count: number, target: number, best: number): number {
  let sum = 0
  for (let id = 0; id < count; id++) {
    sum += weights[id]!
    if (target < sum) return id
  }
  // Sums in another order may differ in their last bit.
  return best
}

function likeliest(logits: Float32Array): number {
  let best = -1
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!
    if (Number.isNaN(logit) || logit === Infinity) return -1
    if (best === -1 || logit > logits[best]!) best = id
  }
  return best !== -1 && logits[best] === -Infinity ? -1 : best
}

/** One array for all choices of a thread, which are made one after the other. */
let scratch = new Float64Array(0)

function weightsFor(count: number): Float64Array {
  if (scratch.length < count) scratch = new Float64Array(count)
  return scratch
}
