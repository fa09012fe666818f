import type { Need } from '../core/index.ts'
import type { AttemptOutput } from './attempt.ts'
import type { GroupMemberData, GroupVerdict, HostDescription, Job, TaskQuery } from './protocol.ts'
import type { TaskSummary } from './taskset.ts'

/** Something that holds an environment and runs attempts: this process, or a pool of workers. */
export interface Executor {
  readonly description: HostDescription
  /** Tasks in pages, in order. */
  list(query: TaskQuery): AsyncGenerator<TaskSummary[], void, undefined>
  probe(index: number): Promise<Need[]>
  /** Runs one attempt; a lost worker is a fault in the result, never a rejection. */
  run(job: Job): Promise<AttemptOutput>
  /** Rejects with a `StepFailure` of the grader, or `GraderLost`. */
  gradeGroup(members: readonly GroupMemberData[]): Promise<GroupVerdict[]>
  /** Cancels every attempt that runs; their results still come. */
  cancel(): void
  /** Stops at once; attempts that run come to nothing. */
  close(): Promise<void>
}
