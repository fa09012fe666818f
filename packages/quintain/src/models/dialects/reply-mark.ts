const mark = 'quintain.'

/**
 * What a program is given in the place of reasoning that it cannot read (`encrypted_content`, `signature`): the id of the
 * reply. It sends that back as it came, and the gateway finds in its own records what was sampled.
 */
export function markOf(replyId: string): string {
  return mark + replyId
}

/** The reply that a mark names; undefined for a provider's own text. */
export function markedReply(text: unknown): string | undefined {
  return typeof text === 'string' && text.startsWith(mark) ? text.slice(mark.length) : undefined
}
