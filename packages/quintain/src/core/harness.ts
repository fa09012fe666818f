import type { PublicTask, Seat, Turn } from './environment.ts'
import type { Content, Message, ToolCall, ToolMessage } from './message.ts'
import type { ModelRequest, ModelResponse, ToolSpec } from './model.ts'
import type { Outcome, ResolvedLimits } from './records.ts'
import type { Rng } from './rng.ts'

/** The program round a model in a seat. It sees the public task and its seat, and no reward. */
export interface Harness {
  /** Name and version for the records, such as `chat@1`. */
  readonly name: string
  /** What it can carry of an environment's needs. */
  readonly carries: { turns: boolean; tools: boolean; images: boolean }
  run(context: HarnessContext): Promise<HarnessResult>
}

export interface HarnessResult {
  outcome: Exclude<Outcome, 'cancelled'>
  /** The reason in the environment's or the harness's own word: `won`, `too_many_tool_errors`, … */
  stop?: string
}

export interface HarnessContext<Data = unknown> {
  task: PublicTask<Data>
  seat: Seat
  /** What the seat is told first: system message, prompt, first observation. */
  messages: readonly Message[]
  tools: ToolBox
  model: ModelHandle
  /**
   * Hands a message to the environment and waits for the seat's next turn. Absent when the world has no `reply`.
   * Rejects when the rollout is over; a harness lets that pass.
   */
  reply?: (content: Content) => Promise<Turn>
  /** Environment variables for an agent that brings its own tools (`World.endpoints`); empty when the world has none. */
  endpoints: Readonly<Record<string, string>>
  limits: Readonly<ResolvedLimits>
  /** Aborted when the attempt is over. */
  signal: AbortSignal
  rng: Rng
}

/** The tools of a seat. What a model gets wrong comes back as a tool message with `error`; nothing throws for it. */
export interface ToolBox {
  readonly specs: readonly ToolSpec[]
  /**
   * Carries out the calls of one model reply, in order, and gives one message per call. A truncated reply runs none.
   * `done` is set when a tool's result ended the episode; `truncated` when the reply was cut, by its finish or by
   * arguments that end open.
   */
  run(
    calls: readonly ToolCall[],
    reply: { truncated: boolean },
  ): Promise<{ messages: ToolMessage[]; done?: string; executed: number; truncated: boolean }>
}

/** The model of a seat: counted, limited and recorded. Rejects when a limit is reached; a harness lets that pass. */
export interface ModelHandle {
  generate(request: ModelRequest): Promise<ModelResponse>
  /** Records a conversation that an agent held by other means, as one turn of its seat; counts against the turn limit. */
  record(messages: readonly Message[]): void
}
