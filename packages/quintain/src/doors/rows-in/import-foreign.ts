import { type ImportedRun, type ImportOptions, importRun } from '../import-run.ts'
import { inspectFormat } from './inspect-format.ts'
import { verifiersFormat } from './verifiers-format.ts'
import { resultsMetadata } from './verifiers-metadata.ts'

export const foreignFormats = ['verifiers', 'inspect', 'chat'] as const
export type ForeignFormat = (typeof foreignFormats)[number]

export interface ImportForeignOptions extends Omit<ImportOptions, 'as' | 'drop' | 'sampling'> {
  /** Of Inspect: the score that is the reward; the first scorer's when absent. */
  score?: string
  /** Refuse a file of which anything cannot be read. */
  strict?: boolean
}

/**
 * Makes a run of what another platform wrote: results of `verifiers` (v0 `results.jsonl` with its `metadata.json`, v1
 * `traces.jsonl`), a log of Inspect (`.json`, `.eval`), or chat lines. What cannot be read is left out and told; errors of
 * the original are faults; what has no reward is unscored.
 *
 * Throws what `importRun` throws.
 *
 * @example await importForeign('verifiers', 'outputs/evals/wordle--m/1/results.jsonl', { out: 'runs/wordle' })
 */
export async function importForeign(
  format: ForeignFormat,
  path: string,
  { score, strict = false, ...options }: ImportForeignOptions,
): Promise<ImportedRun> {
  const shared = { ...options, drop: !strict }
  if (format === 'chat') return importRun(path, { ...shared, as: 'chat' })
  if (format === 'inspect') return importRun(path, { ...shared, as: inspectFormat(score) })
  const { environment, model, sampling, passThreshold } = await resultsMetadata(path)
  return importRun(path, {
    ...(environment === undefined ? {} : { name: environment }),
    ...(model === undefined ? {} : { policy: model }),
    ...(sampling === undefined ? {} : { sampling }),
    ...shared,
    as: verifiersFormat(passThreshold === undefined ? {} : { passThreshold }),
  })
}
