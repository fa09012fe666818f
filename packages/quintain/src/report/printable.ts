/**
 * Everything that can move a cursor, repaint a terminal, ring it, reorder text or break a line unseen: C0 and C1 controls
 * but for line feed and tab, DEL, the bidirectional marks, line separators, the byte order mark and lone surrogates.
 */
export const unprintable =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** How such a character is shown: `\x1b`, `\u202e`. */
export function escapeOf(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/** Text of models, tasks and programs, made inert for a terminal: what could act is shown as an escape such as `\x1b`. */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(unprintable, escapeOf)
}

/** `printable` on one line, cut to `width` characters. */
export function printableLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = printable(text).replace(/[\n\t]+/g, ' ')
  const characters = [...line]
  return characters.length > width ? `${characters.slice(0, Math.max(0, width - 1)).join('')}…` : line
}
