import {
  canonicalJson,
  type Folded,
  foldRun,
  type ManifestRecord,
  QuintainError,
  type RunFold,
} from '../core/index.ts'
import { type Paired, pairedDifference } from '../stats/index.ts'
import { countText, plural, scoreText, shareText } from './number-text.ts'
import { printableLine } from './printable.ts'

/** One side of a comparison. */
export interface ComparedRun {
  dir: string
  policy: string
  orders: number
  scored: number
}

/** Two runs, paired by task: the difference is of the second from the first, `b - a`. */
export interface Comparison {
  schema: 'quintain.comparison'
  v: 1
  a: ComparedRun
  b: ComparedRun
  /** Null when the environment does not say what success is. */
  success: Paired | null
  reward: Paired
  /** Tasks that some order of either run left without a score. */
  incompleteTasks: number
  /** Those of them that are compared all the same, by what was scored; the rest have no score in one of the runs. */
  partialTasks: number
  /** What makes the runs incomparable, when the comparison was forced; empty otherwise. */
  differences: string[]
}

interface TaskMeans {
  reward: Map<string, number | null>
  success: Map<string, number | null>
  incomplete: Set<string>
  scored: number
}

function taskMeans(fold: RunFold<Folded>): TaskMeans {
  const sums = new Map<
    string,
    { reward: number; success: number; n: number; orders: number; judged: boolean }
  >()
  let scored = 0
  for (const { order, status, chosen } of fold.states) {
    const sum = sums.get(order.task) ?? { reward: 0, success: 0, n: 0, orders: 0, judged: true }
    sums.set(order.task, sum)
    sum.orders++
    if (status !== 'scored' || chosen?.verdict?.reward == null) continue
    scored++
    sum.n++
    sum.reward += chosen.verdict.reward
    if (chosen.verdict.success === null) sum.judged = false
    else sum.success += Number(chosen.verdict.success)
  }
  const reward = new Map<string, number | null>()
  const success = new Map<string, number | null>()
  const incomplete = new Set<string>()
  for (const [task, sum] of sums) {
    reward.set(task, sum.n === 0 ? null : sum.reward / sum.n)
    success.set(task, sum.n === 0 || !sum.judged ? null : sum.success / sum.n)
    if (sum.n < sum.orders) incomplete.add(task)
  }
  return { reward, success, incomplete, scored }
}

/** What two runs would have to share to measure the same thing, and do not. */
export function manifestDifferences(a: ManifestRecord, b: ManifestRecord): string[] {
  const differences: string[] = []
  const differ = (what: string, left: unknown, right: unknown) => {
    const [one, other] = [canonicalJson(left ?? null), canonicalJson(right ?? null)]
    if (one !== other) differences.push(`${what}: ${printableLine(one, 80)} and ${printableLine(other, 80)}`)
  }
  differ('environment', a.environment.name, b.environment.name)
  differ('version', a.environment.version, b.environment.version)
  differ('digest', a.environment.digest.slice(0, 12), b.environment.digest.slice(0, 12))
  differ('options', a.environment.options, b.environment.options)
  differ('rubric', a.rubric.slice(0, 12), b.rubric.slice(0, 12))
  differ('limits', a.limits, b.limits)
  return differences
}

/**
 * Compares two runs of the same environment, task by task. Runs of another environment, digest, options, rubric or
 * limits measure something else: throws `run_mismatch`, unless `force`, which keeps the differences as a label.
 */
export async function compareRuns(
  a: string,
  b: string,
  { force = false }: { force?: boolean } = {},
): Promise<Comparison> {
  const project = ({ verdict, fault, outcome }: Folded): Folded => ({ verdict, fault, outcome })
  const left = await foldRun<Folded>(a, project)
  const right = await foldRun<Folded>(b, project)
  const differences = manifestDifferences(left.manifest, right.manifest)
  if (differences.length > 0 && !force) {
    throw new QuintainError(
      'run_mismatch',
      `${a} and ${b} do not measure the same thing (${differences.join('; ')}). Run one of them again, or compare them all the same (--force; force: true) and keep the label.`,
      { facts: { differences } },
    )
  }
  const [before, after] = [taskMeans(left), taskMeans(right)]
  const declared = left.manifest.environment.success && right.manifest.environment.success
  const side = (fold: RunFold<Folded>, { scored }: TaskMeans): ComparedRun => ({
    dir: fold.dir,
    policy: fold.manifest.seats.agent?.policy ?? '',
    orders: fold.states.length,
    scored,
  })
  const reward = pairedDifference(after.reward, before.reward)
  const incomplete = new Set([...before.incomplete, ...after.incomplete])
  const dropped = new Set(reward.dropped)
  return {
    schema: 'quintain.comparison',
    v: 1,
    a: side(left, before),
    b: side(right, after),
    success: declared ? pairedDifference(after.success, before.success) : null,
    reward,
    incompleteTasks: incomplete.size,
    partialTasks: [...incomplete].filter((task) => !dropped.has(task)).length,
    differences,
  }
}

const reasons = {
  no_pairs: 'no task was scored in both',
  single_pair: 'one task says nothing of how tasks differ',
  no_spread: 'every task differs by the same',
}

function differenceText(label: string, found: Paired): string {
  if (found.difference === null) return `${label} none (${reasons.no_pairs})`
  const sign = found.difference > 0 ? '+' : ''
  const interval =
    found.interval === null ? '' : ` [${found.interval.map((bound) => scoreText(bound)).join(', ')}]`
  const method =
    found.interval === null
      ? `no interval: ${reasons[found.reason ?? 'no_spread']}`
      : '95 %, t, paired by task, new tasks'
  const p =
    found.p === null
      ? ''
      : `; p ${found.p < 0.001 ? '< 0.001' : `= ${found.p.toFixed(3)}`}, ${found.pMethod === 't' ? "Student's t" : 'exact sign flips'}`
  return `${label} ${sign}${scoreText(found.difference)}${interval} (${method}; n = ${plural(found.pairs, 'task')}: ${countText(found.higher)} better, ${countText(found.equal)} equal, ${countText(found.lower)} worse${p})`
}

/** A comparison as a few lines for a terminal. */
export function formatComparison(comparison: Comparison): string {
  const { a, b, success, reward } = comparison
  const side = ({ policy, dir, orders, scored }: ComparedRun) =>
    printableLine(
      `${policy}  ${plural(orders, 'order')}, coverage ${shareText(orders === 0 ? null : scored / orders)}  ${dir}`,
      300,
    )
  const lines = [`  from  ${side(a)}`, `  to    ${side(b)}`, '']
  if (success !== null) lines.push(`  ${differenceText('success', success)}`)
  lines.push(`  ${differenceText('reward ', reward)}`)
  const dropped = reward.dropped.length
  const missing: string[] = []
  if (dropped > 0) missing.push(`${plural(dropped, 'task')} left out, without a score in one of the runs`)
  if (comparison.partialTasks > 0) {
    missing.push(`${plural(comparison.partialTasks, 'task')} compared by a part of the orders only`)
  }
  if (missing.length > 0) lines.push(`  Not the whole: ${missing.join('; ')}.`)
  for (const difference of comparison.differences) lines.push(`  NOT COMPARABLE  ${difference}`)
  return `${lines.join('\n')}\n`
}
