import { isObject } from './chat-messages.ts'
import { type ChangingCall, changingCalls, type ProposedTask } from './proposed-tasks.ts'
import type { RecordedTool } from './recorded-tools.ts'

/** Text on one line, cut to a length. */
export function excerpt(text: string, most: number): string {
  const line = text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line
}

/** What stands inside a comment that begins with `//` or in Markdown, and can end neither. */
function quoted(text: string, most: number): string {
  return JSON.stringify(excerpt(text, most)).replaceAll('`', "'").replaceAll('<', '‹')
}

function questionText({ prompt }: ProposedTask): string {
  const asked = prompt.find(({ role }) => role === 'user')?.content ?? ''
  if (typeof asked === 'string') return asked
  return asked.map((part) => (part.type === 'text' ? part.text : '[image]')).join(' ')
}

function callText({ tool, arguments: given }: ChangingCall): string {
  return `{ tool: ${JSON.stringify(tool)}, arguments: ${JSON.stringify(given)} }`
}

/** What the file itself holds as gold, where it has the shape of tau-bench's: a proposal, never a decision. */
export function givenDecision(given: unknown, changing: ReadonlySet<string>): string | undefined {
  if (!isObject(given) || !Array.isArray(given['actions'])) return undefined
  const calls: ChangingCall[] = []
  for (const action of given['actions'] as unknown[]) {
    if (!isObject(action) || typeof action['name'] !== 'string') return undefined
    const input = action['kwargs'] ?? action['arguments']
    if (!changing.has(action['name'])) continue
    calls.push({ tool: action['name'], arguments: isObject(input) ? input : {} })
  }
  const outputs = Array.isArray(given['outputs']) ? given['outputs'].map(String) : []
  return `{ told: ${JSON.stringify(outputs)}, changed: [${calls.map(callText).join(', ')}] }`
}

/** `src/decisions.ts`: an open question for each task, and the tools that are taken to change something. */
export function decisionsFile(tasks: readonly ProposedTask[], tools: readonly RecordedTool[]): string {
  const changing = new Set(tools.filter(({ changes }) => changes).map(({ name }) => name))
  const lines = [
    '// What counts as done, task by task. null is "nobody has decided", and such a task is unscored. The questions, with what',
    '// the recordings show, are in ../TODO.md.',
    '',
    '/** What must be true in the end. Both lists empty decides nothing: doing nothing would pass. */',
    'export interface Decision {',
    "  /** Facts that the agent must have told, each as short as it can be said: '327', '$1,250.00', 'May 22'. */",
    '  told: string[]',
    '  /** Calls of changing tools that must have been made, in any order, and no others. */',
    '  changed: { tool: string; arguments: Record<string, unknown> }[]',
    '}',
    '',
    '/**',
    ' * TODO: which tools change something? Guessed from their names; the others only look. A call of one of these that a',
    ' * decision does not name makes a conversation fail.',
    ' */',
    `export const changing: ReadonlySet<string> = new Set<string>([${[...changing].map((name) => JSON.stringify(name)).join(', ')}])`,
    '',
    'export const decisions: Record<string, Decision | null> = {',
  ]
  for (const task of tasks) {
    lines.push(`  // ${quoted(questionText(task), 90)}`)
    const given = givenDecision(task.given, changing)
    if (given !== undefined) lines.push(`  // the file's own: ${given.replace(/[\u2028\u2029]/g, ' ')}`)
    lines.push(`  ${JSON.stringify(task.id)}: null,`)
  }
  lines.push('}', '')
  return lines.join('\n')
}

/** What `TODO.md` is made of. */
export interface TodoFacts {
  source: string
  tasks: readonly ProposedTask[]
  tools: readonly RecordedTool[]
  /** What could not be read, by place. */
  unread: readonly { place: string; problem: string }[]
  /** Oddities of the whole file. */
  remarks: readonly string[]
}

