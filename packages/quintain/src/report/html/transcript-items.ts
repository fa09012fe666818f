import { playerName } from '../../core/player-name.ts'
import { calledTool } from '../called-tool.ts'
import { type AskedCall, failureText, sidesOf } from '../model-side.ts'
import { countText, dollarText, durationText, plural, scoreText } from '../number-text.ts'
import type { Transcript, TranscriptCall } from './page-data.ts'

/** A line or block of a trajectory as it is read, before it is drawn. */
export type TranscriptItem =
  | { kind: 'fact' | 'problem' | 'heading'; text: string }
  | MessageItem
  /** A call of a model whose agent played from outside; what is new of its prompt, and its reply, follow. */
  | { kind: 'call'; number: number; notes: string[]; place: string; failure?: string }
  | { kind: 'ending'; label: string; text: string; tone: 'good' | 'bad' | 'fault' | 'plain'; detail?: string }
  | { kind: 'component'; name: string; value: string; notes: string[]; reason?: string }

export interface MessageItem {
  kind: 'message'
  index: number
  role: 'system' | 'user' | 'assistant' | 'tool'
  who: string
  notes: string[]
  blocks: Block[]
  reward?: string
}

/** A part of a message. */
export interface Block {
  kind: 'text' | 'reasoning' | 'refusal' | 'call' | 'image' | 'error'
  /** Of a call: the tool. */
  title?: string
  text: string
}

/** Scores that stand before the messages; where there are more, those follow behind. */
const mostScores = 12

/** Tool arguments as the model wrote them: laid out when they are JSON, and said to be none when they are not. */
export function argumentsText(raw: string): string {
  if (raw.trim() === '') return '{}'
  try {
    const value: unknown = JSON.parse(raw)
    const line = JSON.stringify(value)
    return line.length <= 80 ? line : JSON.stringify(value, null, 2)
  } catch {
    return `${raw}\n(not JSON)`
  }
}

function callNotes(call: TranscriptCall, timed: boolean): string[] {
  const notes = timed ? [call.model, durationText(call.latencyMs)] : [call.model]
  if (call.waitMs > 0) notes.push(`waited ${durationText(call.waitMs)}`)
  if (call.usage !== undefined) {
    const { fresh, cacheRead, cacheWrite, output } = call.usage
    notes.push(`${countText(fresh + cacheRead + cacheWrite)} in, ${countText(output)} out`)
  }
  if (call.costUsd !== undefined && call.costUsd !== 0)
    notes.push(call.costUsd === null ? 'cost unknown' : dollarText(call.costUsd))
  if (call.finish !== undefined && call.finish !== 'stop') notes.push(`finish ${call.finish}`)
  if (call.retries !== undefined && call.retries.length > 0) {
    const codes = [...new Set(call.retries.map(({ code }) => code))].join(', ')
    notes.push(`${plural(call.retries.length, 'failed try', 'failed tries')}: ${codes}`)
  }
  if (call.flags !== undefined) notes.push(...call.flags)
  return notes
}

/** `before`: the message that was shown before it; `isSaid`: no model is expected to have sampled it here. */
function messageItem(
  transcript: Transcript,
  index: number,
  { before, call, isSaid = false }: { before: number; call?: TranscriptCall | undefined; isSaid?: boolean },
): MessageItem {
  const { message, seat, sampled, parent, reward } = transcript.nodes[index]!
  const notes = parent >= 0 && parent !== before ? [`after message ${parent}`] : []
  if (call !== undefined) notes.push(...callNotes(call, transcript.attempt.timing.wallMs > 0))
  if (message.role === 'assistant' && !sampled && !isSaid) notes.push('not sampled')
  const blocks: Block[] = []
  if (message.role === 'assistant' && message.reasoning)
    blocks.push({ kind: 'reasoning', text: message.reasoning })
  for (const part of typeof message.content === 'string' ? [message.content] : message.content) {
    if (typeof part === 'string' || part.type === 'text') {
      const text = typeof part === 'string' ? part : part.text
      if (text !== '') blocks.push({ kind: 'text', text })
    } else {
      const where = part.sha256 === undefined ? 'not in this page' : `blobs/${part.sha256} of the run`
      blocks.push({ kind: 'image', text: `${part.mediaType}, ${where}` })
    }
  }
  if (message.role === 'assistant') {
    if (message.refusal) blocks.push({ kind: 'refusal', text: message.refusal })
    for (const { name, arguments: raw } of message.toolCalls ?? [])
      blocks.push({ kind: 'call', title: name, text: argumentsText(raw) })
  }
  if (message.role === 'tool' && message.error !== undefined)
    blocks.unshift({ kind: 'error', text: message.error })
  const tool = message.role === 'tool' ? ` · ${calledTool(transcript.nodes, transcript.nodes[index]!)}` : ''
  return {
    kind: 'message',
    index,
    role: message.role,
    who: `${message.role}${seat === 'agent' ? '' : ` (${seat})`}${tool}`,
    notes,
    blocks,
    ...(reward === undefined ? {} : { reward: scoreText(reward) }),
  }
}

