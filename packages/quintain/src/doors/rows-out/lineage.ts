import type { ManifestRecord, OrderRecord } from '../../core/index.ts'
import { filterText, type RowFilter } from './row-filter.ts'

/** What rows of a file are: a kind of row, or what a trainer calls its own. */
export const rowForms = ['tokens', 'sft', 'preference', 'tinker', 'art', 'trl'] as const
export type RowForm = (typeof rowForms)[number]

/** Schemas of lines of rows for trainers. Their fields are in docs/rows.md; a version only grows. */
export const rowSchemas = {
  sft: 'quintain.sft-row',
  preference: 'quintain.preference-row',
  tinker: 'quintain.tinker-row',
  art: 'quintain.art-group',
  trl: 'quintain.trl-row',
} as const
export type TrainerForm = keyof typeof rowSchemas

/** Where the numbers of a row come from, whatever its form. Names are spelled as Python spells them. */
export interface RunLineage {
  schema: (typeof rowSchemas)[TrainerForm]
  v: 1
  environment: string
  environment_version: string
  environment_digest: string
  rubric: string
  task: string
  split: string
  seat: string
  /** Which attempts were let in, `success` or `reward>=0.5`; the threshold apart where there is one. */
  filter: string
  threshold: number | null
  /** Of every so many attempts at a task the best was taken; null where all were. */
  best_of_n: number | null
}

/** One attempt, as the lineage of a row names it. */
export interface AttemptLineage {
  run: string
  attempt: string
  order: string
  policy: string | null
  reward: number | null
  success: boolean | null
}

export type Lineage = RunLineage & AttemptLineage

/** How attempts were chosen, for the lineage of what was made of them. */
export interface Choice {
  filter: RowFilter
  bestOfN?: number | undefined
}

/** The lineage that all rows of a task of a run share. */
export function runLineage(
  form: TrainerForm,
  { environment, rubric }: ManifestRecord,
  { task, split }: Pick<OrderRecord, 'task' | 'split'>,
  { seat, filter, bestOfN }: Choice & { seat: string },
): RunLineage {
  return {
    schema: rowSchemas[form],
    v: 1,
    environment: environment.name,
    environment_version: environment.version,
    environment_digest: environment.digest,
    rubric,
    task,
    split,
    seat,
    filter: filterText(filter),
    threshold: filter.kind === 'reward' ? filter.least : null,
    best_of_n: bestOfN ?? null,
  }
}
