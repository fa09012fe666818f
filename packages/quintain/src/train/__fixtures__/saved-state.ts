import type { EngineState } from '../engine-state.ts'

/** A small learner's state, all of whose numbers are its version. */
export function savedState(version: number): EngineState & { optimiser: EngineState['weights'] } {
  const tensors = new Map([['head', { shape: [2, 2], data: new Float32Array(4).fill(version) }]])
  return {
    model: { kind: 'test', parameters: 4, sizes: { width: 2, vocabulary: 2 } },
    version,
    weights: tensors,
    optimiser: tensors,
    numbers: { steps: version },
  }
}
