import {
  type AttemptRecord,
  type ManifestRecord,
  messageOf,
  type OrderRecord,
  type OrderStatus,
  type PrivateRecord,
  playerName,
  QuintainError,
  readManifest,
  readPrivate,
  readTrajectory,
  readVerdict,
  solutionsNote,
  type TrajectoryRecord,
  type VerdictRecord,
} from '../core/index.ts'
import { foldText, indent } from './fold-text.ts'
import { durationText, plural, scoreText } from './number-text.ts'
import { printable, printableLine } from './printable.ts'
import { callLines, trajectoryLines } from './show-calls.ts'
import { plainStyle, type Style } from './style.ts'

/** Everything that is on disk of one attempt; a part that cannot be read is told in `problems`. */
export interface AttemptParts {
  order: OrderRecord
  status: OrderStatus
  attempt: AttemptRecord | undefined
  tries: number
  trajectory: TrajectoryRecord | undefined
  verdict: VerdictRecord | undefined
  /** Kind and weight of the environment's rewards; the verdict that was recorded first has none of a group. */
  rewards: ManifestRecord['environment']['rewards']
  /** Only when it was asked for: it holds the secret. */
  private: PrivateRecord | undefined
  problems: string[]
  /** The run was imported: it has no times but those that its file told. */
  imported: boolean
}

/** Reads the parts of the attempt that counts of an order. A damaged part does not hide the others. */
export async function readAttempt(
  dir: string,
  state: { order: OrderRecord; status: OrderStatus; chosen?: AttemptRecord; tries: number },
  { withPrivate = false }: { withPrivate?: boolean } = {},
): Promise<AttemptParts> {
  const { order, status, chosen, tries } = state
  const problems: string[] = []
  const read = async <T>(
    part: (dir: string, attempt: AttemptRecord) => Promise<T>,
  ): Promise<T | undefined> => {
    if (chosen === undefined) return undefined
    try {
      return await part(dir, chosen)
    } catch (error) {
      problems.push(QuintainError.isInstance(error) ? error.message : messageOf(error))
      return undefined
    }
  }
  const { environment } = await readManifest(dir)
  return {
    order,
    status,
    attempt: chosen,
    tries,
    trajectory: await read(readTrajectory),
    verdict: await read(readVerdict),
    rewards: environment.rewards,
    imported: environment.reference === 'imported',
    private: withPrivate ? await read(readPrivate) : undefined,
    problems,
  }
}

export interface ShowOptions {
  style?: Style
  /** Lines and characters of a text that are shown before it is folded; all of it when `full`. */
  fold?: { lines: number; characters: number }
  full?: boolean
}

const defaultFold = { lines: 40, characters: 4_000 }

function styleOf({ style = plainStyle, full = false, fold = defaultFold }: ShowOptions, imported: boolean) {
  const block = (text: string) => indent(full ? printable(text) : foldText(printable(text), fold))
  return { style, full, block, imported }
}

/**
 * One attempt as a person reads it: who said what, tool calls with their arguments and results, rewards as they came, and
 * how it ended and was graded. Works for partial and failed attempts. Text of models comes out inert.
 */
export function formatAttempt(parts: AttemptParts, options: ShowOptions = {}): string {
  const { order, attempt, trajectory, verdict } = parts
  const how = styleOf(options, parts.imported)
  const { style, block } = how
  const lines: string[] = []

  lines.push(style.bold(printableLine(`${order.id}  ${parts.status}`)))
  if (attempt === undefined) {
    lines.push('  No attempt was recorded.', '')
    return lines.join('\n')
  }
  const { counts } = attempt
  const facts = [
    `attempt ${printableLine(attempt.id)}${parts.tries > 1 ? ` of ${plural(parts.tries, 'try', 'tries')}` : ''}`,
    ...timeFacts(parts, attempt),
    plural(counts.turns, 'turn'),
  ]
  if (counts.toolCalls > 0) facts.push(plural(counts.toolCalls, 'tool call'))
  for (const [seat, { policy, harness }] of Object.entries(trajectory?.seats ?? {})) {
    facts.push(printableLine(`${seat}: ${playerName({ policy, harness })}`))
  }
  for (const fact of facts) lines.push(style.dim(`  ${fact}`))
  const solutions = solutionsNote(trajectory?.seats ?? {})
  if (solutions !== undefined) lines.push(style.yellow(`  ${solutions}`))
  for (const problem of parts.problems) lines.push(style.red(`  ${printableLine(problem)}`))
  lines.push('')

  if (trajectory !== undefined) lines.push(...trajectoryLines(trajectory, how))
  lines.push(
    ...endLines(attempt, verdict, parts.rewards, style),
    ...privateLines(parts.private, style, block),
  )
  return `${lines.join('\n')}\n`
}

