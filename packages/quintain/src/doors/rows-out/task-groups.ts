import {
  type AttemptRecord,
  canonicalJson,
  type Fault,
  type Folded,
  foldRun,
  type ManifestRecord,
  type OrderRecord,
  type OrderStatus,
  QuintainError,
  type RunIssue,
  sha256,
} from '../../core/index.ts'

/** What is kept of an attempt line: runs have a hundred thousand of them. */
export interface SlimAttempt extends Folded {
  id: string
  parts: Pick<AttemptRecord['parts'], 'trajectory' | 'tokens'>
  counts: Pick<AttemptRecord['counts'], 'turns' | 'toolCalls'>
  /** Its longer texts were cut when it was recorded. */
  cut: boolean
}

/** A run that rows are made of. */
export interface SourceRun {
  dir: string
  manifest: ManifestRecord
  /** Who played the seat; null where nobody did. */
  policy: string | null
}

/** An order of a task, and the attempt at it that counts, where there is one. */
export interface Member {
  run: SourceRun
  order: OrderRecord
  status: OrderStatus
  attempt: SlimAttempt | undefined
  /** Of the seat that is asked for; null where it was not scored. */
  reward: number | null
  success: boolean | null
}

/** All orders of one task that may be compared with each other, in the order of their plans. */
export interface TaskGroup {
  id: string
  members: Member[]
}

export interface Source {
  runs: SourceRun[]
  groups: TaskGroup[]
  /** Orders that were placed and cannot be read. */
  lost: number
  issues: RunIssue[]
}

/**
 * The orders of some runs by task. Rewards are compared only within one measurement: of runs with another environment,
 * rubric or judge, the same task is another group; with `byPolicy`, so it is for another policy or other settings, since
 * what a group's mean is taken from is one policy's.
 *
 * Holds a few words of each attempt, never a trajectory, and reads nothing private. Throws what `foldRun` throws, and
 * `usage` for a run that is named twice.
 */
export async function readGroups(
  dirs: readonly string[],
  { seat, byPolicy }: { seat: string; byPolicy: boolean },
): Promise<Source> {
  const source: Source = { runs: [], groups: [], lost: 0, issues: [] }
  const groups = new Map<string, TaskGroup>()
  for (const dir of dirs) {
    const fold = await foldRun(dir, slim)
    const { manifest } = fold
    const played = manifest.seats[seat]
    if (source.runs.some((run) => run.manifest.id === manifest.id))
      throw new QuintainError('usage', `The run ${dir} is named twice; its attempts would count twice.`, {
        facts: { dir },
      })
    const run: SourceRun = { dir, manifest, policy: played?.policy ?? null }
    source.runs.push(run)
    source.lost += fold.lost
    source.issues.push(...fold.issues)
    const measured = measurementOf(manifest, byPolicy ? played : undefined)
    for (const { order, status, chosen } of fold.states) {
      const key = `${measured} ${order.taskDigest} ${order.task}`
      let group = groups.get(key)
      if (group === undefined) {
        group = { id: sha256(key).slice(0, 16), members: [] }
        groups.set(key, group)
        source.groups.push(group)
      }
      group.members.push({ run, order, status, attempt: chosen, ...scoreOf(chosen?.verdict, seat) })
    }
  }
  return source
}

function slim({
  id,
  verdict,
  fault,
  outcome,
  counts,
  parts: { trajectory, tokens },
}: AttemptRecord): SlimAttempt {
  const { turns, toolCalls, flags } = counts
  return {
    id,
    verdict,
    fault,
    outcome,
    parts: { trajectory, ...(tokens === undefined ? {} : { tokens }) },
    counts: { turns, toolCalls },
    cut: flags?.['record_cut'] !== undefined,
  }
}

/** Two runs are one measurement where this is the same text. */
function measurementOf(
  { environment, rubric, judges }: ManifestRecord,
  played: ManifestRecord['seats'][string] | undefined,
): string {
  const player = played && [played.policy, played.harness, played.agentDigest ?? null, played.sampling ?? {}]
  return sha256(canonicalJson([environment.name, environment.digest, rubric, judges ?? {}, player ?? null]))
}

function scoreOf(
  verdict: SlimAttempt['verdict'] | undefined,
  seat: string,
): { reward: number | null; success: boolean | null } {
  // A verdict's success is the agent's.
  if (seat === 'agent') return { reward: verdict?.reward ?? null, success: verdict?.success ?? null }
  return { reward: verdict?.seats?.[seat] ?? null, success: null }
}

/** A fault, or why there is no reward, in a few words that name no secret. */
export function whyUnscored({
  status,
  attempt,
}: Member): Pick<Fault, 'code' | 'message'> & { owner: string } {
  const { fault, verdict } = attempt ?? {}
  if (fault) return { owner: fault.owner, code: fault.code, message: fault.message }
  const unscored = verdict?.unscored
  if (unscored)
    return { owner: 'unscored', code: unscored.reason, message: `${unscored.component} gave no reward` }
  return { owner: 'unscored', code: status, message: `the order is ${status}` }
}
