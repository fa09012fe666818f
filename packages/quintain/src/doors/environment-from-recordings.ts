import { type FileHandle, mkdir, open, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { jsonLine, QuintainError } from '../core/index.ts'
import { decisionsFile, proposalsFile, proposalsOf, takenTools } from './decision-files.ts'
import { literal } from './literal.ts'
import { type ProposedTask, ProposedTasks, sharedSystem, taskLine } from './proposed-tasks.ts'
import { formatNamed, formatOf, readConversations } from './read-conversations.ts'
import { type RecordedTool, ToolsSeen } from './recorded-tools.ts'
import { todoFiles } from './todo-files.ts'

/** What was made of a file of recordings. */
export interface ProposedEnvironment {
  format: string
  conversations: number
  tasks: ProposedTask[]
  tools: RecordedTool[]
  /** Values for the template's blanks. */
  blanks: { turns: number; repeats: number; source: string }
  /** What could not be read, by place. */
  unread: { place: string; problem: string }[]
  /** What was odd, and kept. */
  remarks: string[]
  files: string[]
}

/**
 * Writes into `folder` what a file of recorded conversations says of an environment: tasks, tools, recordings, the system
 * message, and the questions that a person must answer. The code round it is the template `recorded`.
 *
 * What cannot be read is told by place and left out; everything else of the file is kept. Nothing is decided: rewards stay
 * open, and what was recorded is in `secret` and in `recordings.jsonl`, where no agent sees it.
 *
 * Throws `import_invalid` for a file without a conversation in it, and `usage` for an unknown format.
 */
export async function environmentFromRecordings(
  path: string,
  folder: string,
  { as }: { as?: string } = {},
): Promise<ProposedEnvironment> {
  const format = as === undefined ? await formatOf(path) : formatNamed(as)
  const proposed = new ProposedTasks()
  const seen = new ToolsSeen()
  const unread: ProposedEnvironment['unread'] = []
  let [conversations, mostTurns, systemsLater] = [0, 0, 0]
  await mkdir(join(folder, 'src'), { recursive: true })
  const lines = new LineFile(await open(join(folder, 'recordings.jsonl'), 'w'))
  try {
    for await (const found of readConversations(path, format)) {
      if ('problem' in found) {
        unread.push(found)
        continue
      }
      if (found.messages.length === 0) {
        unread.push({ place: found.place, problem: 'it has no messages' })
        continue
      }
      const line = proposed.add(found)
      if (typeof line === 'string') {
        unread.push({ place: found.place, problem: line })
        continue
      }
      conversations++
      seen.add(found.messages, found.tools)
      mostTurns = Math.max(mostTurns, line.messages.filter(({ role }) => role === 'assistant').length)
      if (line.messages.some(({ role }) => role === 'system')) systemsLater++
      await lines.write(jsonLine(line))
    }
  } finally {
    await lines.close()
  }
  const tasks = proposed.list()
  if (tasks.length === 0) {
    const [first] = unread
    throw new QuintainError(
      'import_invalid',
      `${path} holds no task. ${first === undefined ? '' : `${first.place}: ${first.problem}.`} Nothing was written.`,
      { facts: { path, unread } },
    )
  }
  const tools = seen.list()
  const system = sharedSystem(tasks)
  const source = basename(path)
  const taken = takenTools(tools)
  const proposals = proposalsOf(tasks, taken)
  const remarks = [...remarksOf(tasks, tools, seen.differing(), systemsLater), ...proposalRemarks(proposals)]
  const given = proposalsFile(proposals, { tasks, source })
  const files = new Map([
    ['tasks.jsonl', tasks.map((task) => jsonLine(taskLine(task, system))).join('')],
    [
      'tools.json',
      `${JSON.stringify(
        tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
        null,
        2,
      )}\n`,
    ],
    ['system.md', system === undefined ? '' : `${system}\n`],
    ...todoFiles({ source, tasks, tools, taken, proposals, unread, remarks }),
    ['src/decisions.ts', decisionsFile(tasks, taken, proposals)],
    ...(given === undefined ? [] : [['src/proposals.ts', given] as const]),
  ])
  await mkdir(join(folder, 'todo'), { recursive: true })
  for (const [name, text] of files) await writeFile(join(folder, name), text)
  return {
    format: format.name,
    conversations,
    tasks,
    tools,
    blanks: {
      // Twice what was needed once, since another agent may take its time.
      turns: Math.max(10, 2 * mostTurns),
      // What every task has: a recorded policy has nothing to say in a repeat that was not recorded.
      repeats: tasks.reduce(
        (least, { recordings }) => Math.min(least, recordings.length),
        Number.MAX_SAFE_INTEGER,
      ),
      source,
    },
    unread,
    remarks,
    files: [...files.keys(), 'recordings.jsonl'],
  }
}

/** Lines that go to disk as they come: a file of recordings may be larger than memory. */
class LineFile {
  readonly #file: FileHandle
  #waiting = ''

  constructor(file: FileHandle) {
    this.#file = file
  }

  async write(line: string): Promise<void> {
    this.#waiting += line
    if (this.#waiting.length > 1024 * 1024) await this.#flush()
  }

  async close(): Promise<void> {
    try {
      await this.#flush()
    } finally {
      await this.#file.close()
    }
  }

  async #flush(): Promise<void> {
    const text = this.#waiting
    this.#waiting = ''
    await this.#file.appendFile(text)
  }
}

function remarksOf(
  tasks: readonly ProposedTask[],
  tools: readonly RecordedTool[],
  differing: readonly string[],
  systemsLater: number,
): string[] {
  const remarks: string[] = []
  const silent = tasks.filter(({ recordings }) =>
    recordings.every(({ answer, calls }) => answer === '' && calls.length === 0),
  )
  if (silent.length > 0)
    remarks.push(
      `In ${few(silent.map(({ id }) => id))} the assistant does nothing: a question without a recorded attempt.`,
    )
  const asked = Map.groupBy(tasks, ({ wordings }) => [...wordings][0] ?? '')
  for (const same of asked.values()) {
    if (same.length > 1)
      remarks.push(
        `${few(same.map(({ id }) => id))} ask the same thing under different ids. Was one renamed?`,
      )
  }
  for (const name of differing)
    remarks.push(`The conversations describe the tool "${name}" in different ways; the first counts.`)
  for (const { name, recordedAs } of tools) {
    if (recordedAs !== undefined)
      remarks.push(
        `The tool ${JSON.stringify(recordedAs)} is called "${name}" here: not every provider takes its name.`,
      )
  }
  if (systemsLater > 0) {
    remarks.push(
      `${systemsLater === 1 ? 'A conversation has' : `${systemsLater} conversations have`} system messages in the middle; they are in recordings.jsonl and are not said again.`,
    )
  }
  const odd = tasks.reduce(
    (sum, { recordings }) => sum + recordings.filter(({ notes }) => notes.length > 0).length,
    0,
  )
  if (odd > 0)
    remarks.push(
      `${odd === 1 ? 'A conversation has' : `${odd} conversations have`} messages with something odd, noted under the tasks.`,
    )
  return remarks
}

function proposalRemarks(proposals: ReadonlyMap<string, string>): string[] {
  const nothing = literal({ told: [], changed: [] })
  const idle = [...proposals].flatMap(([id, proposal]) => (proposal === nothing ? [id] : []))
  if (idle.length === 0) return []
  const whose = idle.length === 1 ? "The file's own answer" : `${idle.length} of the file's own answers`
  return [
    `${whose} (${few(idle)}) ${idle.length === 1 ? 'asks' : 'ask'} for no change and no fact: doing nothing would pass, so it is unscored until somebody says what the customer must hear.`,
  ]
}

function few(ids: readonly string[]): string {
  const shown = ids.slice(0, 5).map((id) => JSON.stringify(id))
  return `${shown.join(', ')}${ids.length > shown.length ? ` and ${ids.length - shown.length} more` : ''}`
}
