import { QuintainError } from '../../core/errors.ts'
import type { ModelShape } from '../engine.ts'

/** Sizes of an embedded policy: a decoder-only transformer with rotary positions and untied output. */
export interface EmbeddedShape {
  layers: number
  width: number
  /** Heads of `width / heads` each, which is a multiple of 8. */
  heads: number
  /** A multiple of 8. */
  feedForward: number
  vocabulary: number
  /** Most tokens of a sequence. */
  context: number
}

/** What a tensor does: gains begin at one and never decay. */
export type TensorRole = 'embedding' | 'gain' | 'matrix' | 'residual' | 'head'

/** A tensor of the parameters: matrices stand as [inputs, outputs]. */
export interface PlacedTensor {
  name: string
  role: TensorRole
  shape: readonly number[]
  /** Where it begins, in numbers from the first parameter. */
  offset: number
  length: number
}

/** What `ModelShape.kind` says of it. */
export const modelKind = 'quintain-transformer'

const bounds = {
  layers: [1, 64],
  width: [8, 2048],
  heads: [1, 64],
  feedForward: [8, 8192],
  vocabulary: [2, 65_536],
  context: [1, 2048],
} as const satisfies Record<keyof EmbeddedShape, readonly [number, number]>

/** Most parameters that the engine takes. Past a few millions a server that is made for it is far quicker. */
const mostParameters = 20_000_000

/** Looks a shape through. Throws `options_invalid`, saying which size does not do. */
export function checkedShape(shape: EmbeddedShape): EmbeddedShape {
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const size = sizeOf(shape, name)
    if (!Number.isInteger(size) || size < least || size > most) {
      throw invalid(`${name} is ${size}, and must be a whole number from ${least} to ${most}.`, shape)
    }
  }
  const { layers, width, heads, feedForward, vocabulary, context } = shape
  if (width % heads !== 0) {
    throw invalid(
      `width ${width} is not divided by ${heads} heads. Take a width that is a multiple of it.`,
      shape,
    )
  }
  if ((width / heads) % 8 !== 0) {
    throw invalid(
      `a head is ${width / heads} wide (width / heads), and must be a multiple of 8. Take fewer heads or more width.`,
      shape,
    )
  }
  if (feedForward % 8 !== 0) {
    throw invalid(`feedForward ${feedForward} is not a multiple of 8.`, shape)
  }
  const checked = { layers, width, heads, feedForward, vocabulary, context }
  const parameters = parameterCount(checked)
  if (parameters > mostParameters) {
    throw invalid(
      `it has ${parameters} parameters, and the embedded engine takes ${mostParameters}. Take fewer layers or less width, or a trainer for large models.`,
      shape,
    )
  }
  return checked
}

function sizeOf(shape: object, name: string): number {
  const value: unknown = Object.getOwnPropertyDescriptor(shape, name)?.value
  return typeof value === 'number' ? value : Number.NaN
}

function invalid(what: string, shape: EmbeddedShape): QuintainError {
  return new QuintainError('options_invalid', `The shape of the embedded policy does not do: ${what}`, {
    facts: { shape },
  })
}

/** All tensors in the order in which they lie in memory; kernels.c has the same in `Places`. */
export function tensorsOf({ layers, width, feedForward, vocabulary }: EmbeddedShape): PlacedTensor[] {
  const tensors: PlacedTensor[] = []
  let offset = 0
  const add = (name: string, role: TensorRole, ...shape: number[]): void => {
    const length = shape.reduce((product, size) => product * size, 1)
    tensors.push({ name, role, shape, offset, length })
    offset += length
  }
  add('embedding', 'embedding', vocabulary, width)
  for (let layer = 0; layer < layers; layer++) {
    add(`layers.${layer}.attention.norm`, 'gain', width)
    add(`layers.${layer}.attention.qkv`, 'matrix', width, 3 * width)
    add(`layers.${layer}.attention.out`, 'residual', width, width)
    add(`layers.${layer}.feed_forward.norm`, 'gain', width)
    add(`layers.${layer}.feed_forward.up`, 'matrix', width, feedForward)
    add(`layers.${layer}.feed_forward.down`, 'residual', feedForward, width)
  }
  add('norm', 'gain', width)
  add('head', 'head', width, vocabulary)
  return tensors
}

/** How many numbers a policy of this shape has. */
export function parameterCount(shape: EmbeddedShape): number {
  const last = tensorsOf(shape).at(-1)!
  return last.offset + last.length
}

/** The shape as records have it. */
export function modelShape(shape: EmbeddedShape): ModelShape {
  return { kind: modelKind, parameters: parameterCount(shape), sizes: { ...shape } }
}
