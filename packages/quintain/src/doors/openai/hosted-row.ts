import { readChatMessages } from '../../core/chat-messages.ts'
import { canonicalJson, type Message, sha256, type ToolSpec, textOf } from '../../core/index.ts'
import { readDeclaredTools } from './declared-tools.ts'
import type { Findings } from './findings.ts'
import type { HeldRow } from './read-files.ts'

/** A row of a hosted data set: what the agent is asked, and what only graders read. */
export interface HostedRow {
  place: string
  split: string
  messages: Message[]
  tools: ToolSpec[]
  /** `item.*` of graders: every field but `messages` and `tools`. Holds gold. */
  item: Record<string, unknown>
  /** Fields of the item whose integers are text now. */
  huge: ReadonlySet<string>
}

/** The only fields of a row that are not `item.*`. */
const reserved = ['messages', 'tools']

/**
 * A row of a training or validation file. What is wrong with it is told; undefined when it cannot be a task. Last message
 * and roles are the vendor's rules (Azure guide on reinforcement fine-tuning, 0b864e8).
 */
export function readHostedRow(
  { place, value, huge }: HeldRow,
  split: string,
  findings: Findings,
): HostedRow | undefined {
  const error = (code: string, message: string): undefined => {
    findings.add({ severity: 'error', code, place, message })
  }
  const given = value['messages']
  if (!Array.isArray(given)) return error('no_messages', 'The row has no list "messages".')
  if (given.length === 0)
    return error('no_messages', 'The list "messages" is empty; give one message at least.')
  const read = readChatMessages(given)
  if (typeof read === 'string')
    return error(
      'bad_message',
      `The row cannot be read: ${read}; roles are developer, system, user, assistant and tool.`,
    )
  const tools = readDeclaredTools(value['tools'])
  if (typeof tools === 'string') return error('bad_tools', `The row cannot be read: ${tools}.`)
  for (const note of read.notes)
    findings.add({ severity: 'warning', code: 'changed', place, message: `${note}.` })
  const last = read.messages.at(-1)
  if (last?.role !== 'user')
    findings.add({
      severity: 'warning',
      code: 'last_role',
      place,
      message: `The last message is of the role ${last?.role ?? 'none'}, and the vendor asks for "user".${last?.role === 'assistant' ? ' It is shown to whoever plays: if it is the answer, take it out and make it a field.' : ''}`,
    })
  if (read.messages.every(({ content }) => textOf(content).trim() === ''))
    findings.add({
      severity: 'warning',
      code: 'empty_prompt',
      place,
      message: 'No message of the row says anything.',
    })
  const item = Object.fromEntries(Object.entries(value).filter(([name]) => !reserved.includes(name)))
  return { place, split, messages: read.messages, tools, item, huge }
}

/** A task as the package holds it. Everything that graders read of the row is secret. */
export interface HostedTask {
  id: string
  split: string
  prompt: Message[]
  data: { tools: ToolSpec[] }
  secret: { item: Record<string, unknown> }
}

/** Tasks with ids that are made of what the rows say, so that neither another order nor more rows change them. */
export function tasksOf(rows: readonly HostedRow[]): HostedTask[] {
  const seen = new Map<string, number>()
  return rows.map(({ split, messages, tools, item }) => {
    const digest = sha256(canonicalJson([messages, tools, item])).slice(0, 16)
    const count = (seen.get(digest) ?? 0) + 1
    seen.set(digest, count)
    const id = count === 1 ? digest : `${digest}-${count}`
    return { id, split, prompt: messages, data: { tools }, secret: { item } }
  })
}

/** Tells rows that are there more than once: within a split, and, which is worse, in two. */
export function tellDuplicates(rows: readonly HostedRow[], findings: Findings): void {
  const exact = new Map<string, HostedRow>()
  const alike = new Map<string, HostedRow>()
  for (const row of rows) {
    const whole = canonicalJson([row.messages, row.tools, row.item])
    const prompt = row.messages
      .map(({ role, content }) => `${role}:${normalised(textOf(content))}`)
      .join('\n')
    const first = exact.get(whole) ?? alike.get(prompt)
    const how = exact.has(whole) ? 'is the same as' : 'asks the same, but for case, space and marks, as'
    exact.set(whole, exact.get(whole) ?? row)
    alike.set(prompt, alike.get(prompt) ?? row)
    if (first === undefined) continue
    const across = first.split !== row.split
    const consequence = across
      ? `, and stands in ${row.split} and in ${first.split}: what is measured there was trained on`
      : '; both are kept'
    findings.add({
      severity: 'warning',
      code: across ? 'duplicate_across' : 'duplicate_within',
      place: row.place,
      message: `The row ${how} ${first.place}${consequence}.`,
    })
  }
}

function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}+\-*/=<>^%.]+/gu, ' ')
    .trim()
}
