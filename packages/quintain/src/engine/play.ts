import {
  type Box,
  type Content,
  type Fault,
  type HarnessResult,
  type Message,
  type ModelRequest,
  type ModelResponse,
  noUsage,
  type PublicTask,
  type ResolvedLimits,
  type Seat,
  type ToolBox,
  type ToolCall,
  type ToolSpec,
  type Turn,
} from '../core/index.ts'
import type { SeatAccount } from '../gateway/index.ts'
import type { Job } from './protocol.ts'

/*
 * A seat that is played from outside: its harness runs in the main process, its world stays where the environment is,
 * which may be a worker. What passes between the two is plain data. The world's side keeps the secret and what was said
 * in the world; the main process keeps the harness, the models and what they were asked.
 */

/** What the harness is told when its seat begins. Nothing in it is secret. */
export interface PlayStart {
  seat: Seat
  /** Id of the attempt. */
  attempt: string
  task: PublicTask
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  endpoints: Readonly<Record<string, string>>
  limits: Readonly<ResolvedLimits>
  /** The world answers messages. */
  replies: boolean
  /** Milliseconds since the attempt began. */
  elapsedMs: number
}

/**
 * What the agent's clock is told of the calls that the main process makes for it. `held` comes in turns of true and false.
 * After `whileAsked` it runs while the world is asked for something, and stands still in between.
 */
export type ClockMove = { held: boolean } | { creditMs: number } | { whileAsked: true }

/** The world of a play, as the harness reaches it. Its methods reject when the rollout is over; why is not told. */
export interface WorldSide {
  /** Aborted when the attempt is over. */
  readonly signal: AbortSignal
  tools(calls: readonly ToolCall[], truncated: boolean, content?: Content): ReturnType<ToolBox['run']>
  reply(content: Content): Promise<Turn>
  /** Asks the policy of the seat where it has to run beside the secret. Rejects with a `ModelFault`. */
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse>
  clock(move: ClockMove): void
}

/** Why a harness gave no result. */
export type PlayFailure =
  /** The agent's own program threw. */
  | { by: 'agent'; message: string; stack: string }
  /** Something that is nobody's score, which the harness or we have named. */
  | { by: 'fault'; fault: Fault; text: string }
  /** It was told that its part is over. */
  | { by: 'over' }

/** How a play ended, and what its model calls came to. */
export type PlayEnd = { account: SeatAccount } & (
  | { result: HarnessResult; thrown?: undefined }
  | { thrown: PlayFailure; result?: undefined }
)

/** The account of a seat that called no model here. */
export function noCalls({
  turns = 0,
  costUsd = 0,
}: {
  turns?: number
  costUsd?: number | null
} = {}): SeatAccount {
  return {
    graph: { nodes: [], calls: [] },
    turns,
    usage: noUsage,
    costUsd,
    modelMs: 0,
    waitMs: 0,
    retries: 0,
    flags: {},
    unrecovered: undefined,
    stopped: undefined,
  }
}

/** The end of a play that came to nothing: no call was made, and this is why. */
export function noPlay(code: string, message: string): PlayEnd {
  const fault: Fault = { owner: 'platform', stage: 'agent', code, message, retryable: false }
  return { account: noCalls(), thrown: { by: 'fault', fault, text: message } }
}

/** The way to the harnesses of a run. Resolves once the play is over, however it ended; a little after `side.signal` at the latest. */
export interface PlayDoor {
  play(job: Job, start: PlayStart, side: WorldSide): Promise<PlayEnd>
}

/** Plays seats of a run in the main process: with harnesses, or for clients who hold sessions. */
export interface SeatPlayers {
  plays(seat: Seat): boolean
  /** Never rejects. `boxOf` gives the world's box, until a signal is aborted. Resolves a little after `side.signal` at the latest. */
  play(job: Job, start: PlayStart, side: WorldSide, boxOf: BoxOf): Promise<PlayEnd>
  close(): Promise<void>
}

export type BoxOf = (over: AbortSignal) => Box | undefined

/** How long a harness may take to end its programs once its attempt is over; then it is left alone. */
export const playGraceMs = 5_000
