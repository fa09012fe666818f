import { isDeepStrictEqual } from 'node:util'
import type { Message } from '../core/index.ts'
import type { RecordRoom } from '../core/record-room.ts'
import { weightOf } from '../core/weight.ts'

const pointerBytes = 8

/**
 * The conversations that the replies of a lease ended, by the ids by which a program may name these replies. They share
 * their messages, as each mostly goes on from the one before.
 */
export class ReplyHistories {
  private readonly byId = new Map<string, readonly Message[]>()
  private newest: readonly Message[] = []
  private readonly room: Pick<RecordRoom, 'add'> | undefined

  /** `room`: where what is kept is counted. */
  constructor(room?: Pick<RecordRoom, 'add'>) {
    this.room = room
  }

  find(id: string): readonly Message[] | undefined {
    return this.byId.get(id)
  }

  /** Keeps a conversation, its reply last. */
  keep(ids: readonly string[], messages: readonly Message[]): void {
    if (ids.length === 0) return
    const { all, own } = shared(messages, this.newest)
    this.newest = all
    this.room?.add(all.length * pointerBytes + own.reduce((sum, message) => sum + weightOf(message), 0))
    for (const id of ids) this.byId.set(id, this.newest)
  }
}

/** The same conversation, made of the messages of an earlier one as far as they begin alike, and those that it has beside. */
function shared(messages: readonly Message[], earlier: readonly Message[]) {
  const from = said(messages)
  const fromEarlier = said(earlier)
  const most = Math.min(messages.length - from, earlier.length - fromEarlier)
  let same = 0
  while (same < most && equal(messages[from + same]!, earlier[fromEarlier + same]!)) same++
  const head = messages.slice(0, from)
  const rest = messages.slice(from + same)
  const all: readonly Message[] = [...head, ...earlier.slice(fromEarlier, fromEarlier + same), ...rest]
  return { all, own: [...head, ...rest] }
}

/** Where the conversation begins. Instructions may be others each time, and dialects know their own by identity. */
function said(messages: readonly Message[]): number {
  const from = messages.findIndex(({ role }) => role !== 'system')
  return from < 0 ? messages.length : from
}

function equal(a: Message, b: Message): boolean {
  return a === b || (a.role === b.role && isDeepStrictEqual(a, b))
}
