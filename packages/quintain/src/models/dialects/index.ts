import type { DialectName } from '../../core/index.ts'
import { chatDialect } from './chat.ts'
import type { Dialect } from './dialect.ts'
import { messagesDialect } from './messages.ts'
import { responsesDialect } from './responses.ts'

export * from './dialect.ts'
export { chatDialect, messagesDialect, responsesDialect }

/** Every protocol in which models are asked, by its name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  chat: chatDialect,
  responses: responsesDialect,
  messages: messagesDialect,
}
