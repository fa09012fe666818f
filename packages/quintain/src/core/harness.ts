import type { PublicTask, Seat, Turn } from './environment.ts'
import type { AssistantMessage, Content, Message, ToolCall, ToolMessage } from './message.ts'
import type { ModelContext, ModelRequest, ModelResponse, ToolSpec } from './model.ts'
import type { Outcome, ResolvedLimits } from './records.ts'
import type { Rng } from './rng.ts'
import type { Box } from './sandbox.ts'

/** The program round a model in a seat. It sees the public task and its seat, and no reward. */
export interface Harness {
  /** Name and version for the records, such as `chat@1`. */
  readonly name: string
  /** What it can carry of an environment's needs. */
  readonly carries: { turns: boolean; tools: boolean; images: boolean }
  /**
   * Where it runs: beside the world (`with-world` when absent), which may be a worker without rights, or in the main
   * process (`outside`), because it starts programs, opens connections or holds code of the user's.
   */
  readonly runs?: 'with-world' | 'outside'
  /** It runs a program in the world's own box: those of the world's boxes that have walls get a way to the gateway, `boxGateway`. */
  readonly needsBox?: boolean
  /** What it is made of, such as its command line or its function's source: a run keeps a digest of it, and goes on with no other. */
  readonly identity?: string
  run(context: HarnessContext): Promise<HarnessResult>
}

export interface HarnessResult {
  outcome: Exclude<Outcome, 'cancelled'>
  /** The reason in the environment's or the harness's own word: `won`, `too_many_tool_errors`, … */
  stop?: string
  /** What the agent said last, where it was not handed to `reply`: it belongs to the transcript. */
  answer?: Content
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
  /**
   * The world's first box, for a program that is to run in it (harnesses that run `outside` only). Absent where the world
   * had started none when the seat began. It stays the world's: its `stop` does nothing.
   */
  box?: Box
  /** Counts something under a name such as `output_cut` among the flags of the attempt. Absent where nothing is counted. */
  flag?(name: string): void
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
   * arguments that end open. `content` is what the reply said beside its calls, where nobody has recorded it yet.
   */
  run(
    calls: readonly ToolCall[],
    reply: { truncated: boolean; content?: Content },
  ): Promise<{ messages: ToolMessage[]; done?: string; executed: number; truncated: boolean }>
}

/** The model of a seat: counted, limited and recorded. Rejects when a limit is reached; a harness lets that pass. */
export interface ModelHandle {
  /** Name of the policy behind it, such as `openai-compatible:gpt-4o` or `script:oracle`. */
  readonly id: string
  /** `signal` gives up this call alone; `onDelta` asks for a stream, as in `ModelContext`. */
  generate(
    request: ModelRequest,
    options?: { signal?: AbortSignal; onDelta?: ModelContext['onDelta'] },
  ): Promise<ModelResponse>
  /** How many tokens a request's prompt has, where the model can say. Counts against no limit. */
  countTokens?(request: ModelRequest, options?: { signal?: AbortSignal }): Promise<number | undefined>
  /** False where nothing is behind it and the agent brings its own model. Absent where that is not known. */
  readonly present?: boolean
  /**
   * Records a conversation to which an agent added without asking here, as one turn of its seat; counts against the turn
   * limit. `costUsd` is what it cost, which is unknown when absent.
   */
  record(messages: readonly Message[], options?: { costUsd?: number }): void
  /**
   * The address at which a program reaches this model, through the run's gateway: for this attempt only, and dead when
   * it is over. The same at each call. Throws `needs_unmet` where nothing is behind it: the agent brings its own model.
   */
  address(): Promise<ModelAddress>
  /** Calls that were answered so far. */
  readonly turns: number
  /** What a model said last in this seat, through any of the ways above: the answer of an agent that reports none. */
  lastReply?(): AssistantMessage | undefined
}

/** Where programs reach the model of a seat. The credential alone says whose it is. */
export interface ModelAddress {
  /** `http://127.0.0.1:PORT/r/HANDLE/v1`, for what takes OpenAI's base URL. */
  readonly baseURL: string
  /** The same without `/v1`, as Anthropic's SDKs take it. */
  readonly anthropicBaseURL: string
  /** Sent as bearer token or as `x-api-key`. */
  readonly apiKey: string
  /** A name to ask for; the gateway answers with the run's policy whatever is asked for. */
  readonly model: string
  /** Path of the Unix socket where the same is served, for boxes without a network. */
  readonly socketPath: string
  /** Path of `baseURL`, for that socket: `/r/HANDLE/v1`. */
  readonly path: string
  /** The same without the network, for SDKs in this process that take a `fetch`. */
  readonly fetch: typeof globalThis.fetch
}

/**
 * Where a world's box reaches the run's gateway, when the harness has `needsBox`: `http://127.0.0.1:4010` in boxes of
 * isolation `namespaces`, a Unix socket in those of `container`; a `ModelAddress` gives the `path` below it. Boxes without
 * walls (`none`) reach `baseURL` itself, and those in `memory` reach nothing.
 */
export const boxGateway = { port: 4010, socketPath: '/run/quintain-gateway.sock' } as const

/** In the place of a harness's name: the seat is played by clients who hold its sessions over a door. */
export const doorHarness = 'door@1'
