import type { StepLine, StepRecord } from './records.ts'
import { gap, heldOutFell, rewardHacking } from './watches-goals.ts'
import { entropyFalling, entropyLow, klHigh, offPolicy, samplerMismatch } from './watches-policy.ts'
import {
  allTruncated,
  deadGroups,
  lengthGrowth,
  malformedCalls,
  truncation,
  unscored,
} from './watches-rollouts.ts'
import { type Seen, seenAt, seenIn } from './watches-window.ts'

/** Looks at a training for one thing that goes wrong quietly. Its numbers are data, so that a page can show them. */
export interface Watch {
  name: string
  threshold: number
  /** What the threshold is of, in words. */
  of: string
  /** Why it lies where it does. */
  because: string
  /** What it has to say of what was seen: what is so, what it means, what to do. Undefined where all is well or nothing is known. */
  look(seen: Seen): string | undefined
}

export interface Alarm {
  watch: string
  says: string
}

/** All watches, in the order in which their alarms are told. */
export const watches: readonly Watch[] = [
  allTruncated,
  rewardHacking,
  gap,
  heldOutFell,
  entropyLow,
  entropyFalling,
  klHigh,
  samplerMismatch,
  offPolicy,
  truncation,
  lengthGrowth,
  deadGroups,
  malformedCalls,
  unscored,
]

/** Steps for which a watch must have had nothing to say before it rings again: so that one trouble is one alarm. */
export const restSteps = 10

/**
 * The alarms that ring at a step, given the lines of `steps.jsonl` before it. A watch rings when it has something to say and
 * has had nothing to say for ten steps; as long as a trouble lasts it is told once. A pure function of the lines, so that a
 * resumed training rings as an uninterrupted one. What `alarms` of the step says is not looked at.
 */
export function alarmsAt(history: readonly StepLine[], step: StepRecord): Alarm[] {
  const seen = seenIn([...history, step])
  const count = seen.steps.length
  return watches.flatMap((watch) => {
    const says = watch.look(seen)
    if (says === undefined) return []
    for (let rest = 1; rest <= Math.min(restSteps, count - 1); rest++)
      if (watch.look(seenAt(seen, count - rest)) !== undefined) return []
    return [{ watch: watch.name, says }]
  })
}

/** What the watches would say of a whole history, its last evaluation included: what stands at the end of a training. */
export function standingAlarms(history: readonly StepLine[]): Alarm[] {
  const seen = seenIn(history)
  return watches.flatMap((watch) => {
    const says = watch.look(seen)
    return says === undefined ? [] : [{ watch: watch.name, says }]
  })
}
