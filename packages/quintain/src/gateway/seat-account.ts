import type { Fault, Usage } from '../core/index.ts'
import type { RecordedGraph } from '../core/recorder.ts'
import type { SeatEnd } from './seat-stop.ts'

/** What the calls of a seat came to, as plain data: what was recorded in one process, for the attempt in another. */
export interface SeatAccount {
  graph: RecordedGraph
  turns: number
  usage: Usage
  costUsd: number | null
  modelMs: number
  waitMs: number
  retries: number
  flags: Record<string, number>
  unrecovered: Fault | undefined
  stopped: SeatEnd | undefined
}
