import type {
  AttemptRecord,
  CallRecord,
  ComponentRecord,
  MessageNode,
  OrderStatus,
  TrajectoryRecord,
} from '../../core/index.ts'

/** What the page tells rollouts apart by. A scored one is `scored` where nobody says whether it succeeded. */
export const rowKinds = [
  'success',
  'failure',
  'scored',
  'unscored',
  'faulted',
  'cancelled',
  'pending',
] as const satisfies readonly (OrderStatus | 'success' | 'failure')[]
export type RowKind = (typeof rowKinds)[number]

/** Every order of the run in plan order, as columns: what the list, its filters and the task strip need. */
export interface PageIndex {
  /** The run as one types it. */
  run: string
  /** Whether the environment says what success is. */
  success: boolean
  /** Weights of the environment's rewards by name. */
  weights: Record<string, number>
  tasks: string[]
  /** Outcomes, and faults as `owner: code`. */
  endings: string[]
  rows: {
    /** Places in `tasks`, `rowKinds` and `endings`; -1 is no ending. */
    task: number[]
    kind: number[]
    ending: number[]
    repeat: number[]
    reward: (number | null)[]
    /** Milliseconds; null before there is an attempt. */
    wallMs: (number | null)[]
    turns: (number | null)[]
    /** US dollars of all ledgers; null is unknown. */
    usd: (number | null)[]
    tries: number[]
  }
}

/** In which chunk the trajectory of each row lies; -1 is none. */
export type Places = number[]

/** One attempt as it lies in a chunk of the page. Nothing of it comes from `private/`. */
export interface Transcript {
  row: number
  /** Absent where the order has no attempt. */
  attempt: Pick<
    AttemptRecord,
    'id' | 'start' | 'outcome' | 'stop' | 'fault' | 'verdict' | 'timing' | 'counts' | 'usage' | 'costUsd'
  >
  seats: TrajectoryRecord['seats']
  nodes: MessageNode[]
  leaves?: TrajectoryRecord['leaves']
  calls: TranscriptCall[]
  components: Record<string, ComponentRecord>
  /** Parts that could not be read, and why. */
  problems: string[]
}

/** A model call without what only a trainer needs. */
export type TranscriptCall = Pick<
  CallRecord,
  | 'seat'
  | 'prompt'
  | 'output'
  | 'model'
  | 'finish'
  | 'usage'
  | 'costUsd'
  | 'atMs'
  | 'latencyMs'
  | 'waitMs'
  | 'retries'
  | 'flags'
  | 'fault'
>

/** Elements of the page that hold packed data, by id. */
export const dataIds = { index: 'data-index', places: 'data-places', chunk: 'data-chunk-' } as const
