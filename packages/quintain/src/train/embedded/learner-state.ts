import { invalid } from '../checkpoint.ts'
import { type EngineState, readEngineState, readModelShape } from '../engine-state.ts'
import type { Tensor } from '../safetensors.ts'
import {
  checkedShape,
  type EmbeddedShape,
  modelKind,
  modelShape,
  parameterCount,
  tensorsOf,
} from './shape.ts'

/** A learner as flat numbers, each array as long as its parameters. */
export interface LearnerState {
  version: number
  weights: Float32Array
  /** Absent where a policy is taken up to be trained anew. */
  optimiser?: { first: Float32Array; second: Float32Array; momentSteps: number }
}

/** As `writeEngineState` takes it. The arrays are not copied. */
export function stateToWrite(shape: EmbeddedShape, state: LearnerState): EngineState {
  const { version, weights, optimiser } = state
  return {
    model: modelShape(shape),
    version,
    weights: named(shape, { '': weights }),
    numbers: optimiser === undefined ? {} : { momentSteps: optimiser.momentSteps },
    ...(optimiser === undefined
      ? {}
      : { optimiser: named(shape, { 'first.': optimiser.first, 'second.': optimiser.second }) }),
  }
}

function named(
  shape: EmbeddedShape,
  arrays: Readonly<Record<string, Float32Array>>,
): ReadonlyMap<string, Tensor> {
  const tensors = new Map<string, Tensor>()
  for (const [prefix, array] of Object.entries(arrays)) {
    for (const { name, shape: sizes, offset, length } of tensorsOf(shape)) {
      tensors.set(`${prefix}${name}`, { shape: sizes, data: array.subarray(offset, offset + length) })
    }
  }
  return tensors
}

/** Reads what `save` wrote. Throws `checkpoint_invalid`. */
export async function readLearnerState(
  folder: string,
  shape: EmbeddedShape,
  { optimiser: wantsOptimiser }: { optimiser: boolean },
): Promise<LearnerState> {
  const state = await readEngineState(folder, { model: modelShape(shape), optimiser: wantsOptimiser })
  const weights = flat(folder, shape, state.weights, '')
  refuseStrangers(folder, shape, state.weights, [''])
  if (state.optimiser === undefined) return { version: state.version, weights }
  const momentSteps = state.numbers['momentSteps']
  if (momentSteps === undefined || !Number.isInteger(momentSteps) || momentSteps < 0) {
    throw invalid(folder, 'it does not say how many steps its moments have seen')
  }
  refuseStrangers(folder, shape, state.optimiser, ['first.', 'second.'])
  return {
    version: state.version,
    weights,
    optimiser: {
      first: flat(folder, shape, state.optimiser, 'first.'),
      second: flat(folder, shape, state.optimiser, 'second.'),
      momentSteps,
    },
  }
}

function flat(
  folder: string,
  shape: EmbeddedShape,
  tensors: ReadonlyMap<string, Tensor>,
  prefix: string,
): Float32Array {
  const array = new Float32Array(parameterCount(shape))
  for (const { name, shape: sizes, offset } of tensorsOf(shape)) {
    const tensor = tensors.get(`${prefix}${name}`)
    if (tensor === undefined) throw invalid(folder, `it has no tensor ${prefix}${name}`)
    if (tensor.shape.join() !== sizes.join()) {
      throw invalid(
        folder,
        `its tensor ${prefix}${name} is ${tensor.shape.join(' x ')} and not ${sizes.join(' x ')}`,
      )
    }
    array.set(tensor.data, offset)
  }
  return array
}

/** A policy that has more to it than its shape says would not be the one that was saved. */
function refuseStrangers(
  folder: string,
  shape: EmbeddedShape,
  tensors: ReadonlyMap<string, Tensor>,
  prefixes: readonly string[],
): void {
  const known = new Set(prefixes.flatMap((prefix) => tensorsOf(shape).map(({ name }) => prefix + name)))
  const stranger = [...tensors.keys()].find((name) => !known.has(name))
  if (stranger === undefined) return
  throw invalid(folder, `its shape has no tensor ${JSON.stringify(stranger.slice(0, 80))}`)
}

/** The shape of an embedded policy that was saved. Throws `checkpoint_invalid`. */
export async function readEmbeddedShape(folder: string): Promise<EmbeddedShape> {
  const { kind, sizes } = await readModelShape(folder)
  if (kind !== modelKind) throw invalid(folder, `its policy is a ${kind}, not a ${modelKind}`)
  const size = (name: keyof EmbeddedShape): number => sizes[name] ?? Number.NaN
  try {
    return checkedShape({
      layers: size('layers'),
      width: size('width'),
      heads: size('heads'),
      feedForward: size('feedForward'),
      vocabulary: size('vocabulary'),
      context: size('context'),
    })
  } catch (cause) {
    throw invalid(folder, 'the sizes of its policy do not do', cause)
  }
}
