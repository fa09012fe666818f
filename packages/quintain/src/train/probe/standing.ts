import type { Calibration } from './oracle.ts'
import { mean, type PayScale, shareOf } from './pay.ts'
import type { Try } from './played.ts'
import { isOracles } from './right-answers.ts'
import type { Script } from './script.ts'

/** How a script stands on some tasks. */
export interface Standing {
  script: Script
  tries: readonly Try[]
  scored: number
  /** Mean share of a full reward. */
  pay: number
  /** The same of rollouts that did not succeed, those that did counted as nothing. */
  paidFailure: number
  /** Share that succeeded without doing what the oracle does. */
  luckless: number
}

/** How each script stands over the tries that it had. */
export function standings(tries: readonly Try[], scale: PayScale, { oracle }: Calibration): Standing[] {
  return [...Map.groupBy(tries, ({ script }) => script)].map(([script, own]) => {
    const scored = own.flatMap((one) => (one.reward === null ? [] : [{ ...one, reward: one.reward }]))
    const pay = scored.map(({ reward }) => shareOf(reward, scale))
    const other = (one: Try) => {
      const right = oracle.get(one.task)
      return right === undefined || !isOracles(one.acts, right.acts)
    }
    return {
      script,
      tries: own,
      scored: scored.length,
      pay: mean(pay),
      paidFailure: mean(scored.map(({ success }, at) => (success === true ? 0 : pay[at]!))),
      luckless: mean(scored.map((one) => Number(one.success === true && other(one)))),
    }
  })
}

/** What a script promises: the more, the sooner it is looked at again. */
export function promise({ paidFailure, luckless, pay }: Standing): number {
  return Math.max(paidFailure, luckless) + pay / 100
}
