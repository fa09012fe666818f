/** Something about a whole run that makes its numbers mean less than they seem to. */
export interface RunWarning {
  code:
    | 'all_truncated'
    | 'mostly_truncated'
    | 'systemic_empty_output'
    | 'mostly_agent_errors'
    | 'all_faulted'
    | 'journal_damaged'
    | 'cost_unknown'
    | 'holds_solutions'
  message: string
}

export interface HealthFacts {
  /** Attempts that ended in a verdict or a fault. */
  finished: number
  /** Attempts whose reply was cut off at a token limit. */
  truncated?: number
  /** Attempts in which the agent said and did nothing. */
  empty?: number
  /** Attempts whose agent failed, and the commonest reason. */
  failed?: number
  failure?: string | undefined
  meanReward?: number | null
}

/** Above this share of cut-off attempts the run measures the token limit. */
const nearlyAll = 0.95
const most = 0.5

/** What is wrong with a run as a whole: a run in which everything was cut off, or most answers are empty, is an incident and not a result. */
export function healthWarnings({
  finished,
  truncated = 0,
  empty = 0,
  failed = 0,
  failure,
  meanReward,
}: HealthFacts): RunWarning[] {
  const warnings: RunWarning[] = []
  if (finished <= 0) return warnings
  const cut = truncated / finished
  const share = (value: number) => `${Math.round(100 * value)} %`
  if (cut >= nearlyAll) {
    const zero = meanReward === 0 ? ' and every reward is zero, so there is nothing to learn from' : ''
    warnings.push({
      code: 'all_truncated',
      message: `${share(cut)} of the attempts were cut off at a token limit${zero}: raise --max-tokens or the token limit.`,
    })
  } else if (cut > most) {
    warnings.push({
      code: 'mostly_truncated',
      message: `${share(cut)} of the attempts were cut off at a token limit: the run measures the limit more than the agent.`,
    })
  }
  if (empty / finished > most) {
    warnings.push({
      code: 'systemic_empty_output',
      message: `${share(empty / finished)} of the attempts have no output at all: look at one of them before believing any number.`,
    })
  }
  if (failed / finished > most) {
    warnings.push({
      code: 'mostly_agent_errors',
      message: `The agent failed in ${share(failed / finished)} of the attempts, so that the numbers say little of what it can do${failure === undefined ? '' : `; most often: ${failure}`}`,
    })
  }
  return warnings
}