/** One model call of an attempt, with all that the model was asked. Throws `usage` where there is none of this number. */
export function formatCall(
  { order, attempt, trajectory, imported }: AttemptParts,
  number: number,
  options: ShowOptions = {},
): string {
  if (trajectory === undefined)
    throw new QuintainError(
      'usage',
      `No trajectory of ${order.id} can be read, so there is no call to show.`,
      {
        facts: { order: order.id },
      },
    )
  const how = styleOf(options, imported)
  const head = how.style.dim(`  of attempt ${printableLine(attempt?.id ?? '')} at ${printableLine(order.id)}`)
  const [title = '', ...rest] = callLines(trajectory, number, how)
  return `${[title, head, ...rest].join('\n').trimEnd()}\n`
}

/** When it began and how long it took. Where an imported file told no time there is none, and zero would be a claim. */
function timeFacts({ imported, verdict }: AttemptParts, attempt: AttemptRecord): string[] {
  const { timing, start } = attempt
  if (!imported) {
    return [
      `started ${start}`,
      `took ${durationText(timing.wallMs)} (agent ${durationText(timing.agentMs)}, model ${durationText(timing.modelMs)}, waiting ${durationText(timing.waitMs)}, grading ${durationText(timing.gradeMs)})`,
    ]
  }
  if (timing.wallMs > 0) return [`started ${start}`, `took ${durationText(timing.wallMs)}`]
  // What the file dates is dated by it, the rest by its import, as its verdict is.
  return verdict !== undefined && verdict.at !== start
    ? [`started ${start}`, 'how long it took is not recorded']
    : ['no time recorded']
}

function endLines(
  attempt: AttemptRecord,
  verdict: VerdictRecord | undefined,
  rewards: AttemptParts['rewards'],
  style: Style,
): string[] {
  const lines: string[] = []
  const stop = attempt.stop === undefined ? '' : ` (${attempt.stop})`
  lines.push(`${style.bold('outcome')}  ${printableLine(`${attempt.outcome ?? 'none'}${stop}`)}`)
  if (attempt.fault !== null) {
    const { owner, stage, code, message, retryable } = attempt.fault
    lines.push(
      `${style.bold('fault')}    ${style.red(printableLine(`${owner}, ${stage}: ${code}`))}${retryable ? ' (retryable)' : ''}`,
      `         ${printableLine(message)}`,
    )
  }
  const summary = attempt.verdict
  if (summary === null) {
    lines.push(`${style.bold('verdict')}  none: it was not graded`)
    return lines
  }
  const success = summary.success === null ? '' : summary.success ? ', success' : ', no success'
  const why = summary.unscored
    ? ` (unscored by ${summary.unscored.component}: ${summary.unscored.reason})`
    : summary.pending
      ? ' (group rewards still to come)'
      : ''
  lines.push(`${style.bold('verdict')}  reward ${scoreText(summary.reward)}${success}${printableLine(why)}`)
  const components = verdict?.components ?? {}
  const names = new Set([
    ...Object.keys(components),
    ...Object.keys(summary.rewards),
    ...Object.keys(summary.metrics),
  ])
  for (const name of names) {
    const part = components[name]
    const value = summary.rewards[name] ?? summary.metrics[name] ?? part?.value ?? null
    const notes: string[] = []
    const known = part ?? (Object.hasOwn(rewards, name) ? rewards[name] : undefined)
    if (known === undefined) notes.push('metric')
    else {
      notes.push(known.kind === 'metric' ? 'metric' : `weight ${known.weight}`)
      if (known.kind === 'group') notes.push('of the group')
    }
    if (part !== undefined) {
      if (part.checks !== undefined) notes.push(`${part.checks.run} of ${part.checks.expected} checks ran`)
      if (part.steps !== undefined) notes.push(`steps ${part.steps.map((step) => scoreText(step)).join(' ')}`)
      if (part.ms !== undefined) notes.push(durationText(part.ms))
      if (part.reason !== undefined) notes.push(part.reason)
    }
    lines.push(
      `         ${printableLine(name)} ${scoreText(value)}${notes.length ? style.dim(printableLine(`  (${notes.join(', ')})`, 300)) : ''}`,
    )
  }
  return lines
}

function privateLines(
  record: PrivateRecord | undefined,
  style: Style,
  block: (text: string) => string,
): string[] {
  if (record === undefined) return []
  const lines = ['', style.red('private: not to be published')]
  const show = (label: string, value: unknown) => {
    if (value === undefined) return
    lines.push(`  ${label}`, block(typeof value === 'string' ? value : JSON.stringify(value, null, 2)))
  }
  show('secret', record.secret)
  show('state', record.state)
  show('evidence', record.evidence)
  for (const { stage, text } of record.errors ?? []) show(`error in ${printableLine(stage)}`, text)
  return lines
}
