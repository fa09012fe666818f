import { isDeepStrictEqual } from 'node:util'
import type { Message } from '../core/index.ts'

/**
 * The conversations that the replies of a lease ended, by the ids by which a program may name these replies. They share
 * their messages, as each mostly goes on from the one before.
 */
export class ReplyHistories {
  private readonly byId = new Map<string, readonly Message[]>()
  private newest: readonly Message[] = []

  find(id: string): readonly Message[] | undefined {
    return this.byId.get(id)
  }

  /** Keeps a conversation, its reply last. */
  keep(ids: readonly string[], messages: readonly Message[]): void {
    if (ids.length === 0) return
    this.newest = shared(messages, this.newest)
    for (const id of ids) this.byId.set(id, this.newest)
  }
}

/** The same conversation, made of the messages of an earlier one as far as they begin alike. */
function shared(messages: readonly Message[], earlier: readonly Message[]): readonly Message[] {
  const from = said(messages)
  const fromEarlier = said(earlier)
  const most = Math.min(messages.length - from, earlier.length - fromEarlier)
  let same = 0
  while (same < most && equal(messages[from + same]!, earlier[fromEarlier + same]!)) same++
  return [
    ...messages.slice(0, from),
    ...earlier.slice(fromEarlier, fromEarlier + same),
    ...messages.slice(from + same),
  ]
}

/** Where the conversation begins. Instructions may be others each time, and dialects know their own by identity. */
function said(messages: readonly Message[]): number {
  const from = messages.findIndex(({ role }) => role !== 'system')
  return from < 0 ? messages.length : from
}

function equal(a: Message, b: Message): boolean {
  return a === b || (a.role === b.role && isDeepStrictEqual(a, b))
}
