import type { Fault, Outcome } from '../../core/index.ts'

/** What came of a tool call when it was recorded. */
export interface RecordedCall {
  name: string
  /** The text that was sampled, JSON or not. */
  arguments: string
  /** `unsteady`: the engine itself does not give the same twice. */
  result: { text: string; error?: string; unsteady?: true }
}

/** One reply of the agent, as far as it reached the world. */
export type Move =
  | {
      kind: 'calls'
      /** What it wrote beside its calls. */
      text: string
      calls: readonly RecordedCall[]
    }
  | {
      kind: 'say'
      text: string
      /** What the environment answered; undefined where it did not, or ended with it. */
      answer?: string
      /** The engine itself does not give the same answer twice. */
      unsteady?: true
    }

/** How an episode ended in the engine. */
export type RecordedEnd =
  | { kind: 'scored'; reward: number; success: boolean | null }
  | { kind: 'unscored'; reason: string }
  | { kind: 'failed'; fault: Fault }

/** An attempt of the engine as doors can play it again: the agent's moves in their order, and what came of them. */
export interface RecordedEpisode {
  /** `TASK#REPEAT`. */
  order: string
  task: string
  split: string
  /** What the agent read before its first move: each message's text. */
  opening: readonly string[]
  /** Names of the tools that it was offered. */
  tools: readonly string[]
  moves: readonly Move[]
  /** Undefined where the attempt failed. */
  outcome: Outcome | undefined
  end: RecordedEnd
}

/** The code of a result that the recording does not hold: the attempt ended beneath the call. */
export const notTold = 'not_told'
