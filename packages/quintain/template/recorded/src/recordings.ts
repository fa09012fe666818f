import { readFileSync } from 'node:fs'
import { type Content, type Message, type Outcome, parseJsonl, type ToolSpec, textOf } from 'quintain'

/** A step of the agent in a recording, and what came of it. */
export type Step =
  | {
      kind: 'call'
      name: string
      /** Name and arguments as one text; undefined when the arguments were no JSON. */
      key: string | undefined
      /** Undefined when the recording has no result. */
      result: Content | undefined
      /** Code of the failure, where the recording says that the call failed. */
      error: string | undefined
      last: boolean
    }
  | { kind: 'text'; text: string; next: Content | undefined; last: boolean }

/** One recorded conversation, from the agent's first step on. The last step of one that was cut ends nothing. */
export interface Recording {
  repeat: number
  steps: Step[]
}

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

/** The system message that all recordings share; empty when there is none. */
export const system = read('system.md').trim()

/** Tools as the recordings had them. Where the file did not describe them, their parameters were inferred from calls. */
export const tools = JSON.parse(read('tools.json')) as ToolSpec[]

interface Line {
  task: string
  repeat: number
  outcome?: Outcome
  messages: Message[]
}

const byTask = new Map<string, Recording[]>()
for (const { value } of parseJsonl(read('recordings.jsonl')).records) {
  const { task, repeat, outcome, messages } = value as Line
  const ended = outcome === undefined || outcome === 'completed' || outcome === 'env_done'
  byTask.set(task, [...(byTask.get(task) ?? []), { repeat, steps: stepsOf(messages, ended) }])
}

/** The recordings of a task, in the order of the file. */
export function recordingsOf(task: string): readonly Recording[] {
  return byTask.get(task) ?? []
}

/** A call as a text that is the same for the same call, whatever the order of its arguments. */
export function keyOf(name: string, input: unknown): string {
  const sorted = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return `${name} ${JSON.stringify(input, sorted)}`
}

function stepsOf(messages: readonly Message[], ended: boolean): Step[] {
  const steps: Step[] = []
  let unanswered: Extract<Step, { kind: 'call' }>[] = []
  let ids: string[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      const found = ids.indexOf(message.toolCallId)
      const [step] = found < 0 ? [] : unanswered.splice(found, 1)
      ids.splice(found, found < 0 ? 0 : 1)
      if (step !== undefined) Object.assign(step, { result: message.content, error: message.error })
    } else if (message.role === 'assistant') {
      const calls = message.toolCalls ?? []
      if (calls.length === 0) {
        steps.push({ kind: 'text', text: textOf(message.content), next: nextOf(messages, at), last: false })
        continue
      }
      unanswered = calls.map((call) => {
        const key = parsedKey(call)
        return { kind: 'call', name: call.name, key, result: undefined, error: undefined, last: false }
      })
      ids = calls.map(({ id }) => id)
      steps.push(...unanswered)
    }
  }
  const final = steps.at(-1)
  if (final !== undefined) final.last = ended
  return steps
}

/** What was said to the agent between one of its messages and the next. */
function nextOf(messages: readonly Message[], at: number): Content | undefined {
  const said: Content[] = []
  for (const message of messages.slice(at + 1)) {
    if (message.role === 'assistant') break
    if (message.role === 'user') said.push(message.content)
  }
  return said.length > 1 ? said.map((content) => textOf(content)).join('\n\n') : said[0]
}

function parsedKey({ name, arguments: given }: { name: string; arguments: string }): string | undefined {
  try {
    return keyOf(name, given.trim() === '' ? {} : JSON.parse(given))
  } catch {
    return undefined
  }
}
