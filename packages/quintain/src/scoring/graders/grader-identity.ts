import { canonicalJson, sha256 } from '../../core/index.ts'
import type { Grader, GraderPolicy } from './grader.ts'
import { judgeForm } from './judge-request.ts'

/** Grows when the same grader would give other scores: formula, templates, metrics or the reading of replies changed. */
const gradersVersion = 1

/**
 * Digest of everything that makes a grader's scores: models, prompts, ranges, sampling, sources, formula, policy, and how
 * replies are read. Scores of two identities are not to be compared as if they were one grader's. Names of graders that
 * no formula uses do not count. `models` says which model stands for each that the file names.
 */
export function graderIdentity(
  grader: Grader,
  options: { policy?: GraderPolicy; models?: Readonly<Record<string, string>> } = {},
): string {
  const { outOfRange = 'fault', pythonError = 'fault' } = options.policy ?? {}
  return sha256(
    canonicalJson({
      version: gradersVersion,
      judgeForm,
      policy: { outOfRange, pythonError },
      models: Object.fromEntries(
        modelsOf(grader).map((name) => [name, options.models?.[name] ?? options.models?.['*'] ?? name]),
      ),
      grader: withoutName(grader),
    }),
  )
}

/** Names of the models that a grader asks, each once: the `judges` of its environment. */
export function modelsOf(grader: Grader): string[] {
  if (grader.type === 'multi') return [...new Set(Object.values(grader.graders).flatMap(modelsOf))]
  return 'model' in grader ? [grader.model] : []
}

function withoutName(grader: Grader): Record<string, unknown> {
  const { name: _, ...rest } = grader
  if (rest.type !== 'multi') return rest
  const parts = Object.entries(rest.graders).map(([key, part]) => [key, withoutName(part)])
  return { ...rest, graders: Object.fromEntries(parts) }
}
