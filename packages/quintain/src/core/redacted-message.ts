import { messageOf } from './errors.ts'

/** What is read of a text that was thrown; far more than is ever shown of it. */
const mostRead = 100_000

/** The message of anything that was thrown, on one line. The secret is taken out before the line is cut, so that no half of it stays. */
export function redactedMessage(redact: (text: string) => string, thrown: unknown, limit = 300): string {
  return messageOf(redact(messageOf(thrown, mostRead)), limit)
}
