import { didYouMean, type Folded, type OrderState, QuintainError, type RunFold } from '../core/index.ts'

/** Which order of a run somebody wants to see. */
export interface Pick {
  /** A task's id, or an order's (`task#repeat`). */
  name?: string
  /** The lowest reward first. */
  worst?: boolean
  /** Faults, orders without a score, and failures. */
  failed?: boolean
}

/** How bad an order is; the lowest is the worst. Faults come before missing scores, those before low ones. */
function badness({ status, chosen }: OrderState<Folded>): number {
  if (status === 'faulted') return -3
  if (status === 'cancelled') return -2
  if (status === 'unscored') return -1
  const verdict = chosen?.verdict
  if (verdict?.reward == null) return Number.POSITIVE_INFINITY
  return verdict.success === false ? verdict.reward : verdict.reward + 1e9
}

/**
 * The orders of a run that match, the most telling first. Throws `unknown_task` with the nearest name when nothing has it.
 */
export function pickOrders<T extends Folded>(
  fold: RunFold<T>,
  { name, worst, failed }: Pick,
): OrderState<T>[] {
  let states = fold.states
  if (name !== undefined) {
    const exact = states.filter(({ order }) => order.id === name)
    states = exact.length > 0 ? exact : states.filter(({ order }) => order.task === name)
    if (states.length === 0) {
      const known = new Set(fold.states.map(({ order }) => (name.includes('#') ? order.id : order.task)))
      throw new QuintainError(
        'unknown_task',
        `This run has no task or order ${JSON.stringify(name)}${didYouMean(name, known)} \`npx quintain show ${fold.dir}\` lists what it has.`,
        { facts: { name } },
      )
    }
  }
  if (failed) {
    states = states.filter(
      ({ status, chosen }) =>
        status === 'faulted' ||
        status === 'unscored' ||
        status === 'cancelled' ||
        (status === 'scored' && (chosen?.verdict?.success ?? (chosen?.verdict?.reward ?? 0) > 0) === false),
    )
  }
  if (worst) states = states.filter(({ chosen }) => chosen !== undefined)
  if (worst || failed) states = states.toSorted((a, b) => badness(a) - badness(b))
  return states
}
