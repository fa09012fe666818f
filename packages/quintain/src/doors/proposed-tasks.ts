import { type Content, type Message, type TaskInput, textOf } from '../core/index.ts'
import type { Conversation } from './conversation.ts'
import { questionOf, taskOf } from './import-survey.ts'
import { parsedArguments, safeToolName } from './recorded-tools.ts'

/** A call that may have changed something, as it was recorded. */
export interface ChangingCall {
  tool: string
  arguments: Record<string, unknown>
}

/** What a recording shows a person who decides what counts as done. */
export interface RecordingFacts {
  repeat: number
  place: string
  reward: number | null
  /** The last text that the assistant said. */
  answer: string
  calls: { name: string; arguments: string }[]
  notes: string[]
}

/** A task that was found in recordings. */
export interface ProposedTask {
  id: string
  /** What the agent is told, without the system message that all share. */
  prompt: Message[]
  system: Content | undefined
  /** How many ways the question was put. */
  wordings: Set<string>
  /** True when the file names the task; otherwise it is known by its question. */
  named: boolean
  given: unknown
  split: string | undefined
  tags: readonly string[]
  tools: Set<string>
  recordings: RecordingFacts[]
}

/** A line of `recordings.jsonl`: also a line that a `recorded:` policy reads. */
export interface RecordingLine {
  task: string
  repeat: number
  prompt: Message[]
  /** From the agent's first step on. */
  messages: Message[]
  [fact: string]: unknown
}

/** Where the agent's own part begins: with its first message after the first question. */
function beginOf(messages: readonly Message[]): number {
  const asked = messages.findIndex(({ role }) => role === 'user')
  const begin = messages.findIndex(({ role }, at) => at > asked && role !== 'user' && role !== 'system')
  return begin < 0 ? messages.length : begin
}

/**
 * Groups conversations that are attempts at one task: those that name the same one, and of the rest those that ask the same.
 * Holds of each recording what a person must see of it to decide, and hands its whole on.
 */
export class ProposedTasks {
  readonly #tasks = new Map<string, ProposedTask>()

  /** Adds a conversation; gives its line, or why there is no task in it. */
  add(conversation: Conversation): RecordingLine | string {
    const { messages, place, notes } = conversation
    if (!messages.some(({ role }) => role === 'user'))
      return 'nobody asks anything in it: it has no user message'
    const begin = beginOf(messages)
    const opening = messages.slice(0, begin)
    const [head, ...others] = opening
    const system = head?.role === 'system' ? head.content : undefined
    const prompt = system === undefined ? opening : others
    const own = messages.slice(begin).map(renamed)
    const id = taskOf(conversation)
    let task = this.#tasks.get(id)
    if (task === undefined) {
      task = {
        id,
        prompt,
        system,
        wordings: new Set(),
        named: conversation.task !== undefined,
        given: conversation.secret,
        split: conversation.split,
        tags: conversation.tags ?? [],
        tools: new Set(),
        recordings: [],
      }
      this.#tasks.set(id, task)
    }
    task.wordings.add(questionOf(conversation))
    const repeat = task.recordings.length
    const calls = own.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    for (const { name } of calls) task.tools.add(name)
    const answer = own.findLast((message) => message.role === 'assistant' && textOf(message.content) !== '')
    task.recordings.push({
      repeat,
      place,
      reward: rewardOf(conversation),
      answer: textOf(answer?.content),
      calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
      notes,
    })
    const { messages: _, notes: __, ...facts } = conversation
    return { ...facts, task: id, repeat, prompt: opening, messages: own }
  }

  list(): ProposedTask[] {
    const tasks = [...this.#tasks.values()]
    const numeric = tasks.every(({ id }) => /^\d{1,15}$/.test(id))
    return numeric ? tasks.sort((a, b) => Number(a.id) - Number(b.id)) : tasks
  }
}

/** The reward of a recording: what its file says, or 1 and 0 where it only says whether it went well. */
function rewardOf({ reward, success, fault }: Conversation): number | null {
  if (fault !== undefined) return null
  return reward ?? (success === undefined ? null : Number(success))
}

/** A message with names of tools that every provider takes. */
function renamed(message: Message): Message {
  if (message.role === 'assistant' && message.toolCalls !== undefined)
    return {
      ...message,
      toolCalls: message.toolCalls.map((call) => ({ ...call, name: safeToolName(call.name) })),
    }
  if (message.role === 'tool' && message.name !== undefined)
    return { ...message, name: safeToolName(message.name) }
  return message
}

/** The system message that all tasks share; undefined when they differ or one has none. */
export function sharedSystem(tasks: readonly ProposedTask[]): string | undefined {
  const [first] = tasks
  if (typeof first?.system !== 'string') return undefined
  return tasks.every(({ system }) => system === first.system) ? first.system : undefined
}

/** One question as its text; anything else as messages. */
function plainPrompt(messages: Message[]): string | Message[] {
  const [only] = messages
  const isText = messages.length === 1 && only?.role === 'user' && only.name === undefined
  return isText && typeof only.content === 'string' ? only.content : messages
}

/** A task as its line in `tasks.jsonl`. */
export function taskLine(task: ProposedTask, shared: string | undefined): TaskInput {
  const { id, split, recordings, given, tools, tags } = task
  const own: Message[] =
    task.system === undefined || shared !== undefined ? [] : [{ role: 'system', content: task.system }]
  const rewards = recordings.flatMap(({ reward }) => (reward === null ? [] : [reward]))
  const binary = rewards.length > 0 && rewards.every((reward) => reward === 0 || reward === 1)
  const solved = rewards.filter((reward) => reward === 1).length
  return {
    id,
    ...(split === undefined ? {} : { split }),
    prompt: plainPrompt([...own, ...task.prompt]),
    tags: [
      ...tags,
      ...[...tools].sort().map((tool) => `tool:${tool}`),
      ...(binary ? [`recorded:${solved}-of-${rewards.length}`] : []),
    ],
    secret: {
      recorded: recordings.map(({ repeat, reward, answer }) => ({ repeat, reward, answer })),
      ...(given === undefined ? {} : { given }),
    },
  }
}

/** The calls of a recording that may have changed something, as far as their arguments can be read. */
export function changingCalls({ calls }: RecordingFacts, changing: ReadonlySet<string>): ChangingCall[] {
  return calls.flatMap(({ name, arguments: given }) => {
    const value = changing.has(name) ? parsedArguments(given) : undefined
    return value === undefined ? [] : [{ tool: name, arguments: value }]
  })
}
