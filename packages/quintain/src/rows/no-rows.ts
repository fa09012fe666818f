import { doorHarness, type ManifestRecord, QuintainError } from '../core/index.ts'
import type { RefusalReason, RowsReport } from './training-row.ts'

/** Why a run has no rows whose agent was played over a door; undefined for any other. */
export function servedNote({ seats }: Pick<ManifestRecord, 'seats'>, seat = 'agent'): string | undefined {
  if (seat !== 'agent' || seats['agent']?.harness !== doorHarness) return undefined
  return 'This run was served: clients played its agent over a door, and no call of their models passed here, so nothing that it said is known to have been sampled. The trainer that sampled has the rows; for rows here, play the environment with the model itself (npx quintain eval).'
}

/** Throws `no_sampled_tokens` where there is no row to train on: a mask of zeros never trains silently. */
export function requireRows(report: {
  calls: RowsReport['calls']
  rows: RowsReport['rows']
  refused: Partial<Record<RefusalReason, number>>
  seat?: string
  /** The run that it is of, where it is of one. */
  manifest?: Pick<ManifestRecord, 'seats'>
}): void {
  const { calls, rows, refused, seat, manifest } = report
  if (Object.values(rows).some((count) => count > 0)) return
  const served = manifest && servedNote(manifest, seat)
  const text = served ?? `There is nothing to train on: ${why(calls, refused)}.`
  throw new QuintainError('no_sampled_tokens', text, {
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
