import type { TrajectoryRecord } from '../../core/index.ts'
import { type RowsOptions, type RowsReport, trainingRows } from '../../rows/index.ts'
import { type ArtGroup, type ArtTrajectory, artTrajectory, lacksTokens } from './art-groups.ts'
import type { Chosen, NoRow } from './choose-attempts.ts'
import type { Lineage, RunLineage, TrainerForm } from './lineage.ts'
import { pairsOf } from './preference-pairs.ts'
import { mainConversation, type NoPair, type PreferenceRow, preferenceRow } from './preference-rows.ts'
import type { RowFilter } from './row-filter.ts'
import { type SftRow, sftRows } from './sft-rows.ts'
import { type TaskGroup, whyUnscored } from './task-groups.ts'
import { type TinkerLoss, type TinkerRow, tinkerRow } from './tinker-rows.ts'
import { type TrlRow, trlRow } from './trl-rows.ts'

export type TrainerRow = SftRow | PreferenceRow | TinkerRow | ArtGroup | TrlRow

/** What rows of a group are made with. */
export interface Making {
  seat: string
  filter: RowFilter
  margin: number
  loss: TinkerLoss
  maxPerTask: number | undefined
  /** For `trainingRows`. */
  rows: Pick<RowsOptions, 'seat' | 'maxLength' | 'dropTruncated'>
  /** The attempts of the group that were chosen, in the order of the plan. */
  chosen: readonly Chosen[]
  /** What was recorded of an attempt; undefined where it cannot be used, which has been counted. */
  read(member: Chosen): Promise<Recorded | undefined>
  leaveOut(why: NoRow): void
  /** Counts a pair of attempts by what became of it. */
  pair(what: NoPair | 'made'): void
  runLineage(member: Chosen): RunLineage
  lineage(member: Chosen): Lineage
  /** Says of an attempt of a group of ART that tokens of it are not known. */
  withoutTokens(): void
  /** Says of attempts that rows were made of them. */
  used(count: number): void
}

export interface Recorded {
  trajectory: TrajectoryRecord
  /** The attempt's part of `tokens.bin`, where tokens are wanted. */
  tokens: Uint8Array | undefined
}

type RowMaker = (group: TaskGroup, making: Making) => AsyncGenerator<TrainerRow, void, undefined>

/** How the rows of one task are made, by form. One attempt is in memory at a time, two for a pair, a group for ART. */
export const rowMakers: Record<TrainerForm, RowMaker> = {
  async *sft(_, { chosen, read, rows, lineage, leaveOut, used }) {
    for (const member of chosen) {
      const found = await read(member)
      if (found === undefined) continue
      const made = sftRows(found.trajectory, lineage(member), rows)
      if (made.rows.length === 0) leaveOut(whyNone(made.report))
      else used(1)
      yield* made.rows
    }
  },

  async *preference(
    _,
    { chosen, read, seat, filter, margin, maxPerTask, runLineage, lineage, leaveOut, pair, used },
  ) {
    for (const { chosen: better, rejected: worse } of pairsOf(
      chosen,
      { margin, filter, most: maxPerTask },
      leaveOut,
    )) {
      const [one, other] = [await read(better), await read(worse)]
      if (one === undefined || other === undefined) {
        // The one that can be read has nobody beside it.
        if (one !== undefined || other !== undefined) leaveOut('unpaired')
        continue
      }
      const made = preferenceRow(
        mainConversation(one.trajectory, seat),
        mainConversation(other.trajectory, seat),
        {
          ...runLineage(better),
          chosen: attemptOf(lineage(better)),
          rejected: attemptOf(lineage(worse)),
          margin,
          difference: better.reward! - worse.reward!,
        },
      )
      pair(typeof made === 'string' ? made : 'made')
      if (typeof made === 'string') {
        leaveOut('unpaired')
        leaveOut('unpaired')
        continue
      }
      used(2)
      yield made
    }
  },

  async *tinker(group, { chosen, read, rows, loss, lineage, leaveOut, used }) {
    const rewards = group.members.flatMap(({ status, reward }) => (status === 'scored' ? (reward ?? []) : []))
    const size = rewards.length
    const baseline = size === 0 ? 0 : rewards.reduce((sum, reward) => sum + reward, 0) / size
    for (const member of chosen) {
      const found = await read(member)
      if (found === undefined) continue
      const { verdict } = member.attempt
      const made = trainingRows(found.trajectory, { ...rows, verdict, tokens: found.tokens, textOnly: false })
      const datums = made.rows.flatMap(
        (row) => tinkerRow(row, lineage(member), { loss, group: { id: group.id, baseline, size } }) ?? [],
      )
      if (datums.length === 0) leaveOut(whyNone(made.report))
      else used(1)
      yield* datums
    }
  },

  async *trl(group, { chosen, read, rows, lineage, leaveOut, used }) {
    for (const member of chosen) {
      const found = await read(member)
      if (found === undefined) continue
      const { verdict } = member.attempt
      const made = trainingRows(found.trajectory, { ...rows, verdict, tokens: found.tokens, textOnly: false })
      const [row, ...more] = made.rows
      // A call whose tokens nobody knows, or another row, would be missing from the one completion that TRL takes.
      if (row === undefined) leaveOut(whyNone(made.report))
      else if (more.length > 0 || made.report.refused.length > 0) leaveOut('broken_up')
      else {
        used(1)
        yield trlRow(row, found.trajectory, lineage(member), group.id)
      }
    }
  },

  async *art(group, { chosen, read, rows, seat, runLineage, lineage, leaveOut, withoutTokens, used }) {
    const trajectories: ArtTrajectory[] = []
    for (const member of chosen) {
      const found = await read(member)
      if (found === undefined) continue
      const { attempt, reward } = member
      const made = artTrajectory(found.trajectory, lineage(member), {
        ...rows,
        seat,
        tokens: found.tokens,
        verdict: attempt.verdict!,
        reward: reward!,
      })
      if (typeof made === 'string') {
        leaveOut(made)
        continue
      }
      trajectories.push(made)
      if (lacksTokens(made)) withoutTokens()
    }
    const [first] = chosen
    if (first === undefined || trajectories.length === 0) return
    used(trajectories.length)
    const unscored = group.members.filter(({ status }) => status === 'faulted' || status === 'unscored')
    const shared = runLineage(first)
    yield {
      lineage: {
        ...shared,
        group: group.id,
        runs: [...new Set(group.members.map(({ run }) => run.manifest.id))],
      },
      trajectories,
      exceptions: unscored.map((member) => {
        const { owner, code, message } = whyUnscored(member)
        return { type: `${owner}.${code}`, message, traceback: '' }
      }),
      metadata: { ...shared, group: group.id },
      metrics: {
        ordered: group.members.length,
        trajectories: trajectories.length,
        without_reward: unscored.length,
      },
      logs: [],
    }
  },
}

/** Why nothing of an attempt was left. */
function whyNone({ refused }: Pick<RowsReport, 'refused'>): NoRow {
  if (refused.length === 0) return 'no_calls'
  return refused.every(({ reason }) => reason === 'truncated' || reason === 'cut_away')
    ? 'truncated'
    : 'no_tokens'
}

function attemptOf({ run, attempt, order, policy, reward, success }: Lineage) {
  return { run, attempt, order, policy, reward, success }
}
