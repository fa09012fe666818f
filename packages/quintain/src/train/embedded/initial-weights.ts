import { createRng } from '../../core/index.ts'
import { type EmbeddedShape, tensorsOf } from './shape.ts'

/**
 * Weights to begin from: gains are one, embeddings normal with spread 1, matrices normal with spread 1 / sqrt(inputs), those that write
 * to the residual stream less by sqrt(2 layers) (Radford et al., GPT-2), and the head a tenth, so that the first
 * distributions are almost even. The same seed gives the same bits.
 */
export function initialWeights(shape: EmbeddedShape, seed: string): Float32Array {
  const tensors = tensorsOf(shape)
  const last = tensors.at(-1)!
  const weights = new Float32Array(last.offset + last.length)
  for (const { name, role, shape: sizes, offset, length } of tensors) {
    const values = weights.subarray(offset, offset + length)
    if (role === 'gain') {
      values.fill(1)
      continue
    }
    const inputs = sizes[0]!
    const spread =
      role === 'embedding'
        ? 1
        : role === 'head'
          ? 0.1 / Math.sqrt(inputs)
          : role === 'residual'
            ? 1 / Math.sqrt(inputs * 2 * shape.layers)
            : 1 / Math.sqrt(inputs)
    fillNormal(values, spread, `${seed}/${name}`)
  }
  return weights
}

/** Box and Muller's pairs. */
function fillNormal(values: Float32Array, spread: number, seed: string): void {
  const rng = createRng(seed)
  for (let at = 0; at < values.length; at += 2) {
    const radius = spread * Math.sqrt(-2 * Math.log(1 - rng.next()))
    const angle = 2 * Math.PI * rng.next()
    values[at] = radius * Math.cos(angle)
    if (at + 1 < values.length) values[at + 1] = radius * Math.sin(angle)
  }
}
