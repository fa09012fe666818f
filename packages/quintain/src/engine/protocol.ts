import type {
  AssistantMessage,
  Content,
  Cut,
  ErrorCode,
  Fault,
  Limits,
  ModelRequest,
  ModelResponse,
  Need,
  OrderRecord,
  Permissions,
  ResolvedLimits,
  RetryEntry,
  Sampling,
  SandboxDefinition,
  Seat,
  ToolCall,
  TrajectoryRecord,
  VerdictRecord,
  VerdictSummary,
} from '../core/index.ts'
import type { RecordedCall } from '../models/index.ts'
import type { AttemptOutput } from './attempt.ts'
import type { ClockMove, PlayEnd, PlayStart } from './play.ts'
import type { TaskSummary } from './taskset.ts'

/** Who plays a seat, as data that can be sent to a worker. */
export type PolicySpec =
  /** A model that the main process calls; `id` is its name in the records. */
  | { kind: 'model'; id: string }
  /** `oracle`, `noop`, `random`, `play` (the seat's own script), or one that the environment ships. */
  | { kind: 'script'; name: string }
  /** Replies that were recorded; they come with each job. */
  | { kind: 'recorded'; id: string }
  /** None: the agent brings its own model. */
  | { kind: 'agent'; id: string }

/** How a worker is to hold an environment. Holds no secret of the host: a worker never sees a key. */
export interface HostSpec {
  options: Record<string, unknown>
  seed: string
  /** Limits of the run, over those of environment and task. */
  limits?: Limits
  seats: Record<Seat, PolicySpec>
  sampling: Sampling
  escalate: boolean
  /** Names of the harnesses that play seats from the main process, for the records. */
  outside?: Record<Seat, string>
  /** The models that stand for judges, by the judge's name; `anyJudge` for those that have none of their own. */
  judges?: Record<string, string>
}

/** What is known of an environment once it is loaded with its options. */
export interface HostDescription {
  /** Options as the schema completed them. */
  options: Record<string, unknown>
  rewards: Record<string, { kind: 'reward' | 'group'; weight: number }>
  metrics: string[]
  success: boolean
  seats: Seat[]
  /** Seats that have a script of their own. */
  scripted: Seat[]
  oracle: boolean
  policies: string[]
  /** Those of them that cannot play with these options, and what they lack. */
  unplayable: Record<string, string>
  /** Policies that know nothing of the task. */
  floor: string[]
  notes: string[]
  needs: Need[]
  limits: ResolvedLimits
  permissions: Permissions
  /** Names of the models that its graders ask. */
  judges: string[]
  /** What it asks of its boxes; absent for an environment that has none. */
  sandbox?: SandboxDefinition
}

/** One attempt to run. */
export interface Job {
  order: OrderRecord
  try: number
  /** Instead of the sampling that the host was opened with. */
  sampling?: Sampling
  /** Recorded replies by seat, for `recorded` policies. */
  replies?: Record<Seat, readonly AssistantMessage[]>
  /** What was recorded of the calls of a model behind an agent, by seat: for `recorded` policies that stand there. */
  calls?: Record<Seat, readonly RecordedCall[]>
  /** How these were cut when they were recorded, by seat. */
  cuts?: Record<Seat, Cut>
}

export interface TaskQuery {
  /** The tasks in these places, with their public parts. Nothing else narrows them. */
  at?: readonly number[]
  split?: string
  ids?: readonly string[]
  limit?: number
}

/** A member of a group, as the records hold it. */
export interface GroupMemberData {
  attempt: string
  order: string
  index: number
  trajectory: TrajectoryRecord
  state: unknown
  outcome: NonNullable<AttemptOutput['attempt']['outcome']>
  stop: string | undefined
  turns: number
  verdict: VerdictRecord
  summary: VerdictSummary
}

export interface GroupVerdict {
  attempt: string
  order: string
  record: VerdictRecord
  summary: VerdictSummary
}

export interface WireFault {
  fault: Fault
  outcome?: 'context_overflow' | 'refused'
  status?: number
  retries: RetryEntry[]
}

export interface WireError {
  code: ErrorCode
  message: string
  facts: Record<string, unknown>
}

export type ToWorker =
  | { t: 'open'; entry: string; spec: HostSpec }
  | { t: 'list'; id: number; query: TaskQuery }
  | { t: 'more'; id: number }
  | { t: 'probe'; id: number; index: number }
  | { t: 'jobs'; jobs: Job[] }
  | { t: 'group'; id: number; members: GroupMemberData[] }
  | { t: 'reply'; call: number; response?: ModelResponse; failure?: WireFault }
  | { t: 'wait'; call: number; waiting: boolean; why?: 'queue' | 'backoff' }
  | { t: 'boxed'; call: number; value?: unknown; error?: WireError; fault?: Omit<Fault, 'stage'> }
  | { t: 'box-wait'; call: number; waiting: boolean }
  | { t: 'play-ask'; play: number; ask: number; what: PlayAsk }
  | { t: 'play-ask-abort'; ask: number }
  | { t: 'play-clock'; play: number; move: ClockMove }
  | { t: 'play-end'; play: number; end: PlayEnd }
  | { t: 'cancel' }
  | { t: 'ping'; n: number }

export interface CallMessage {
  t: 'call'
  call: number
  model: string
  request: ModelRequest
  seat: Seat
  attempt: string
  task: string
  repeat: number
}

/** What an attempt asks of its boxes, which the main process holds. */
export interface BoxMessage {
  t: 'box'
  call: number
  /** The attempt, see `boxOwner`. */
  owner: string
  request: unknown
}

/** What a harness in the main process asks of the world that it plays in. */
export type PlayAsk =
  | { op: 'tools'; calls: readonly ToolCall[]; truncated: boolean; content?: Content }
  | { op: 'reply'; content: Content }
  /** Asks a policy that has to run beside the secret. */
  | { op: 'generate'; request: ModelRequest }

/** A seat begins whose harness is in the main process. */
export interface PlayMessage {
  t: 'play'
  play: number
  /** The attempt, see `boxOwner`. */
  owner: string
  start: PlayStart
}

/** `over`: nothing more is told, since the rollout is over or breaks off. */
export interface PlayAnswerMessage {
  t: 'play-answer'
  ask: number
  value?: unknown
  failure?: WireFault
  over?: boolean
}

export type FromWorker =
  | { t: 'opened'; description: HostDescription }
  | { t: 'answer'; id: number; value?: unknown; error?: WireError; fault?: Fault }
  | { t: 'tasks'; id: number; tasks: TaskSummary[]; done: boolean; error?: WireError }
  | { t: 'failed'; error: WireError }
  | { t: 'done'; output: AttemptOutput }
  | CallMessage
  | { t: 'abort'; call: number }
  | BoxMessage
  | { t: 'box-abort'; call: number }
  | PlayMessage
  | PlayAnswerMessage
  | { t: 'play-abort'; play: number }
  | { t: 'pong'; n: number }
