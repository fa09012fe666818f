import type { PanelRecord } from '../core/index.ts'
import { signedText } from './compare-text.ts'
import { countText, plural, scoreText } from './number-text.ts'

/** What was known when a comparison was stopped because it was decided. */
export function decidedText({
  alpha,
  tasks,
  missing = 0,
  difference,
  interval,
  p,
}: NonNullable<PanelRecord['decided']>): string {
  const bounds = interval.map(signedText).join(', ')
  const lacking =
    missing === 0 ? '' : `, of which ${countText(missing)} lacked results, taken at their worst for it`
  return `Decided after ${plural(tasks, 'task')}${lacking}: the second is ${interval[0] >= 0 ? 'better' : 'worse'} by ${scoreText(Math.abs(difference))} [${bounds}] (${countText(100 * (1 - alpha))} %, valid at every moment at once; p <= ${scoreText(p)}). The intervals of the table are made for plans that are finished, and are too narrow here.`
}
