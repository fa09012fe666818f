export * from './benjamini-hochberg.ts'
export * from './beta.ts'
export * from './binomial.ts'
export {
  type BootstrapInterval,
  type BootstrapOptions,
  bootstrapInterval,
  bootstrapIntervalAsync,
  bootstrapLimit,
  bootstrapWorkAtOnce,
} from './bootstrap.ts'
export * from './bounded-mean-test.ts'
export * from './clopper-pearson.ts'
export * from './clustered-mean.ts'
export * from './clustered-proportion.ts'
export * from './coverage.ts'
export * from './discordant-e-value.ts'
export { holm } from './holm.ts'
export * from './mcnemar.ts'
export * from './mcnemar-power.ts'
export * from './mean.ts'
export * from './missing-bounds.ts'
export * from './noncentral-t.ts'
export * from './normal.ts'
export * from './obrien-fleming.ts'
export * from './over-tasks.ts'
export * from './pair-scores.ts'
export * from './paired.ts'
export * from './paired-again.ts'
export { type CountReason, type Defined, passAtK } from './pass-at-k.ts'
export * from './pass-hat-k.ts'
export * from './pass-interval.ts'
export * from './plan-detectable.ts'
export {
  type Design,
  type PowerOptions,
  type PowerReason,
  powerOf,
  requiredTasks,
  smallestDetectable,
  taskVariance,
} from './power.ts'
export * from './quantile.ts'
export * from './reducer.ts'
export * from './repeat-mean.ts'
export * from './scope.ts'
export * from './sequential-comparison.ts'
export * from './sign-flip-test.ts'
export * from './sign-flips.ts'
export * from './sign-test.ts'
export * from './standard-error.ts'
export * from './student-t.ts'
export * from './variance-split.ts'
export * from './wilson.ts'
