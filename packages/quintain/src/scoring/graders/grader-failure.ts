import type { Grader, GraderErrorCode, GraderResult } from './grader.ts'

/**
 * A grader that gave no score: null, but for `sample_parse_error`, which says that the agent did not give what was asked of
 * it, and is 0.
 */
export function failed(grader: Grader, code: GraderErrorCode, message: string): GraderResult {
  const score = code === 'sample_parse_error' ? 0 : null
  return { name: grader.name, type: grader.type, score, error: { code, message } }
}
