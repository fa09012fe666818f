import type { GradingSandbox } from 'quintain'
import { type Checked, runTests } from './grading.ts'
import type { Check } from './task-folder.ts'
import type { TerminalState } from './terminal.ts'

// Rewards and metrics of an attempt ask for the same.
const judgements = new WeakMap<TerminalState, Promise<Checked[]>>()

/** The hidden tests of an attempt, run once. A run that failed is not kept: the engine tries a grading again. */
export function judge(
  state: TerminalState,
  sandbox: GradingSandbox,
  checks: readonly Check[],
): Promise<Checked[]> {
  const known = judgements.get(state)
  if (known !== undefined) return known
  const judged = runTests(sandbox, checks)
  judgements.set(state, judged)
  judged.catch(() => judgements.delete(state))
  return judged
}
