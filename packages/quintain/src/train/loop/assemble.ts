import type { Rollout, RolloutRun } from '../../engine/index.ts'
import { refillOf, sortGroups } from '../groups.ts'
import type { TrainingRecord } from '../records.ts'
import type { Checkpoints } from './checkpoints.ts'
import { GroupSource } from './group-source.ts'
import { Lessons } from './learn.ts'
import { type Member, memberOf } from './member.ts'
import type { SeatPolicy } from './seat-policy.ts'
import type { Settings } from './settings.ts'
import type { StepsLog } from './steps-log.ts'
import { TaskDraw } from './task-draw.ts'
import type { SplitTasks } from './task-splits.ts'
import type { Sitting } from './train-options.ts'
import type { TrainingParts } from './training.ts'

export interface Beginning {
  record: TrainingRecord
  settings: Settings
  splits: SplitTasks
  steps: number
  run: RolloutRun
  policy: SeatPolicy
  log: StepsLog
  checkpoints: Checkpoints
  sitting: Sitting
  /** Where it stands: steps that were made, and groups that were drawn. */
  step?: number
  drawn?: number
}

/** Makes what a step learns from of a rollout. */
export function memberMaker({
  record,
  settings,
  sitting,
}: Pick<Beginning, 'record' | 'settings' | 'sitting'>): (rollout: Rollout) => Member {
  const options = { shadow: sitting.shadow ?? settings.shadow, turns: record.algorithm.turns }
  return (rollout) => memberOf(rollout, options)
}

/** A training from what it begins with, or goes on with. */
export function assemble({ step = 0, drawn = 0, ...beginning }: Beginning): TrainingParts {
  const { record, settings, splits, run, sitting } = beginning
  const { algorithm, seed } = record
  const { learner, reference, teacher } = sitting
  const draw = new TaskDraw({ tasks: splits.train, seed, curriculum: settings.curriculum, drawn })
  const source = new GroupSource(
    {
      run,
      draw,
      wanted: algorithm.groups,
      groupSize: algorithm.groupSize,
      refillOf: (counts) => refillOf(algorithm, counts),
      staleness: settings.mode === 'sync' ? undefined : settings.mode.async,
      updates: Math.min(algorithm.minibatches, algorithm.groups) * algorithm.epochs,
      stragglers: settings.stragglers,
      memberOf: memberMaker(beginning),
      whyLeft: (group) => sortGroups([group], algorithm).left[0]?.why,
      version: () => learner.version,
    },
    { step, drawn },
  )
  const others = { ...(reference && { reference }), ...(teacher && { teacher }) }
  return {
    ...beginning,
    learner,
    draw,
    source,
    lessons: new Lessons({ learner, algorithm, seed, ...others }),
  }
}
