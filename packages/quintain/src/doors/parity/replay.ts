import type { Grader, GraderMeans, GraderPolicy, GraderResult } from '../../scoring/index.ts'
import { runGrader } from '../../scoring/index.ts'
import { type GraderParity, ParityCount } from './compare-scores.ts'
import type { ParityRow } from './parity-row.ts'

export interface ReplayOptions {
  /** By the name under which saved scores have them. */
  graders: Readonly<Record<string, Grader>>
  rows: AsyncIterable<ParityRow> | Iterable<ParityRow>
  means?: GraderMeans
  policy?: GraderPolicy
  /** Rows that are graded at a time; 4 when absent. */
  concurrency?: number
  signal?: AbortSignal
}

/** What a replay came to. */
export interface ParityReport {
  rows: number
  graders: GraderParity[]
  /** Names of saved scores that are of none of the graders, with how many. */
  strange: Record<string, number>
}

/**
 * Runs graders over saved outputs and compares what they give with what the vendor's gave. A grader that cannot run is
 * counted by its error, and is no disagreement and no zero. Parts of `multi` are compared where saved scores name them.
 */
export async function replay({
  graders,
  rows,
  means = {},
  policy = {},
  concurrency = 4,
  signal,
}: ReplayOptions): Promise<ParityReport> {
  const counts = new Map<string, ParityCount>()
  const report: ParityReport = { rows: 0, graders: [], strange: {} }
  const whole = Object.entries(graders)
  for (const [name, grader] of whole) counts.set(name, new ParityCount(name, grader))
  for (const [, grader] of whole) {
    if (grader.type !== 'multi') continue
    for (const [name, part] of Object.entries(grader.graders))
      if (!counts.has(name)) counts.set(name, new ParityCount(name, part))
  }
  const grade = async ({ line, item, sample, expected }: ParityRow): Promise<void> => {
    const given = new Map<string, GraderResult>()
    for (const [name, grader] of whole) {
      if (!isWanted(name, grader, expected)) continue
      const result = await runGrader({
        grader,
        item,
        sample,
        means,
        policy,
        ...(signal === undefined ? {} : { signal }),
      })
      for (const [part, found] of Object.entries(result.parts ?? {})) given.set(part, found)
      given.set(name, result)
    }
    for (const [name, saved] of Object.entries(expected)) {
      const count = counts.get(name)
      const result = given.get(name)
      if (count === undefined || result === undefined) report.strange[name] = (report.strange[name] ?? 0) + 1
      else
        count.add(line, saved, {
          score: result.score,
          ...(result.error === undefined ? {} : { error: result.error.code }),
        })
    }
    report.rows++
  }
  const open = new Set<Promise<void>>()
  let failure: { thrown: unknown } | undefined
  for await (const row of rows) {
    signal?.throwIfAborted()
    if (failure !== undefined) break
    const one = grade(row)
      .catch((thrown: unknown) => {
        failure ??= { thrown }
      })
      .finally(() => open.delete(one))
    open.add(one)
    if (open.size >= concurrency) await Promise.race(open)
  }
  await Promise.all(open)
  if (failure !== undefined) throw failure.thrown
  report.graders = [...counts.values()].map((count) => count.result()).filter(({ rows: seen }) => seen > 0)
  return report
}

/** Whether the saved scores of a row name a grader or one of its parts. */
function isWanted(name: string, grader: Grader, expected: ParityRow['expected']): boolean {
  if (Object.hasOwn(expected, name)) return true
  return grader.type === 'multi' && Object.keys(grader.graders).some((part) => Object.hasOwn(expected, part))
}

/** Whether something was compared and all of it agrees: every row within its tolerance, and every row graded. */
export function agrees({ graders, rows }: ParityReport): boolean {
  if (rows > 0 && graders.every(({ compared }) => compared === 0)) return false
  return graders.every(
    ({ compared, agreeing, errors }) => compared === agreeing && Object.keys(errors).length === 0,
  )
}
