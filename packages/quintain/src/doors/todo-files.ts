import { folderNames } from '../core/folder-name.ts'
import { excerpt, questionText, quoted, type TakenTools } from './decision-files.ts'
import { changingCalls, type ProposedTask } from './proposed-tasks.ts'
import type { RecordedTool } from './recorded-tools.ts'

/** What the questions are made of. */
export interface TodoFacts {
  source: string
  tasks: readonly ProposedTask[]
  tools: readonly RecordedTool[]
  taken: TakenTools
  /** The file's own answers by task, as source text. */
  proposals: ReadonlyMap<string, string>
  /** What could not be read, by place. */
  unread: readonly { place: string; problem: string }[]
  /** Oddities of the whole file. */
  remarks: readonly string[]
}

/** Of a question that came a thousand times, a page shows a few. */
const shownRecordings = 8
/** With more tasks a page holds several: nobody opens a folder of ten thousand files. */
const mostPages = 500
const tasksPerPage = 100

/**
 * What a person must decide, with what the recordings show, by path: `TODO.md`, which has a line for each task, and the
 * pages in `todo/` that its lines lead to.
 */
export function todoFiles(facts: TodoFacts): Map<string, string> {
  const { tasks } = facts
  const size = tasks.length <= mostPages ? 1 : tasksPerPage
  const names = folderNames(tasks.map(({ id }) => id))
  const padded = (number: number) => String(number).padStart(String(tasks.length).length, '0')
  const pages = new Map<string, string>()
  const pageOf = new Map<ProposedTask, string>()
  for (let from = 0; from < tasks.length; from += size) {
    const some = tasks.slice(from, from + size)
    const path = `todo/${size === 1 ? names[from] : `${padded(from + 1)}-${padded(from + some.length)}`}.md`
    for (const task of some) pageOf.set(task, path)
    pages.set(
      path,
      [
        '[All tasks](../TODO.md). It quotes real conversations and holds answers: do not give it to the agent.',
        '',
        ...some.flatMap((task) => taskQuestions(task, facts)),
      ].join('\n'),
    )
  }
  return new Map([['TODO.md', indexPage(facts, pageOf)], ...pages])
}

function indexPage(
  { source, tasks, tools, taken, proposals, unread, remarks }: TodoFacts,
  pageOf: ReadonlyMap<ProposedTask, string>,
): string {
  const lines = [
    '# What a person must decide',
    '',
    `${tasks.length === 1 ? 'One task was' : `${tasks.length} tasks were`} found in \`${source}\`. Nothing below was decided: until \`src/decisions.ts\` says what counts as done,`,
    'every task is unscored. Recordings show what was done, not what should have been; most of them may be wrong.',
    '',
    'This page and the files beside it quote real conversations, with the names and addresses that stand in them. They hold',
    'answers too: do not give them to the agent.',
    '',
    '## First, for all tasks',
    '',
    `- [ ] Which tools change something? Taken to: ${named([...taken.changing])}.`,
    ...(taken.handingOver.length === 0
      ? []
      : [
          `- [ ] Is it ever right to hand the customer over? ${named(taken.handingOver)} is taken to change nothing (\`changing\` in`,
          '      `src/decisions.ts`), so that no decision can ask for it yet.',
        ]),
    `- [ ] Which arguments are free text, and not compared? Taken to: ${named([...taken.freeText].flatMap(([tool, names]) => names.map((name) => `${tool}.${name}`)))}.`,
    '- [ ] How does a tool say that a call failed? Taken to: the recording says so, or a result that begins with "Error"',
    '      (`src/recorded-world.ts`).',
    '- [ ] Are the tools described well enough for a model that has never seen them (`tools.json`)?',
    '- [ ] Is anybody named in here who must not be?',
    '- [ ] Are these the cases that matter, as often as they come? Cases that were picked because they failed say how bad it can',
    '      get, not how good the agent is.',
    '',
    ...toolsTable(tools),
    '## Then, task by task',
    '',
    'For each: **What would count as done? Which facts must the customer have been told? Which state must have changed, and nothing',
    'else?** If a task cannot be decided from what is here, take it out of `tasks.jsonl`. Behind each stand the recorded rewards.',
    '',
    ...(proposals.size === 0
      ? []
      : [
          `The file has answers of its own for ${proposals.size === tasks.length ? 'all of them' : `${proposals.size} of them`}: \`src/proposals.ts\`.`,
          '',
        ]),
  ]
  for (const task of tasks) lines.push(taskLine(task, pageOf.get(task) ?? ''))
  lines.push('')
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

function named(names: readonly string[]): string {
  return names.map((name) => `\`${name.replaceAll('`', "'")}\``).join(', ') || 'none'
}

function code(text: string, most: number): string {
  return `\`${excerpt(text, most).replaceAll('`', "'")}\``
}

function taskLine(task: ProposedTask, page: string): string {
  const rewards = task.recordings.slice(0, shownRecordings).map(({ reward }) => reward ?? '–')
  const more = task.recordings.length > shownRecordings ? ', …' : ''
  return `- [ ] [${code(task.id, 60)}](${page}) ${quoted(questionText(task), 70)}: ${rewards.join(', ')}${more}`
}

function toolsTable(tools: readonly RecordedTool[]): string[] {
  if (tools.length === 0) return []
  const rows = tools.map(
    ({ name, recordedAs, calls, conversations, described, unreadable, changes, handsOver }) =>
      `| \`${name}\`${recordedAs === undefined ? '' : ` (recorded as ${quoted(recordedAs, 80)})`} | ${calls} | ${conversations} | ${described ? 'the file' : 'inferred'} | ${changes ? 'yes?' : handsOver ? 'no, hands over?' : 'no?'} | ${unreadable === 0 ? '' : `${unreadable} with unreadable arguments`} |`,
  )
  return [
    '| tool | calls | conversations | described by | changes something | |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ]
}

function taskQuestions(task: ProposedTask, { taken, proposals }: TodoFacts): string[] {
  const { id, recordings, wordings, given } = task
  const lines = [`## ${code(id, 80)}`, '', `> ${quoted(questionText(task), 400)}`, '']
  if (wordings.size > 1)
    lines.push(`- The question was put in ${wordings.size} ways; the first is the prompt.`)
  const own = proposals.get(id)
  if (own !== undefined) {
    const fence = '`'.repeat(Math.max(3, 1 + longestTicks(own)))
    lines.push("- The file's own answer:", '', `${fence}ts`, own.replace(/^ {2}/gm, ''), fence, '')
  } else if (given !== undefined)
    lines.push('- The file holds an answer of its own; see `secret.given` of the task in `tasks.jsonl`.')
  for (const recording of recordings.slice(0, shownRecordings)) {
    const { repeat, place, reward, answer } = recording
    const calls = changingCalls(recording, taken.changing)
    lines.push(
      `- Recording ${repeat} (${place}): reward ${reward ?? 'not recorded'}; ${calls.length === 0 ? 'called nothing that changes anything,' : 'called'}`,
      ...calls.map((call) => `  - ${code(`${call.tool}(${JSON.stringify(call.arguments)})`, 600)}`),
      ...(answer === '' ? ['', '  and said nothing.'] : ['', `  and said last: ${quoted(answer, 240)}`]),
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

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
}
