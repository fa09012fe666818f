import type { PanelRecord } from '../core/index.ts'
import type { PanelWatch } from '../engine/index.ts'
import { UntilDecided } from '../report/index.ts'

/** Watches two runs until the success of one is shown to be above the other's, at a stated error rate. */
export function watchUntilDecided({ repeats, alpha }: { repeats: number; alpha: number }): {
  watch: PanelWatch
  /** What was known when it was decided; undefined while it is not. */
  decided(): NonNullable<PanelRecord['decided']> | undefined
} {
  const until = new UntilDecided({ repeats, alpha })
  let decided: NonNullable<PanelRecord['decided']> | undefined
  return {
    watch({ place, order, attempt }) {
      if (decided !== undefined) return undefined
      const { fault, verdict } = attempt
      const known = fault === null && verdict?.reward != null && verdict.success !== null
      const state = until.add({
        side: place === 0 ? 0 : 1,
        seq: order.seq,
        score: known ? Number(verdict.success) : null,
      })
      if (state?.interval == null || state.mean === null || state.p === null) return undefined
      const { missing, mean: difference, interval, p } = state
      decided = { alpha, tasks: until.tasks, ...(missing > 0 ? { missing } : {}), difference, interval, p }
      const which = state.decision === 'higher' ? 'better' : 'worse'
      return {
        code: 'decided',
        message: `after ${until.tasks} tasks the second is shown to be ${which} than the first`,
      }
    },
    decided: () => decided,
  }
}
