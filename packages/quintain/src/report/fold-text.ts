import { plural } from './number-text.ts'

/** The head and the tail of a long text, and how much lies between. */
export function foldText(text: string, { lines, characters }: { lines: number; characters: number }): string {
  const all = text.split('\n')
  if (all.length > lines) {
    const head = Math.ceil(lines * 0.7)
    const tail = lines - head
    const hidden = all.length - lines
    const end = tail === 0 ? [] : all.slice(-tail)
    return foldText(
      [...all.slice(0, head), `… ${plural(hidden, 'line')} folded; --full shows all …`, ...end].join('\n'),
      {
        lines: lines + 1,
        characters,
      },
    )
  }
  if (text.length <= characters) return text
  const head = Math.ceil(characters * 0.7)
  const hidden = text.length - characters
  return `${text.slice(0, head).toWellFormed()} … ${plural(hidden, 'character')} folded; --full shows all … ${text.slice(head + hidden).toWellFormed()}`
}

/** Sets each line in that is not empty. */
export function indent(text: string, by = '    '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : by + line))
    .join('\n')
}
