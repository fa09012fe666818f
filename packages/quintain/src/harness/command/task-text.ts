import { type Message, type PublicTask, textOf } from '../../core/index.ts'
import type { Question } from '../conversation.ts'
import type { Links } from './variables.ts'

/** What a program is told of its task, as JSON: the public task, the conversation so far, and what to answer. */
export function taskJson(task: PublicTask, { messages, news, input, turn }: Question): string {
  return JSON.stringify({ task, turn, input, news, messages })
}

/** What a program is told as text: all that was said since its last answer, from the system message on. */
export function newsText(news: readonly Message[]): string {
  return news
    .filter(({ role }) => role !== 'assistant' && role !== 'tool')
    .map(({ content }) => textOf(content))
    .join('\n\n')
}

/** Arguments with what they name put in. */
export function filledArguments(
  argv: readonly string[],
  values: { input: string; task: string; taskFile: string; model: Links['model'] },
): string[] {
  const named: Record<string, string> = {
    '{input}': values.input,
    '{task}': values.task,
    '{task-file}': values.taskFile,
    '{model}': values.model?.model ?? '',
    '{base-url}': values.model?.baseURL ?? '',
  }
  // In one pass: what is put in is not looked at again.
  return argv.map((part) =>
    part.replace(/\{(?:input|task|task-file|model|base-url)\}/g, (name) => named[name] ?? name),
  )
}
