/** Characters and lines of a text before it is folded. */
export interface Fold {
  characters: number
  lines: number
}
const usualFold: Fold = { characters: 3_000, lines: 40 }
/** A fold must hide something worth a click. */
const leastHidden = 200

/** `at`, or one further where it would part the two halves of a character. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code < 0xdc00 && at < text.length ? at + 1 : at
}

/** The beginning of a long text; undefined when it is short enough to show. */
export function beginningOf(text: string, fold = usualFold): string | undefined {
  let end = -1
  for (let line = 0; line < fold.lines; line++) {
    end = text.indexOf('\n', end + 1)
    if (end < 0) break
  }
  const cut = whole(text, Math.min(fold.characters, end < 0 ? text.length : end))
  return text.length - cut < leastHidden ? undefined : text.slice(0, cut)
}

/**
 * A text in pieces of about `size` characters, cut after a line where one ends: browsers take minutes to lay out megabytes
 * in one block, and no time for blocks that are out of sight.
 */
export function piecesOf(text: string, size = 16_000): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = from + size
    if (to < text.length) {
      const line = text.lastIndexOf('\n', to - 1)
      to = line >= from ? line + 1 : whole(text, to)
    }
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}
