import { groupAdvantages } from '../advantages.ts'
import type { StepRecord } from '../records.ts'
import type { PlayedGroup, Taken } from './group-source.ts'
import type { Learned } from './learn.ts'
import type { Member } from './member.ts'

/** What a step came to, beside what it learned. */
export interface StepFacts {
  step: number
  elapsedS: number
  seconds: StepRecord['seconds']
  learningRate: number
  taken: Taken
  /** Optimiser steps of the learner when it consumed the groups. */
  version: number
  /** Rewards that lie no further apart are the same; undefined where nothing is learned from how they compare. */
  tolerance: number | undefined
  /** Undefined where nothing came that can be learned from. */
  learned: Learned | undefined
}

/**
 * A line of `steps.jsonl`. What is said of rollouts is of all that came to the step, those that are not learned from too: of
 * the others alone the curve would show what the filter lets through.
 */
export function stepRecordOf({ taken, learned, version, tolerance, ...facts }: StepFacts): StepRecord {
  const { groups, left } = taken
  const came = [...groups, ...left.map(({ group }) => group)]
  const members = came.flatMap((group) => group.members)
  const rewards = members.flatMap(({ reward }) => reward ?? [])
  const scored = members.filter(({ reward }) => reward !== null)
  const counts: Record<string, number> = {}
  for (const { why } of left) counts[why] = (counts[why] ?? 0) + 1
  // What came late is a part of a group that was looked at already.
  const compared = [...groups, ...left.filter(({ why }) => why !== 'late').map(({ group }) => group)]
  const ages = groups.map(({ oldest }) => version - oldest)
  return {
    schema: 'quintain.train-step',
    v: 1,
    kind: 'step',
    at: new Date().toISOString(),
    ...facts,
    groups: groups.map(({ id, task, members: all }) => ({ id, task, orders: all.map(({ order }) => order) })),
    left: counts,
    ...(left.length === 0
      ? {}
      : {
          leftGroups: [...left]
            // As they were drawn, whichever came first.
            .sort((a, b) => a.group.place - b.group.place)
            .map(({ group: { id, task, members: all }, why }) => {
              return { id, task, orders: all.map(({ order }) => order), why }
            }),
        }),
    rollouts: members.length,
    scored: scored.length,
    rewardMean: meanOf(rewards),
    rewardSpread: spreadOf(rewards),
    success: meanOf(scored.flatMap(({ success }) => (success === null ? [] : [Number(success)]))),
    deadGroups:
      tolerance === undefined
        ? null
        : shareOf(compared, compared, ({ members: all }) => isDead(all, tolerance)),
    truncated: shareOf(members, members, ({ truncated }) => truncated),
    malformed: shareOf(members, members, ({ malformed }) => malformed),
    tokensMean: meanOf(members.map(({ tokens }) => tokens)),
    turnsMean: meanOf(members.map(({ turns }) => turns)),
    trainedTokens: learned?.trainedTokens ?? 0,
    entropy: learned?.entropy ?? null,
    loss: learned?.loss ?? null,
    gradNorm: learned?.gradNorm ?? null,
    mismatch: learned?.mismatch ?? null,
    clipped: learned?.clipped ?? null,
    kl: learned?.kl ?? null,
    staleness: { mean: meanOf(ages) ?? 0, max: Math.max(0, ...ages) },
    shadow: meanOf(members.flatMap(({ shadow }) => shadow ?? [])),
    version: learned?.version ?? version,
    alarms: [],
  }
}

/** Two or more have a reward, and it is the same: there is nothing to compare. */
function isDead(members: readonly Member[], tolerance: number): boolean {
  const { scored, zeroVariance } = groupAdvantages(
    members.map(({ reward }) => reward),
    { tolerance },
  )
  return scored > 1 && zeroVariance
}

/** Share of a group's scored rollouts that succeeded; null where nothing says so. */
export function successShare({ members }: PlayedGroup): number | null {
  return meanOf(members.flatMap(({ success }: Member) => (success === null ? [] : [Number(success)])))
}

/** Null of nothing. */
export function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Of the values as they are: of a population. */
function spreadOf(values: readonly number[]): number | null {
  const mean = meanOf(values)
  if (mean === null) return null
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}

function shareOf<One>(
  some: readonly One[],
  of: readonly unknown[],
  is: (one: One) => boolean,
): number | null {
  return of.length === 0 ? null : some.filter(is).length / of.length
}
