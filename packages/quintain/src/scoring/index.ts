export * from './action-match.ts'
export * from './answer-match.ts'
export * from './argument-match.ts'
export * from './calendar.ts'
export * from './calls-match.ts'
export { stateDigest } from './canonical-state.ts'
export * from './communicate.ts'
export * from './compose-parts.ts'
export * from './compose-reward.ts'
export * from './extract-answer.ts'
export { type Box, findBoxes } from './extract-boxed.ts'
export type { Extraction, NoAnswer } from './extraction.ts'
export * from './find-test.ts'
export type * from './graders/grader.ts'
export { graderIdentity, modelsOf } from './graders/grader-identity.ts'
export { type GraderRewardOptions, graderRewards } from './graders/grader-rewards.ts'
export { sampleOf } from './graders/grader-sample.ts'
export { readLabelReply, readScoreReply } from './graders/judge-reply.ts'
export { type ReadGrader, readGrader } from './graders/read-grader.ts'
export { type RunGraderOptions, runGrader } from './graders/run-grader.ts'
export {
  evaluateScoreFormula,
  type Formula,
  type FormulaReading,
  type FormulaValue,
  parseFormula,
} from './graders/score-formula.ts'
export { fieldsOf, parseTemplate, type Rendered, renderTemplate } from './graders/template.ts'
export {
  formulaProblems,
  type GraderProblem,
  templatesOf,
  validateGrader,
} from './graders/validate-grader.ts'
export {
  matchJsonSchema,
  type SchemaMatch,
  type SchemaProblem,
} from './json-schema/match-json-schema.ts'
export * from './maths/math-equal.ts'
export * from './maths/math-policy.ts'
export * from './maths/math-score.ts'
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
export {
  matchWithin,
  type PatternError,
  type PatternMatches,
  patternMs,
  testWithin,
} from './pattern/match-within.ts'
export { imagePackages } from './python/image.ts'
export { type PythonOptions, pythonIn } from './python/python-in.ts'
export * from './relative-day.ts'
export * from './resolve-tests.ts'
export * from './reward-file.ts'
export * from './run-checks.ts'
export { calculatedCells, sameFormula } from './sheets/calculated-cells.ts'
export * from './sheets/cell-value.ts'
export * from './sheets/compare-cells.ts'
export {
  type CalculatorOptions,
  evaluateFormula,
  type SheetCalculator,
  sheetCalculator,
} from './sheets/evaluate-formula.ts'
export type { SheetCell } from './sheets/read-sheet.ts'
export * from './sheets/read-workbook.ts'
export type { WorkbookProblemKind } from './sheets/workbook-problem.ts'
export { levenshteinSimilarity } from './similarity/levenshtein.ts'
export { bleu } from './similarity/ngrams.ts'
export {
  cosineSimilarity,
  isTextMetric,
  type TextMetric,
  textMetrics,
  textSimilarity,
} from './similarity/text-similarity.ts'
export * from './sql-result.ts'
export * from './state-diff.ts'
export * from './state-diff-lines.ts'
export type { StatePath, StateRules } from './state-rules.ts'
export { resultsText, type SuiteResults } from './suite-results.ts'
export * from './suite-run.ts'
export * from './tags.ts'
export * from './task-admission.ts'
export {
  parseTestLog,
  type TestLog,
  type TestLogDialect,
  type TestLogProblem,
  testLogDialects,
} from './test-log.ts'
export { type TestStatus, testStatusOf } from './test-status.ts'
export { type StrippedReasoning, stripReasoning } from './thinking.ts'
export type { ValueType } from './value-type.ts'
