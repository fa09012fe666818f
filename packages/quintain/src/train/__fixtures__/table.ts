import type { Datum } from '../engine.ts'

/** Logits of what comes next, or what belongs to each of them. */
export type Row = Float64Array

/** What decides the id after place `t`. */
export function keyOf(ids: ArrayLike<number>, t: number, order: number): string {
  let key = ''
  for (let at = Math.max(0, t - order + 1); at <= t; at++) key += `${ids[at]},`
  return key
}

/** A row that was never trained is all zeros. */
export function logSumExp(logits: Row | undefined, vocabulary: number): number {
  if (logits === undefined) return Math.log(vocabulary)
  let most = Number.NEGATIVE_INFINITY
  for (const logit of logits) if (logit > most) most = logit
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - most)
  return most + Math.log(sum)
}

/** Log-probabilities of the targets, and entropies at them. */
export function scored(
  data: readonly Pick<Datum, 'input' | 'target'>[],
  table: ReadonlyMap<string, Row>,
  order: number,
  vocabulary: number,
): { logprobs: Float32Array[]; entropies: Float32Array[] } {
  const logprobs: Float32Array[] = []
  const entropies: Float32Array[] = []
  for (const { input, target } of data) {
    const own = new Float32Array(target.length)
    const entropy = new Float32Array(target.length)
    for (let t = 0; t < target.length; t++) {
      const logits = table.get(keyOf(input, t, order))
      const total = logSumExp(logits, vocabulary)
      own[t] = (logits?.[target[t]!] ?? 0) - total
      entropy[t] = logits === undefined ? total : entropyOf(logits, total)
    }
    logprobs.push(own)
    entropies.push(entropy)
  }
  return { logprobs, entropies }
}

function entropyOf(logits: Row, total: number): number {
  return logits.reduce((sum, logit) => sum + Math.exp(logit - total) * (total - logit), 0)
}