function facts({ attempt, seats }: Transcript, tries: number): string[] {
  const { timing, counts } = attempt
  return [
    `attempt ${attempt.id}${tries > 1 ? ` of ${plural(tries, 'try', 'tries')}` : ''}${timing.wallMs === 0 ? '' : `, started ${attempt.start}`}`,
    timing.wallMs === 0
      ? 'no time recorded'
      : `took ${durationText(timing.wallMs)}: agent ${durationText(timing.agentMs)}, model ${durationText(timing.modelMs)}, waiting ${durationText(timing.waitMs)}, grading ${durationText(timing.gradeMs)}`,
    `${plural(counts.turns, 'turn')}, ${plural(counts.toolCalls, 'tool call')}`,
    ...Object.entries(seats).map(
      ([seat, { policy, harness }]) => `${seat}: ${playerName({ policy, harness })}`,
    ),
  ]
}

function endItems({ attempt }: Transcript): TranscriptItem[] {
  const items: TranscriptItem[] = []
  const { outcome, stop, fault, verdict } = attempt
  items.push({
    kind: 'ending',
    label: 'Outcome',
    text: `${outcome ?? 'none'}${stop === undefined ? '' : ` (${stop})`}`,
    tone: 'plain',
  })
  if (fault !== null) {
    items.push({
      kind: 'ending',
      label: 'Fault',
      text: `${fault.owner}: ${fault.code} in ${fault.stage}${fault.retryable ? ' (retryable)' : ''}`,
      tone: 'fault',
      detail: fault.message,
    })
  }
  if (verdict === null) {
    items.push({ kind: 'ending', label: 'Verdict', text: 'none: it was not graded', tone: 'plain' })
  } else {
    const success = verdict.success === null ? '' : verdict.success ? ', success' : ', no success'
    const why = verdict.unscored
      ? ` (unscored by ${verdict.unscored.component}: ${verdict.unscored.reason})`
      : verdict.pending
        ? ' (group rewards still to come)'
        : ''
    items.push({
      kind: 'ending',
      label: 'Verdict',
      text: `reward ${scoreText(verdict.reward)}${success}${why}`,
      tone: verdict.success === null ? 'plain' : verdict.success ? 'good' : 'bad',
    })
  }
  return items
}

function componentItems(
  { attempt: { verdict }, components }: Transcript,
  weights: Record<string, number>,
): TranscriptItem[] {
  const items: TranscriptItem[] = []
  const names = new Set([
    ...Object.keys(components),
    ...Object.keys(verdict?.rewards ?? {}),
    ...Object.keys(verdict?.metrics ?? {}),
  ])
  for (const name of names) {
    const part = Object.hasOwn(components, name) ? components[name] : undefined
    const value = verdict?.rewards[name] ?? verdict?.metrics[name] ?? part?.value ?? null
    const notes: string[] = []
    const weight = part !== undefined && part.kind !== 'metric' ? part.weight : weights[name]
    notes.push(weight === undefined ? 'metric' : `weight ${weight}`)
    if (part?.kind === 'group') notes.push('of the group')
    if (part?.seat !== undefined) notes.push(`of seat ${part.seat}`)
    if (part?.checks !== undefined) notes.push(`${part.checks.run} of ${part.checks.expected} checks ran`)
    if (part?.steps !== undefined) notes.push(`steps ${part.steps.map((step) => scoreText(step)).join(' ')}`)
    if (part?.ms !== undefined) notes.push(durationText(part.ms))
    items.push({
      kind: 'component',
      name,
      value: scoreText(value),
      notes,
      ...(part?.reason === undefined ? {} : { reason: part.reason }),
    })
  }
  return items
}

