import { textOf } from '../../core/index.ts'
import type { Opening } from './session.ts'

/**
 * What an agent is told on a wire where words beside a call reach nobody: by which tool it speaks. Undefined where it has
 * no such tool, or its author has named it already and so said it better.
 */
export function howToSpeak({ answerTool, replies, messages }: Opening): string | undefined {
  if (answerTool === undefined) return undefined
  const told = messages.some(({ role, content }) => role !== 'tool' && textOf(content).includes(answerTool))
  if (told) return undefined
  return replies
    ? `Everything you say must be said by calling the tool \`${answerTool}\`; other text is not seen.`
    : `When you have your answer, call the tool \`${answerTool}\` with it; an answer that is only written as text is not seen.`
}
