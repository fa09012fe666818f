import type { Estimate, EstimateReason } from './estimate.ts'
import { countText, plural, scoreText, shareText } from './number-text.ts'

const reasons: Record<EstimateReason, string> = {
  below_coverage: 'not enough orders were scored',
  nothing_scored: 'nothing was scored',
  nothing_ordered: 'nothing was ordered',
  not_declared: 'the environment does not say what success is',
  single_task: 'one task says nothing of how tasks differ',
  no_spread: 'all values are equal',
  single_repeats: 'needs two scored attempts of every task',
  repeats_agree: 'the repeats of each task agree',
  too_large: 'the scores are too large for their spread to be computed',
}

function intervalText([low, high]: readonly [number, number]): string {
  return `[${scoreText(low)}, ${scoreText(high)}]`
}

function countsText({ n, planned, tasks }: Estimate): string {
  const scored = tasks.scored === tasks.planned ? '' : `${countText(tasks.scored)} of `
  return `n = ${countText(n)} of ${plural(planned, 'order')}, ${scored}${plural(tasks.planned, 'task')}`
}

/** The number itself: `0.612 [0.551, 0.673]`, `0.612`, or `none`. */
export function estimateValue(found: Estimate): string {
  if (found.value === null) return 'none'
  const interval =
    found.method === 'none' || found.interval === null ? '' : ` ${intervalText(found.interval)}`
  return `${scoreText(found.value)}${interval}`
}

/** How the number came about: level, method, scope, n; for a missing one why, and what can be said instead. */
export function estimateNote(found: Estimate): string {
  const counts = countsText(found)
  if (found.value === null) {
    const why = found.reason === undefined ? '' : reasons[found.reason]
    if (found.observed === null || found.reason === 'not_declared') return `${why}; ${counts}`
    const bounds =
      found.bounds === null
        ? ''
        : `; between ${scoreText(found.bounds[0])} and ${scoreText(found.bounds[1])} whatever the rest would have been`
    return `${why}; ${counts} (${shareText(found.n / found.planned)}); mean of what was scored ${scoreText(found.observed)}${bounds}`
  }
  if (found.method === 'none' || found.interval === null) {
    const why = found.reason === undefined ? '' : reasons[found.reason]
    return `no interval: ${why}${found.scope === 'new tasks' ? '' : `, ${found.scope}`}; ${counts}`
  }
  return `${100 * found.level} %, ${found.method}, ${found.scope}; ${counts}`
}

/** One whole sentence about a number, such as `mean reward 0.61 [0.55, 0.67] (95 %, t, clustered by task, new tasks; n = 120 of 120 orders, 30 tasks)`. */
export function estimateText(label: string, found: Estimate): string {
  return `${label} ${estimateValue(found)} (${estimateNote(found)})`
}
