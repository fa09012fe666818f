export { type EvaluationRow, evaluationRows } from './evaluation-rows.ts'
export { toOpenAiGrader } from './openai-grader.ts'
export type { PythonSource } from './python-source.ts'
export { toBedrock, toRunRl } from './reward-files.ts'
