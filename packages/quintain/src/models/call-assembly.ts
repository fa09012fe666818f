import { parseJsonAt } from '../core/json-parse.ts'
import type { RawMessage } from './completion.ts'

export interface CallDraft {
  index: number | undefined
  id: string
  name: string
  arguments: string
}

export interface CallAssembly {
  push(delta: unknown): void
  calls(): RawMessage[]
  /** The calls so far, in the order in which they began. */
  readonly drafts: readonly Readonly<CallDraft>[]
}

/**
 * Puts the deltas of tool calls together. Calls are told apart by index, id and name, whichever a server gives; empty
 * strings mean absent; arguments are joined as they come.
 */
export function createCallAssembly(): CallAssembly {
  const drafts: CallDraft[] = []

  function isOpen(draft: CallDraft): boolean {
    if (draft.arguments === '') return false
    const parsed = parseJsonAt(draft.arguments, 0, { duplicateKeys: 'last' })
    return !parsed.ok && parsed.failure === 'truncated'
  }

  function target(index: number | undefined, id: string, name: string): CallDraft | undefined {
    if (index !== undefined) {
      const same = drafts.findLast((draft) => draft.index === index)
      if (same === undefined) return undefined
      // Some servers number every call 0, others invent an id per chunk: a new id starts a call only with a name.
      const another = id !== '' && same.id !== '' && id !== same.id && name !== ''
      return another && !isOpen(same) ? undefined : same
    }
    if (id !== '') {
      const same = drafts.findLast((draft) => draft.id === id)
      if (same !== undefined) return same
      const last = drafts.at(-1)
      return name === '' && last !== undefined && last.id === '' ? last : undefined
    }
    const last = drafts.at(-1)
    if (last === undefined || name === '') return last
    return name === last.name && (isOpen(last) || last.arguments === '') ? last : undefined
  }

  return {
    drafts,
    push(raw) {
      if (typeof raw !== 'object' || raw === null) return
      const delta = raw as RawMessage
      const inner = (
        typeof delta['function'] === 'object' && delta['function'] !== null ? delta['function'] : {}
      ) as RawMessage
      const given = delta['index']
      const index =
        typeof given === 'number'
          ? given
          : typeof given === 'string' && given !== ''
            ? Number(given)
            : undefined
      const rawId = delta['id']
      const id = typeof rawId === 'string' ? rawId : typeof rawId === 'number' ? String(rawId) : ''
      const rawName = inner['name'] ?? delta['name']
      const name = typeof rawName === 'string' ? rawName : ''
      const rawText = inner['arguments'] ?? delta['arguments']
      const text =
        typeof rawText === 'string'
          ? rawText
          : typeof rawText === 'object' && rawText !== null
            ? JSON.stringify(rawText)
            : ''

      let draft = target(index, id, name)
      if (draft === undefined) {
        if (id === '' && name === '' && text === '') return
        draft = { index, id, name, arguments: text }
        drafts.push(draft)
        return
      }
      if (draft.id === '') draft.id = id
      if (name !== '' && name !== draft.name) {
        // A name may come in pieces, but only before the arguments do.
        if (draft.arguments === '') draft.name += name
      }
      draft.arguments += text
    },
    calls() {
      const inOrder = drafts.every((draft) => draft.index !== undefined)
        ? drafts.toSorted((a, b) => a.index! - b.index!)
        : drafts
      return inOrder.map(({ id, name, arguments: text }) => ({ id, function: { name, arguments: text } }))
    },
  }
}
