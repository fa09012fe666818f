import {
  type AttemptRecord,
  type CallRecord,
  type ManifestRecord,
  type MessageNode,
  messageOf,
  type OrderRecord,
  type OrderStatus,
  type PrivateRecord,
  QuintainError,
  readManifest,
  readPrivate,
  readTrajectory,
  readVerdict,
  solutionsNote,
  type TrajectoryRecord,
  textOf,
  type VerdictRecord,
} from '../core/index.ts'
import { countText, dollarText, durationText, plural, scoreText } from './number-text.ts'
import { printable, printableLine } from './printable.ts'
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

/** The head and the tail of a long text, and how much lies between. */
export function foldText(text: string, { lines, characters }: { lines: number; characters: number }): string {
  const all = text.split('\n')
  if (all.length > lines) {
    const head = Math.ceil(lines * 0.7)
    const tail = lines - head
    const hidden = all.length - lines
    const end = tail === 0 ? [] : all.slice(-tail)
    return foldText(
      [...all.slice(0, head), `… ${plural(hidden, 'line')} folded; --full shows all …`, ...end].join('\n'),
      {
        lines: lines + 1,
        characters,
      },
    )
  }
  if (text.length <= characters) return text
  const head = Math.ceil(characters * 0.7)
  const hidden = text.length - characters
  return `${text.slice(0, head).toWellFormed()} … ${plural(hidden, 'character')} folded; --full shows all … ${text.slice(head + hidden).toWellFormed()}`
}

function indent(text: string, by = '    '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : by + line))
    .join('\n')
}

/** Tool arguments as the model wrote them: laid out when they are JSON, and marked when they are not. */
function argumentsText(raw: string): string {
  if (raw.trim() === '') return '{}'
  try {
    const text = JSON.stringify(JSON.parse(raw))
    return text.length <= 100 ? text : JSON.stringify(JSON.parse(raw), null, 2)
  } catch {
    return `${raw}  (not JSON)`
  }
}

/**
 * One attempt as a person reads it: who said what, tool calls with their arguments and results, rewards as they came, and
 * how it ended and was graded. Works for partial and failed attempts. Text of models comes out inert.
 */
export function formatAttempt(parts: AttemptParts, options: ShowOptions = {}): string {
  const { style = plainStyle, full = false } = options
  const limits = options.fold ?? defaultFold
  const block = (text: string) => indent(full ? printable(text) : foldText(printable(text), limits))
  const lines: string[] = []
  const { order, attempt, trajectory, verdict } = parts

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
    facts.push(printableLine(`${seat}: ${policy} in ${harness}`))
  }
  for (const fact of facts) lines.push(style.dim(`  ${fact}`))
  const solutions = solutionsNote(trajectory?.seats ?? {})
  if (solutions !== undefined) lines.push(style.yellow(`  ${solutions}`))
  for (const problem of parts.problems) lines.push(style.red(`  ${printableLine(problem)}`))
  lines.push('')

  if (trajectory !== undefined) {
    const calls = new Map<number, CallRecord>()
    const strayCalls: CallRecord[] = []
    for (const call of trajectory.calls) {
      if (call.output >= 0) calls.set(call.output, call)
      else strayCalls.push(call)
    }
    for (const [index, node] of trajectory.nodes.entries()) {
      lines.push(
        ...nodeLines(node, { index, call: calls.get(index), imported: parts.imported }, style, block),
        '',
      )
    }
    for (const call of strayCalls) {
      const why = call.fault === undefined ? 'gave no message' : `${call.fault.code}: ${call.fault.message}`
      lines.push(
        style.red(
          printableLine(
            `  model call of ${call.seat} at ${durationText(call.atMs)} ${why}`,
            full ? undefined : 400,
          ),
        ),
        '',
      )
    }
    if (trajectory.nodes.length === 0) lines.push(style.dim('  No message was exchanged.'), '')
  }
  lines.push(
    ...endLines(attempt, verdict, parts.rewards, style),
    ...privateLines(parts.private, style, block),
  )
  return `${lines.join('\n')}\n`
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

function nodeLines(
  node: MessageNode,
  { index, call, imported }: { index: number; call: CallRecord | undefined; imported: boolean },
  style: Style,
  block: (text: string) => string,
): string[] {
  const { message, seat } = node
  const notes: string[] = []
  if (node.parent >= 0 && node.parent !== index - 1) notes.push(`after ${node.parent}`)
  if (call !== undefined) {
    notes.push(printableLine(call.model))
    if (!imported || call.latencyMs > 0) notes.push(durationText(call.latencyMs))
    if (call.waitMs > 0) notes.push(`waited ${durationText(call.waitMs)}`)
    if (call.usage !== undefined) {
      const { fresh, cacheRead, cacheWrite, output } = call.usage
      notes.push(`${countText(fresh + cacheRead + cacheWrite)} in, ${countText(output)} out`)
    }
    if (call.costUsd !== undefined && call.costUsd !== 0)
      notes.push(call.costUsd === null ? 'cost unknown' : dollarText(call.costUsd))
    if (call.finish !== undefined && call.finish !== 'stop') notes.push(`finish ${call.finish}`)
    if (call.retries !== undefined) notes.push(plural(call.retries.length, 'failed try', 'failed tries'))
    if (call.flags !== undefined) notes.push(printableLine(call.flags.join(', ')))
  }
  const who = `${message.role}${seat === 'agent' ? '' : ` (${seat})`}${node.sampled ? '' : message.role === 'assistant' ? ' (not sampled)' : ''}`
  const paint = { system: style.dim, user: style.cyan, assistant: style.green, tool: style.yellow }[
    message.role
  ]
  const lines = [
    `${paint(printableLine(`[${index}] ${who}`))}${notes.length ? style.dim(`  ${notes.join(' · ')}`) : ''}`,
  ]
  if (message.role === 'tool') {
    const failed = message.error === undefined ? '' : style.red(`  error ${printableLine(message.error)}`)
    lines.push(`    <- ${printableLine(message.name ?? message.toolCallId)}${failed}`)
  }
  if (message.role === 'assistant' && message.reasoning)
    lines.push(style.dim(block(`(reasoning) ${message.reasoning}`)))
  const text = textOf(message.content)
  if (text !== '') lines.push(block(text))
  if (Array.isArray(message.content)) {
    for (const part of message.content) {
      if (part.type === 'image') {
        lines.push(
          style.dim(
            printableLine(`    (image ${part.mediaType}${part.sha256 ? `, blobs/${part.sha256}` : ''})`),
          ),
        )
      }
    }
  }
  if (message.role === 'assistant') {
    if (message.refusal) lines.push(style.red(block(`(refusal) ${message.refusal}`)))
    for (const { name, arguments: raw } of message.toolCalls ?? []) {
      lines.push(block(`-> ${name} ${argumentsText(raw)}`))
    }
  }
  if (node.reward !== undefined) lines.push(style.bold(`    reward ${scoreText(node.reward)}`))
  return lines
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