/** `TODO.md`: what a person must decide, with what the recordings show. */
export function todoFile({ source, tasks, tools, unread, remarks }: TodoFacts): string {
  const changing = new Set(tools.filter(({ changes }) => changes).map(({ name }) => name))
  const lines = [
    '# What a person must decide',
    '',
    `${tasks.length === 1 ? 'One task was' : `${tasks.length} tasks were`} found in \`${source}\`. Nothing below was decided: until \`src/decisions.ts\` says what counts as done,`,
    'every task is unscored. Recordings show what was done, not what should have been; most of them may be wrong.',
    '',
    'This page and the files beside it quote real conversations, with the names and addresses that stand in them. It holds',
    'answers too: do not give it to the agent.',
    '',
    '## First, for all tasks',
    '',
    `- [ ] Which tools change something? Taken to: ${[...changing].map((name) => `\`${name}\``).join(', ') || 'none'}.`,
    '- [ ] How does a tool say that a call failed? Taken to: a result that begins with "Error" (`src/recorded-world.ts`).',
    '- [ ] Are the tools described well enough for a model that has never seen them (`tools.json`)?',
    '- [ ] Is anybody named in here who must not be?',
    '- [ ] Are these the cases that matter, as often as they come? Cases that were picked because they failed say how bad it can',
    '      get, not how good the agent is.',
    '',
    ...toolsTable(tools),
    '## Then, task by task',
    '',
    'For each: **What would count as done? Which facts must the customer have been told? Which state must have changed, and nothing',
    'else?** If a task cannot be decided from what is here, take it out of `tasks.jsonl`.',
    '',
  ]
  for (const task of tasks) lines.push(...taskQuestions(task, changing))
  if (unread.length > 0) {
    lines.push('## What could not be read', '')
    for (const { place, problem } of unread) lines.push(`- ${place}: ${excerpt(problem, 300)}`)
    lines.push('')
  }
  if (remarks.length > 0) {
    lines.push('## What was odd, and kept', '')
    for (const remark of remarks) lines.push(`- ${remark}`)
    lines.push('')
  }
  return lines.join('\n')
}

function toolsTable(tools: readonly RecordedTool[]): string[] {
  if (tools.length === 0) return []
  const rows = tools.map(
    ({ name, recordedAs, calls, conversations, described, unreadable, changes }) =>
      `| \`${name}\`${recordedAs === undefined ? '' : ` (recorded as ${quoted(recordedAs, 80)})`} | ${calls} | ${conversations} | ${described ? 'the file' : 'inferred'} | ${changes ? 'yes?' : 'no?'} | ${unreadable === 0 ? '' : `${unreadable} with unreadable arguments`} |`,
  )
  return [
    '| tool | calls | conversations | described by | changes something | |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ]
}

function taskQuestions(task: ProposedTask, changing: ReadonlySet<string>): string[] {
  const { id, recordings, wordings, given } = task
  const lines = [
    `### \`${excerpt(id, 80).replaceAll('`', "'")}\``,
    '',
    `> ${quoted(questionText(task), 400)}`,
    '',
  ]
  if (wordings.size > 1)
    lines.push(`- The question was put in ${wordings.size} ways; the first is the prompt.`)
  const own = givenDecision(given, changing)
  if (own !== undefined)
    lines.push(`- The file's own answer: \`${excerpt(own, 1_000).replaceAll('`', "'")}\``)
  else if (given !== undefined)
    lines.push('- The file holds an answer of its own; see `secret.given` of the task in `tasks.jsonl`.')
  for (const recording of recordings.slice(0, shownRecordings)) {
    const { repeat, place, reward, answer } = recording
    const calls = changingCalls(recording, changing).map(
      (call) => `${call.tool}(${JSON.stringify(call.arguments)})`,
    )
    lines.push(
      `- Recording ${repeat} (${place}): reward ${reward ?? 'not recorded'}; ${calls.length === 0 ? 'called nothing that changes anything' : `called \`${excerpt(calls.join(', '), 600).replaceAll('`', "'")}\``}`,
      ...(answer === '' ? ['  and said nothing.'] : [`  and said last: ${quoted(answer, 240)}`]),
    )
    for (const note of recording.notes.slice(0, 3)) lines.push(`  (${excerpt(note, 200)})`)
  }
  if (recordings.length > shownRecordings)
    lines.push(`- … and ${recordings.length - shownRecordings} more recordings.`)
  lines.push(
    '',
    '- [ ] What would count as done?',
    '- [ ] Which facts must be told?',
    '- [ ] What must have changed, and nothing else?',
    '',
  )
  return lines
}

/** Of a question that came a thousand times, a page shows a few. */
const shownRecordings = 8
