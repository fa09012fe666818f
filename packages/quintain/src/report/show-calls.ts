import { type CallRecord, QuintainError, type TrajectoryRecord, textOf } from '../core/index.ts'
import { foldText } from './fold-text.ts'
import { type AskedCall, failureText, sidesOf, wayTo } from './model-side.ts'
import { durationText, plural } from './number-text.ts'
import { printableLine } from './printable.ts'
import { callNotes, type MessageStyle, messageLines } from './show-messages.ts'

export interface TrajectoryStyle extends MessageStyle {
  full: boolean
}

/** Who said what in the world, then what models were asked beside it, then calls that gave nothing. */
export function trajectoryLines(trajectory: TrajectoryRecord, how: TrajectoryStyle): string[] {
  const { nodes, calls } = trajectory
  const { style, full } = how
  const { conversation, asked, outside } = sidesOf(trajectory)
  const lines: string[] = []
  const byOutput = new Map(calls.map((call) => [call.output, call]))
  for (const [place, index] of conversation.entries()) {
    const before = conversation[place - 1] ?? -1
    const isSaid = outside.has(nodes[index]!.seat)
    lines.push(...messageLines(nodes, { index, before, call: byOutput.get(index), isSaid }, how), '')
  }
  const told = new Set(asked.map(({ call }) => call))
  for (const call of calls) {
    if (call.output >= 0 || told.has(call)) continue
    const text = `  model call of ${call.seat} at ${durationText(call.atMs)} ${failureText(call)}`
    lines.push(style.red(printableLine(text, full ? undefined : 400)), '')
  }
  if (nodes.length === 0) lines.push(style.dim('  No message was exchanged.'), '')
  if (asked.length > 0) lines.push(...askedLines(trajectory, asked, how), '')
  return lines
}

/** Most calls that are listed before the rest is folded. */
const mostCalls = 40

function askedLines(
  trajectory: TrajectoryRecord,
  asked: readonly AskedCall[],
  { style, imported, full }: TrajectoryStyle,
): string[] {
  const list = asked.map(({ number, call, from }) => {
    const notes = [...(call.seat === 'agent' ? [] : [call.seat]), ...callNotes(call, { imported })]
    const prompt = wayTo(trajectory.nodes, call.prompt)
    const texts = prompt.map((at) => trajectory.nodes[at]!.message)
    // What all calls of an agent begin with tells none of them.
    const first = texts.find(({ role }) => role !== 'system') ?? texts[0]
    const place =
      from === undefined
        ? `begins with ${plural(prompt.length, 'message')}: ${quoted(textOf(first?.content))}`
        : `goes on from call ${from}`
    const head = `  call ${number}  ${style.dim(printableLine([...notes, place].join(' · '), 300))}`
    const said = saidBy(trajectory, call)
    return `${head}\n${call.output < 0 ? style.red(said) : said}`
  })
  return [
    style.bold(`What its model was asked: ${plural(asked.length, 'call')}`),
    style.dim('  One of them with its messages: --call N'),
    full ? list.join('\n') : foldText(list.join('\n'), { lines: 2 * mostCalls, characters: 40_000 }),
  ]
}

/** What a call gave, on one line. */
function saidBy({ nodes }: TrajectoryRecord, call: CallRecord): string {
  if (call.output < 0) return `    ${printableLine(failureText(call), 200)}`
  const { message } = nodes[call.output]!
  const text = textOf(message.content)
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []).map(({ name }) => `-> ${name}`) : []
  return `    ${[...(text === '' ? [] : [quoted(text)]), ...calls.map((name) => printableLine(name, 60))].join(' ') || '(nothing)'}`
}

function quoted(text: string): string {
  return `"${printableLine(text.trim(), 100)}"`
}

/** One call of a trajectory: what the model was told of and asked, and what it answered. Throws `usage` for a number of none. */
export function callLines(trajectory: TrajectoryRecord, number: number, how: TrajectoryStyle): string[] {
  const { nodes, calls, seats, toolSets } = trajectory
  const { style, imported } = how
  const call = calls[number]
  if (call === undefined) {
    const known = calls.length === 0 ? 'it made none' : `they are 0 to ${calls.length - 1}`
    throw new QuintainError('usage', `There is no call ${number} in this attempt; ${known}.`, {
      facts: { call: number, calls: calls.length },
    })
  }
  const tools = call.tools === undefined ? seats[call.seat]?.tools : toolSets?.[call.tools]
  const lines = [
    style.bold(`call ${number} of ${printableLine(call.seat)}`),
    ...callNotes(call, { imported }).map((note) => style.dim(`  ${note}`)),
  ]
  if (call.sampling !== undefined)
    lines.push(style.dim(`  ${printableLine(JSON.stringify(call.sampling), 300)}`))
  if (tools?.length)
    lines.push(style.dim(`  tools: ${printableLine(tools.map(({ name }) => name).join(', '), 300)}`))
  lines.push('')
  let before = -1
  for (const index of wayTo(nodes, call.output < 0 ? call.prompt : call.output)) {
    lines.push(...messageLines(nodes, { index, before }, how), '')
    before = index
  }
  if (call.output < 0) lines.push(style.red(`  ${printableLine(failureText(call), 400)}`), '')
  return lines
}