/** What the models of agents outside were asked, call by call; nothing that is shown above is shown again. */
function askedItems(transcript: Transcript, asked: readonly AskedCall<TranscriptCall>[]): TranscriptItem[] {
  if (asked.length === 0) return []
  const items: TranscriptItem[] = [
    { kind: 'heading', text: `What its model was asked: ${plural(asked.length, 'call')}` },
  ]
  for (const { number, call, from, news } of asked) {
    const timed = transcript.attempt.timing.wallMs > 0
    items.push({
      kind: 'call',
      number,
      notes: [...(call.seat === 'agent' ? [] : [call.seat]), ...callNotes(call, timed)],
      place: from === undefined ? 'begins a conversation' : `goes on from call ${from}`,
      ...(call.output < 0 ? { failure: failureText(call) } : {}),
    })
    for (const [place, index] of news.entries()) {
      const before = news[place - 1] ?? (from === undefined ? -1 : transcript.calls[from]!.output)
      items.push(messageItem(transcript, index, { before }))
    }
  }
  return items
}

/**
 * A trajectory as a list to read: how it ended and was graded, then who said what. Works for partial and failed attempts.
 * `weights` are those of the environment's rewards, for parts that the recorded verdict does not have.
 */
export function transcriptItems(
  transcript: Transcript,
  { tries = 1, weights = {} }: { tries?: number; weights?: Record<string, number> } = {},
): TranscriptItem[] {
  const scores = componentItems(transcript, weights)
  const items: TranscriptItem[] = [...endItems(transcript), ...scores.slice(0, mostScores)]
  for (const text of transcript.problems) items.push({ kind: 'problem', text })
  items.push({ kind: 'heading', text: 'Messages' })
  const { conversation, asked, outside } = sidesOf(transcript)
  const calls = new Map(transcript.calls.map((call) => [call.output, call]))
  for (const [place, index] of conversation.entries()) {
    const isSaid = outside.has(transcript.nodes[index]!.seat)
    const before = conversation[place - 1] ?? -1
    items.push(messageItem(transcript, index, { before, call: calls.get(index), isSaid }))
  }
  if (transcript.nodes.length === 0) items.push({ kind: 'fact', text: 'No message was exchanged.' })
  const told = new Set(asked.map(({ call }) => call))
  for (const call of transcript.calls) {
    if (call.output >= 0 || told.has(call)) continue
    const text = `model call of ${call.seat} at ${durationText(call.atMs)} ${failureText(call)}`
    items.push({ kind: 'problem', text })
  }
  items.push(...askedItems(transcript, asked))
  if (scores.length > mostScores) {
    items.push({ kind: 'heading', text: `The other ${plural(scores.length - mostScores, 'score')}` })
    items.push(...scores.slice(mostScores))
  }
  items.push({ kind: 'heading', text: 'Attempt' })
  for (const text of facts(transcript, tries)) items.push({ kind: 'fact', text })
  return items
}

/** All that was said in a trajectory, for a search. */
export function transcriptText({ nodes, attempt }: Transcript): string {
  const said: string[] = attempt.fault === null ? [] : [attempt.fault.message]
  for (const { message } of nodes) {
    for (const part of typeof message.content === 'string' ? [message.content] : message.content) {
      if (typeof part === 'string') said.push(part)
      else if (part.type === 'text') said.push(part.text)
    }
    if (message.role !== 'assistant') continue
    if (message.reasoning) said.push(message.reasoning)
    if (message.refusal) said.push(message.refusal)
    for (const { name, arguments: raw } of message.toolCalls ?? []) said.push(name, raw)
  }
  return said.join('\n')
}
