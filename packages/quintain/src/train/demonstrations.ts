import { isObject } from '../core/chat-messages.ts'
import { measureOf, readObjects, refuse, type TrainedMessages, taskOf, trainedMessages } from './chat-line.ts'

/** A conversation to imitate. */
export interface Demonstration extends TrainedMessages {
  /** Where it stands: a line of a file, or an attempt. */
  from: string
  /** Which task it is of, where that is known. */
  task: string | null
  /** What it was worth, where that is known. */
  reward: number | null
  success: boolean | null
}

/**
 * A demonstration from a line: `{ messages, tools?, reward?, success?, task?, trained? }` in OpenAI's chat shape, a line of
 * `quintain rows --text-only`, or one of `quintain rows --as sft`, whose reward stands in its lineage. Throws
 * `import_invalid` for what is none, and for a reward that is no number or a success that is neither true nor false.
 *
 * @example demonstrationOf({ messages: [{ role: 'user', content: '2+2' }, { role: 'assistant', content: '4' }] }, 'here')
 */
export function demonstrationOf(value: Readonly<Record<string, unknown>>, from: string): Demonstration {
  const { messages, tools, trained } = value
  const lineage = isObject(value['lineage']) ? value['lineage'] : {}
  const { reward, success } = measureOf({
    from,
    reward: value['reward'] ?? lineage['reward'],
    success: value['success'] ?? lineage['success'],
  })
  return {
    ...trainedMessages(messages, { from, tools, trained }),
    from: typeof lineage['attempt'] === 'string' ? lineage['attempt'] : from,
    task: taskOf(value['task'] ?? lineage['task']),
    reward,
    success,
  }
}

/** The demonstrations of a file of JSON lines, in its order. Throws `import_invalid`, naming the line, and where there are none. */
export async function readDemonstrations(path: string): Promise<Demonstration[]> {
  const demonstrations: Demonstration[] = []
  for await (const { value, from } of readObjects(path)) demonstrations.push(demonstrationOf(value, from))
  if (demonstrations.length === 0) throw refuse(path, 'there is no conversation in it.')
  return demonstrations
}
