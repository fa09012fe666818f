import type { ErrorCode } from '../core/index.ts'
import type { RunSummary } from '../report/index.ts'

/** What the exit code of `quintain` says. */
export const exitCodes = {
  done: 0,
  belowThreshold: 1,
  usage: 2,
  incomplete: 3,
  environment: 4,
  other: 5,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The table as `--help` shows it. */
export const exitCodeHelp = `Exit codes:
  0  done
  1  a gate says no: below --threshold, or --fail-on-regression found something worse
  2  usage: an option, a name or a file that is not as it must be
  3  incomplete: cancelled, over a spending cap, or fewer orders scored than the minimum coverage
     (a gate that cannot tell is no all-clear)
  4  the environment is at fault: it cannot be loaded, or its tasks or definition are invalid
  5  anything else, such as a full disk`

const byCode: Record<ErrorCode, ExitCode> = {
  options_invalid: exitCodes.usage,
  limits_invalid: exitCodes.usage,
  unknown_task: exitCodes.usage,
  policy_unknown: exitCodes.usage,
  policy_invalid: exitCodes.usage,
  provider_unconfigured: exitCodes.usage,
  needs_unmet: exitCodes.usage,
  run_exists: exitCodes.usage,
  run_not_found: exitCodes.usage,
  run_mismatch: exitCodes.usage,
  import_invalid: exitCodes.usage,
  export_refused: exitCodes.usage,
  no_sampled_tokens: exitCodes.usage,
  prompt_invalid: exitCodes.usage,
  undefined_variable: exitCodes.usage,
  not_json: exitCodes.usage,
  usage: exitCodes.usage,
  output_exists: exitCodes.usage,
  output_io: exitCodes.usage,
  checkpoint_invalid: exitCodes.usage,
  training_mismatch: exitCodes.usage,
  datum_invalid: exitCodes.usage,
  context_overflow: exitCodes.usage,
  operation_out_of_order: exitCodes.usage,
  version_mismatch: exitCodes.usage,
  spend_cap: exitCodes.incomplete,
  definition_invalid: exitCodes.environment,
  task_invalid: exitCodes.environment,
  tasks_invalid: exitCodes.environment,
  duplicate_task_id: exitCodes.environment,
  no_tasks: exitCodes.environment,
  schema_unsupported: exitCodes.environment,
  environment_not_found: exitCodes.environment,
  environment_load_failed: exitCodes.environment,
  contract_unsupported: exitCodes.environment,
  run_locked: exitCodes.other,
  run_too_new: exitCodes.other,
  run_corrupt: exitCodes.other,
  disk_full: exitCodes.other,
  journal_io: exitCodes.other,
  worker_start_failed: exitCodes.other,
  reward_invalid: exitCodes.other,
  not_finite: exitCodes.other,
  sampler_closed: exitCodes.other,
  samplers_exhausted: exitCodes.other,
  engine_failed: exitCodes.other,
  engine_closed: exitCodes.other,
  internal: exitCodes.other,
}

/** Exit code of an error by its `code`. */
export function exitCodeOfError(code: ErrorCode): ExitCode {
  return byCode[code] ?? exitCodes.other
}

/**
 * Exit code of a run. Orders that are not scored make it incomplete, so that a broken run is never green; the threshold is
 * held against the success rate (the mean reward where an environment does not say what success is), in which a
 * graded timeout is the failure that it is.
 */
export function exitCodeOfRun(
  summary: Pick<
    RunSummary,
    'complete' | 'coverage' | 'minCoverage' | 'orders' | 'reward' | 'success' | 'run'
  >,
  threshold?: number,
): ExitCode {
  const { complete, coverage, minCoverage, orders } = summary
  if (!complete) return exitCodes.incomplete
  if (orders > 0 && (coverage ?? 0) < minCoverage) return exitCodes.incomplete
  if (threshold === undefined) return exitCodes.done
  const { value } = summary.run.environment.success ? summary.success : summary.reward
  // A run without a value did not reach any threshold.
  return value !== null && value >= threshold - 1e-12 ? exitCodes.done : exitCodes.belowThreshold
}
