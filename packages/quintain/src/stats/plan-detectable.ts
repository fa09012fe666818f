import type { Defined } from './pass-at-k.ts'
import { type Design, type PowerOptions, type PowerReason, smallestDetectable } from './power.ts'

/**
 * What is taken for the variances of a success rate before anything has been run: the success rates of the tasks lie
 * evenly between 0 and 1, so that sigma^2 = 1/6 inside tasks and omega^2 = 1/12 between them, and those of two policies
 * are correlated by 1/3, so that omega_d^2 = 1/9. Easier or harder tasksets vary less, and then less can be told apart.
 *
 * Source: the worked example of Miller, "Adding Error Bars to Evals" (arXiv 2411.00640), section 5.
 */
export const assumedVariance = {
  paired: { between: 1 / 9, within: 1 / 6 },
  constant: { between: 1 / 12, within: 1 / 6 },
} as const

/**
 * The smallest change of a success rate that a plan of `tasks` tasks times `repeats` can show, before it starts and
 * without knowing anything of the scores: 30 tasks x 4 show a change of about 23 points between two policies.
 * Of rates, so 1 is all there can be; null with `beyond_largest` where not even that is found. Once there are scores,
 * take their variances (`varianceSplit`, `pairedVarianceSplit`) with `smallestDetectable`.
 *
 * @example plannedDetectable({ tasks: 30, repeats: 4 })
 */
export function plannedDetectable(
  { tasks, repeats, kind = 'paired' }: { tasks: number; repeats: number; kind?: Design['kind'] },
  options: Pick<PowerOptions, 'alpha' | 'power'> = {},
): Defined<PowerReason> {
  return smallestDetectable(tasks, { kind, ...assumedVariance[kind], repeats }, { ...options, largest: 1 })
}
