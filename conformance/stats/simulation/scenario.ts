import { RandomInputs } from '../random-inputs.ts'

/** A statistical promise that can be tried out: how often something happens when the truth is known. */
export interface Scenario {
  /** What is tried: the function and the kind of data. */
  name: string
  /** What is counted. */
  counted: 'covered' | 'false alarms' | 'found'
  tasks: number
  repeats: number
  /** What the method promises, and the bounds that the rate must keep. */
  nominal: number
  bounds: readonly [number, number]
  /** One made-up evaluation; whether what is counted happened. */
  trial(random: RandomInputs): boolean
}

/** Share of the trials in which it happened, and its standard error. Seeded by the scenario, so it is the same every time. */
export function rateOf(scenario: Scenario, trials: number): { rate: number; error: number } {
  const { name, tasks, repeats } = scenario
  const random = new RandomInputs(`${name}/${tasks}/${repeats}`)
  let happened = 0
  for (let i = 0; i < trials; i++) if (scenario.trial(random)) happened++
  const rate = happened / trials
  return { rate, error: Math.sqrt(Math.max(rate * (1 - rate), 1 / trials) / trials) }
}

/** Whether an interval holds a number. No interval is not one that holds it. */
export const holds = (interval: readonly [number, number] | null, value: number): boolean =>
  interval !== null && interval[0] <= value + 1e-12 && value - 1e-12 <= interval[1]
