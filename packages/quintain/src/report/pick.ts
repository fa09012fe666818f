import { didYouMean, type Folded, type OrderState, QuintainError, type RunFold } from '../core/index.ts'

/** Which order of a run somebody wants to see. */
export interface Pick {
  /** A task's id, or an order's (`task#repeat`). */
  name?: string
  /** The lowest reward first, and what has none after all that has one: a fault is no result of the agent. */
  worst?: boolean
  /** Faults, orders without a score, and failures; in this order, unless `worst` asks for the other. */
  failed?: boolean
}

/** Statuses without a score, those that most need a look first. */
const scoreless = ['faulted', 'cancelled', 'unscored', 'pending'] as const

/** Puts the worst first: by success, then by reward, with what has no score before (`first`) or behind. */
function byBadness(first: boolean) {
  const group = ({ status, chosen }: OrderState<Folded>) => {
    if (status !== 'scored') return first ? -1 : 2
    return chosen?.verdict?.success === false ? 0 : 1
  }
  const within = ({ status, chosen }: OrderState<Folded>) =>
    status === 'scored' ? (chosen?.verdict?.reward ?? 0) : scoreless.indexOf(status)
  return (a: OrderState<Folded>, b: OrderState<Folded>) => group(a) - group(b) || within(a) - within(b)
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
  if (worst || failed) states = states.toSorted(byBadness(!worst))
  return states
}
