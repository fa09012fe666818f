import type { Answer } from '../conversation.ts'
import { mostLineBytes } from './line-queue.ts'
import type { CommandOptions } from './options.ts'
import type { Place } from './place.ts'
import { type ProgramEnd, ProgramFailure } from './program-end.ts'

/** What a program answered; empty when it said nothing. */
export async function readAnswer(
  where: NonNullable<CommandOptions['answer']>,
  { end, place, lastReply }: { end: ProgramEnd; place: Place; lastReply(): string },
): Promise<string> {
  if (where === 'stdout') return end.stdout.trim()
  if (where === 'last-line') return end.stdout.trimEnd().split('\n').at(-1)?.trim() ?? ''
  if (where === 'last-reply') return lastReply()
  const file = await place.read(where.file)
  return file.ok ? Buffer.from(file.data).toString('utf8').trim() : ''
}

/** What a program that talks in lines answered: `{ "answer": text }`. Throws its failure for any other line. */
export function lineAnswer(line: string): Answer {
  if (Buffer.byteLength(line) >= mostLineBytes)
    throw new ProgramFailure(`printed a line of ${mostLineBytes} bytes or more`, line.slice(0, 200))
  let said: unknown
  try {
    said = JSON.parse(line)
  } catch {
    said = undefined
  }
  const answer = typeof said === 'object' && said !== null ? (said as { answer?: unknown }).answer : undefined
  if (typeof answer === 'string') return answer === '' ? {} : { content: answer }
  throw new ProgramFailure('printed a line that is no {"answer": "…"}', line.slice(0, 200))
}
