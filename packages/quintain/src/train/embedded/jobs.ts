import type { Places, Room } from './engine-memory.ts'
import type { EmbeddedShape } from './shape.ts'
import type { SharedMemory, WasmModule } from './web-assembly.ts'

/** What a thread is given when it starts. */
export interface ThreadStart {
  thread: number
  shape: EmbeddedShape
  room: Room
  places: Places
  memory: SharedMemory
  module: WasmModule
}

/** A micro-batch that stands in one of the thread's two places for data. */
export interface BatchRef {
  place: 0 | 1
  sequences: number
}

/** Numbers of a step of the optimiser. */
export interface StepNumbers {
  learningRate: number
  beta1: number
  beta2: number
  eps: number
  weightDecay: number
  /** 0 is no bound. */
  gradClipNorm: number
  /** Steps since the moments were forgotten, this one counted. */
  momentSteps: number
}

/** What a thread is asked, one after the other. Those of several threads meet each other on the way. */
export type Job =
  /** Fills log-probabilities and entropies of the micro-batch. */
  | { kind: 'forward'; batch: BatchRef; packed: number }
  /** Adds to the gradient of a lane, which is cleared first when it is fresh. After `forward`, with slopes filled. */
  | { kind: 'backward'; batch: BatchRef; lane: number; fresh: boolean }
  /** All threads: sums the gradients of some lanes, steps, and packs the new weights. Answers with the norm. */
  | { kind: 'step'; numbers: StepNumbers; lanes: readonly number[]; packed: number }
  /** All threads: packs the weights. */
  | { kind: 'pack'; packed: number }

/** From the main thread. */
export type ToThread =
  | { kind: 'jobs'; jobs: readonly { id: number; job: Job }[] }
  | { kind: 'sampling'; work: Float64Array<ArrayBuffer> }

/** From a thread. `value` is the norm of the gradient after a step, else 0. */
export type FromThread =
  | { kind: 'done'; id: number; value: number }
  | { kind: 'failed'; id: number; says: string }
  | { kind: 'sampled'; said: Float64Array<ArrayBuffer> }
