import type { BoxLimits, ExecOptions, Snapshot, SnapshotOptions } from '../../core/sandbox.ts'
import type { PlacedFile } from '../box-options.ts'

/** What a thread is asked. `abort` is shared memory: a thread that is busy reads no messages. */
export type Request =
  | {
      op: 'start'
      workdir: string
      env: Record<string, string>
      files: PlacedFile[]
      readOnlyFiles: PlacedFile[]
      limits: BoxLimits
    }
  | {
      op: 'exec'
      command: string | readonly string[]
      options: Omit<ExecOptions, 'signal'>
      wallMs: number
      abort: Int32Array
    }
  | { op: 'read'; path: string; maxBytes: number }
  | { op: 'write'; path: string; data: Uint8Array; mode: number }
  | { op: 'list'; path: string }
  | { op: 'snapshot'; paths: readonly string[]; options: SnapshotOptions }
  | { op: 'restore'; snapshot: Snapshot; at: string }
  | { op: 'stop' }

export interface Asked {
  call: number
  box: string
  request: Request
}

/** `failed` is a fault of ours or of the interpreter; what a command does wrong is a value in `result`. */
export type Answered = { call: number; result: unknown } | { call: number; failed: string }
