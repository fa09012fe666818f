import { isObject } from '../core/chat-messages.ts'
import { readObjects, refuse, type TrainedMessages, taskOf, trainedMessages } from './chat-line.ts'

/** Two conversations on one task, of which the first is better. */
export interface Preference {
  from: string
  /** Which task it is of, where that is known. */
  task: string | null
  chosen: TrainedMessages
  rejected: TrainedMessages
}

/**
 * A preference from a line: `{ prompt?, chosen, rejected, tools? }`, each a list of messages in OpenAI's chat shape, as
 * `quintain rows --as preference` and preference datasets have it. What the model says in the prompt is not trained on.
 * Throws `import_invalid` for what is none.
 */
export function preferenceOf(value: Readonly<Record<string, unknown>>, from: string): Preference {
  const prompt = value['prompt'] === undefined ? [] : listOf(value['prompt'], 'prompt', from)
  const side = (name: 'chosen' | 'rejected') => {
    const answer = listOf(value[name], name, from)
    const trained = [
      ...prompt.map(() => false),
      ...answer.map((one) => isObject(one) && one['role'] === 'assistant'),
    ]
    return trainedMessages([...prompt, ...answer], {
      from: `${from}, ${name}`,
      tools: value['tools'],
      trained,
    })
  }
  const { lineage } = value
  return {
    from: attemptsOf(lineage) ?? from,
    task: taskOf(value['task'] ?? (isObject(lineage) ? lineage['task'] : null)),
    chosen: side('chosen'),
    rejected: side('rejected'),
  }
}

/** The attempts of a pair, where its lineage names them. */
function attemptsOf(lineage: unknown): string | undefined {
  const [better, worse] = ['chosen', 'rejected'].map((name) => {
    const attempt = isObject(lineage) ? lineage[name] : undefined
    return isObject(attempt) && typeof attempt['attempt'] === 'string' ? attempt['attempt'] : undefined
  })
  return better === undefined || worse === undefined ? undefined : `${better} over ${worse}`
}

function listOf(value: unknown, name: string, from: string): unknown[] {
  if (Array.isArray(value)) return value
  throw refuse(from, `"${name}" is no list of messages.`)
}

/** The preferences of a file of JSON lines, in its order. Throws `import_invalid`, naming the line, and where there are none. */
export async function readPreferences(path: string): Promise<Preference[]> {
  const preferences: Preference[] = []
  for await (const { value, from } of readObjects(path)) preferences.push(preferenceOf(value, from))
  if (preferences.length === 0) throw refuse(path, 'there is no pair in it.')
  return preferences
}
