import { type Fault, type Journal, linePart, QuintainError, type VerdictSummary } from '../core/index.ts'
import type { Executor } from './executor.ts'
import type { GroupMemberData } from './protocol.ts'
import { StepFailure } from './step.ts'

/** A member whose verdict waits for those of its group. */
export interface OpenMember {
  attempt: string
  order: string
  seq: number
  verdict: VerdictSummary | null
}

/** What a group's grader made of a member: its verdict now, or why it has none. */
export interface GradedMember {
  attempt: string
  verdict: VerdictSummary | null
  fault: Fault | null
}

/**
 * Grades a group that is whole and writes down what came of it. `members` are those that were graded themselves; `open`
 * are those of them that wait. Never rejects for what a grader does.
 */
export async function gradeWholeGroup(
  { executor, journal }: { executor: Executor; journal: Journal },
  members: readonly (GroupMemberData & { seq: number })[],
  open: readonly OpenMember[],
): Promise<GradedMember[]> {
  try {
    const verdicts = await executor.gradeGroup(members.map(({ seq: _, ...member }) => member))
    return verdicts.map(({ attempt, order, summary, record }) => {
      journal.appendVerdict(
        {
          schema: 'quintain.verdict-summary',
          v: 1,
          attempt,
          order,
          seq: members.find((member) => member.order === order)!.seq,
          verdict: summary,
          fault: null,
        },
        linePart(record),
      )
      return { attempt, verdict: summary, fault: null }
    })
  } catch (thrown) {
    const fault: Fault =
      thrown instanceof StepFailure
        ? thrown.fault
        : {
            owner: 'platform',
            stage: 'group',
            code: 'worker_lost',
            message: QuintainError.isInstance(thrown)
              ? thrown.message
              : 'the worker that graded the group was lost',
            retryable: true,
          }
    return open.map(({ attempt, order, seq, verdict }) => {
      // The member's own verdict stays pending, so that a resume grades the group again and runs no agent.
      const line = { attempt, order, seq, verdict, fault }
      journal.appendVerdict({ schema: 'quintain.verdict-summary', v: 1, ...line }, undefined)
      return { attempt, verdict, fault }
    })
  }
}
