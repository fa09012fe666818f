import type { RunFold } from '../../core/index.ts'
import type { PageAttempt } from './read-rows.ts'

/** The values behind the pictures: of the same attempts that the report's numbers are of. */
export interface Distributions {
  reward: number[]
  /** Reward components and metrics by name. */
  components: Record<string, number[]>
  rollout: Float64Array
  model: Float64Array
  wait: Float64Array
  grading: Float64Array
  turns: number[]
}

/** Gathers them in one pass over the states. */
export function distributionsOf({ states, manifest }: RunFold<PageAttempt>): Distributions {
  const names = [...Object.keys(manifest.environment.rewards), ...manifest.environment.metrics]
  const components = new Map(names.map((name) => [name, [] as number[]]))
  const reward: number[] = []
  const turns: number[] = []
  const ended = states.filter(
    ({ status, chosen }) => chosen !== undefined && status !== 'pending' && status !== 'cancelled',
  )
  for (const { status, chosen } of ended) {
    if (status === 'faulted') continue
    turns.push(chosen!.counts.turns)
    const { verdict } = chosen!
    if (verdict === null) continue
    if (status === 'scored' && verdict.reward !== null) reward.push(verdict.reward)
    for (const [name, values] of components) {
      const value = verdict.rewards[name] ?? verdict.metrics[name] ?? null
      if (value !== null) values.push(value)
    }
  }
  const times = (name: 'wallMs' | 'modelMs' | 'waitMs' | 'gradeMs') =>
    Float64Array.from(ended, ({ chosen }) => chosen!.timing[name])
  return {
    reward,
    components: Object.fromEntries(components),
    rollout: times('wallMs'),
    model: times('modelMs'),
    wait: times('waitMs'),
    grading: times('gradeMs'),
    turns,
  }
}
