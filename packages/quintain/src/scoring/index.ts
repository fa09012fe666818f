export * from './action-match.ts'
export * from './answer-match.ts'
export * from './argument-match.ts'
export * from './calendar.ts'
export * from './calls-match.ts'
export { stateDigest } from './canonical-state.ts'
export * from './communicate.ts'
export * from './compose-reward.ts'
export * from './extract-answer.ts'
export { type Box, findBoxes } from './extract-boxed.ts'
export type { Extraction, NoAnswer } from './extraction.ts'
export * from './find-test.ts'
export { readNumber } from './number-read.ts'
export { findNumbers, type NumberReading, type NumberToken } from './number-text.ts'
export { type NumberValue, type Tolerance, toNumber } from './number-value.ts'
export {
  type MatchResult,
  matchNumber,
  type NumberLocation,
  type NumberPolicy,
  type PercentPolicy,
  sameNumber,
  type UnitPolicy,
} from './numeric-match.ts'
export * from './patch-text.ts'
export * from './relative-day.ts'
export * from './resolve-tests.ts'
export * from './run-checks.ts'
export * from './sql-result.ts'
export * from './state-diff.ts'
export type { StatePath, StateRules } from './state-rules.ts'
export * from './tags.ts'
export * from './task-admission.ts'
export { parseTestLog, type TestLog, type TestLogDialect, testLogDialects } from './test-log.ts'
export { type TestStatus, testStatusOf } from './test-status.ts'
export { type StrippedReasoning, stripReasoning } from './thinking.ts'
export type { ValueType } from './value-type.ts'
