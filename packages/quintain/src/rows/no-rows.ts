import { QuintainError } from '../core/index.ts'
import type { RefusalReason, RowsReport } from './training-row.ts'

/** Throws `no_sampled_tokens` where there is no row to train on: a mask of zeros never trains silently. */
export function requireRows(report: {
  calls: RowsReport['calls']
  rows: RowsReport['rows']
  refused: Partial<Record<RefusalReason, number>>
}): void {
  const { calls, rows, refused } = report
  if (Object.values(rows).some((count) => count > 0)) return
  throw new QuintainError('no_sampled_tokens', `There is nothing to train on: ${why(calls, refused)}.`, {
    facts: { calls, refused },
  })
}

const chatInstead = 'For rows of messages without tokens, ask for text only'

function why(calls: RowsReport['calls'], refused: Partial<Record<RefusalReason, number>>): string {
  const reasons = Object.entries(refused).map(([reason, count]) => `${reason} ${count}`)
  const counts = reasons.join(', ')
  if (refused.no_token_ids || refused.no_prompt_ids || refused.no_logprobs) {
    return `the calls were recorded without the ids and logprobs of their tokens (${counts}). Sample with a server that gives them, such as vLLM or SGLang, through the gateway. ${chatInstead}`
  }
  if (reasons.length > 0) return `every call or row was refused (${counts})`
  if (calls.kept + calls.branch + calls.side + calls.dead === 0)
    return 'no message of these attempts was sampled by a model, as far as the records show'
  return 'no call of these attempts is one to train on'
}
