import { QuintainError } from '../../core/index.ts'

/** Which scored attempts rows are made of: all, those that succeeded, or those whose reward is high enough. */
export type RowFilter = { kind: 'all' } | { kind: 'success' } | { kind: 'reward'; least: number }

/**
 * The filter that a text names: `all`, `success`, `reward` (with a threshold), `reward>=0.5`. A threshold alone is the
 * filter `reward`. Undefined where nothing is said.
 *
 * Throws `usage`. A shell takes the `>` of an unquoted `reward>=0.5` for itself, so what is left of it, `reward`, is told so.
 */
export function rowFilter(text: string | undefined, threshold?: number): RowFilter | undefined {
  if (text === undefined) return threshold === undefined ? undefined : { kind: 'reward', least: threshold }
  const [, given] = /^reward\s*>=\s*(.+)$/.exec(text) ?? []
  if (given !== undefined) {
    const least = Number(given)
    if (given.trim() === '' || !Number.isFinite(least))
      throw refuse(`The filter "${text}" compares the reward with no number.`)
    if (threshold !== undefined)
      throw refuse(`The filter "${text}" has its threshold already; give --threshold with --filter reward.`)
    return { kind: 'reward', least }
  }
  if (text === 'reward') {
    if (threshold === undefined)
      throw refuse(
        "The filter reward needs a threshold: --filter reward --threshold 0.5, or, in quotes, --filter 'reward>=0.5'.",
      )
    return { kind: 'reward', least: threshold }
  }
  if (text !== 'all' && text !== 'success')
    throw refuse(`There is no filter "${text}". Filters: all, success, reward>=X.`)
  if (threshold !== undefined) throw refuse(`A threshold is of the filter reward, and the filter is ${text}.`)
  return { kind: text }
}

function refuse(message: string): QuintainError {
  return new QuintainError('usage', message)
}

/** The filter as lineage names it: `all`, `success`, `reward>=0.5`. */
export function filterText(filter: RowFilter): string {
  return filter.kind === 'reward' ? `reward>=${filter.least}` : filter.kind
}

/** Whether a scored attempt is one to make rows of. */
export function passes(
  filter: RowFilter,
  { reward, success }: { reward: number | null; success: boolean | null },
): boolean {
  if (filter.kind === 'all') return true
  if (filter.kind === 'success') return success === true
  return reward !== null && reward >= filter.least
}
