export { resumeTraining } from './resume.ts'
export type { Parted } from './task-splits.ts'
export { train } from './train.ts'
export {
  type Curriculum,
  defaultPools,
  type EvaluationPlan,
  type Measured,
  type Pools,
  type ResumeTrainingOptions,
  type Sitting,
  type Splits,
  type StopRules,
  type Stragglers,
  type TrainingEnd,
  type TrainingMode,
  type TrainOptions,
} from './train-options.ts'
