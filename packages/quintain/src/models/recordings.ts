import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { messageOf, QuintainError } from '../core/errors.ts'
import { type JsonlIssue, readJsonlFile } from '../core/jsonl.ts'
import { type AssistantMessage, assistantMessage } from '../core/message.ts'
import { type Cut, outcomes, trajectoryRecord } from '../core/records.ts'
import { foldRun, readTrajectory, runFiles } from '../core/run-folder.ts'
import { type RecordedCall, rolloutOf } from './recorded-rollout.ts'

/** Replies that somebody gave once, by task and repeat. */
export interface Recordings {
  /** Where it was read from. */
  readonly path: string
  /** How many rollouts are recorded. */
  readonly size: number
  /** Oddities of the file that lost no whole record, such as a torn last line. */
  readonly issues: readonly JsonlIssue[]
  /**
   * The assistant messages of a rollout, in order; undefined when it is not recorded. A task with one recording that
   * names no repeat has it for every repeat; several without a repeat are repeats 0, 1, 2, … in the order of the file.
   */
  replies(task: string, repeat: number): readonly AssistantMessage[] | undefined
  /** What its model was asked, where that is known: an agent of the user's asks more than it says. */
  calls(task: string, repeat: number): readonly RecordedCall[] | undefined
  /** How the rollout was cut when it was recorded; undefined where it was not, or nobody says. */
  cut(task: string, repeat: number): Cut | undefined
}

interface Recorded {
  replies: readonly AssistantMessage[]
  calls?: readonly RecordedCall[]
  cut: Cut | undefined
}

interface TaskRecordings {
  byRepeat: Map<number, Recorded>
  unnumbered: Recorded[]
}

/**
 * Reads recorded replies: a run's folder (the attempts that count, what seat `agent` said), or JSON lines of
 * `{ task, repeat?, messages: [text or assistant message, …] }`, `{ task, repeat?, completion: text }` or trajectories. A
 * line's `outcome`, such as `turn_limit`, says how it was cut.
 *
 * Throws `policy_invalid` for a file that does not exist, a line that is none of these, and two recordings of one repeat;
 * for a folder what `foldRun` throws.
 */
export async function readRecordings(path: string): Promise<Recordings> {
  const tasks = new Map<string, TaskRecordings>()
  const issues: JsonlIssue[] = []
  let size = 0

  function add(task: string, repeat: number | undefined, recorded: Recorded, place: string): void {
    let entry = tasks.get(task)
    if (entry === undefined) {
      entry = { byRepeat: new Map(), unnumbered: [] }
      tasks.set(task, entry)
    }
    size++
    if (repeat === undefined) {
      entry.unnumbered.push(recorded)
      return
    }
    if (entry.byRepeat.has(repeat))
      throw invalid(`${place} records repeat ${repeat} of task "${task}" a second time; keep one.`)
    entry.byRepeat.set(repeat, recorded)
  }

  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw invalid(`There is no recording at ${path}.`)
  if (found.isDirectory()) {
    const { states } = await foldRun(path)
    for (const { order, chosen } of states) {
      if (chosen === undefined || chosen.outcome === null) continue
      const recorded = { ...rolloutOf(await readTrajectory(path, chosen)), cut: cutOf(chosen.outcome) }
      add(order.task, order.repeat, recorded, `${runFiles.trajectories}`)
    }
  } else {
    const name = basename(path)
    const lines = readJsonlFile(path, {
      onIssue: (issue) => {
        if (issue.kind === 'bad_line' || issue.kind === 'too_long')
          throw invalid(`${name}, line ${issue.line + 1}: ${issue.message}.`)
        issues.push(issue)
      },
    })
    for await (const { value, line } of lines) {
      const place = `${name}, line ${line + 1}`
      const { task, repeat, recorded } = readLine(value, place)
      add(task, repeat, recorded, place)
    }
  }

  const recordedOf = (task: string, repeat: number): Recorded | undefined => {
    const entry = tasks.get(task)
    if (entry === undefined) return undefined
    const { byRepeat, unnumbered } = entry
    return byRepeat.get(repeat) ?? (unnumbered.length === 1 ? unnumbered[0] : unnumbered[repeat])
  }
  return {
    path,
    size,
    issues,
    replies: (task, repeat) => recordedOf(task, repeat)?.replies,
    calls: (task, repeat) => recordedOf(task, repeat)?.calls,
    cut: (task, repeat) => recordedOf(task, repeat)?.cut,
  }
}

function cutOf(outcome: unknown): Cut | undefined {
  const known = outcomes.find((one) => one === outcome)
  return known === 'completed' || known === 'env_done' || known === 'cancelled' ? undefined : known
}

function readLine(
  value: unknown,
  place: string,
): { task: string; repeat: number | undefined; recorded: Recorded } {
  if (typeof value !== 'object' || value === null) throw invalid(`${place} is no object.`)
  const line = value as Record<string, unknown>
  if (line['schema'] === 'quintain.trajectory') {
    const record = trajectoryRecord.safeParse(line)
    if (!record.success) throw invalid(`${place} is no trajectory: ${messageOf(record.error)}`)
    const repeat = /#(\d+)$/.exec(record.data.order)?.[1]
    return {
      task: record.data.task,
      repeat: repeat === undefined ? undefined : Number(repeat),
      recorded: { ...rolloutOf(record.data), cut: undefined },
    }
  }
  const { task, repeat, messages, completion } = line
  if (typeof task !== 'string' && typeof task !== 'number') throw invalid(`${place} names no task.`)
  if (repeat !== undefined && repeat !== null && !(Number.isInteger(repeat) && (repeat as number) >= 0))
    throw invalid(`${place}: "repeat" is ${JSON.stringify(repeat)}; write a whole number from 0.`)
  const list = messages ?? (typeof completion === 'string' ? [completion] : completion)
  if (!Array.isArray(list)) throw invalid(`${place} has neither "messages" nor "completion".`)
  const replies: AssistantMessage[] = []
  for (const entry of list as unknown[]) {
    if (typeof entry === 'string') {
      replies.push({ role: 'assistant', content: entry })
      continue
    }
    // Whole conversations may be given; what others said is said by the world this time.
    const role = (entry as { role?: unknown } | null)?.role
    if (role === 'user' || role === 'system' || role === 'tool') continue
    const parsed = assistantMessage.safeParse(entry)
    if (!parsed.success)
      throw invalid(
        `${place} holds something that is neither a text nor an assistant message: ${messageOf(parsed.error)}`,
      )
    replies.push(parsed.data)
  }
  const recorded = { replies, cut: cutOf(line['outcome']) }
  return { task: String(task), repeat: typeof repeat === 'number' ? repeat : undefined, recorded }
}

function invalid(message: string): QuintainError {
  return new QuintainError('policy_invalid', message)
}
