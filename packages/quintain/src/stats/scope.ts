/**
 * What an interval speaks of. `new tasks`: tasks that were never seen, drawn from where these were drawn, so the spread
 * between tasks counts. `these tasks again`: these very tasks run once more, so only the spread inside tasks counts.
 */
export type Scope = 'new tasks' | 'these tasks again'

/** Whether something is a confidence level: a share, not a percentage. */
export function isLevel(level: number): boolean {
  return level > 0 && level < 1
}
