/**
 * A text for people and models, in a docstring: on one line, without what would end the string, and without what readers of
 * Google's form of docstrings take for one of its sections. Signs that are not seen, or turn what is seen around, are
 * spelled out.
 */
export function docText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/(Args|Arguments|Returns|Raises|Yields|Examples?):/g, '$1 -')
    .replace(/\(\s*choices\s*:/g, '(choices -')
    .replace(/["\\]/g, (sign) => `\\${sign}`)
    .replace(unseen, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Signs without width, or that set the direction. */
const unseen = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff]/g

const keywords: ReadonlySet<string> = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return self try while with yield cls'
  ).split(' '),
)

/**
 * A name of Python for any text: of ASCII, since Python takes some names for the same that look another way, and not with
 * an underscore first, since such are private. `taken` is told it.
 */
export function pythonName(text: string, taken: Set<string>, fallback: string): string {
  const plain = text.replace(/[^A-Za-z0-9_]/g, '_').replace(/^_+/, '')
  const base = plain === '' ? fallback : /^[0-9]/.test(plain) ? `${fallback}_${plain}` : plain
  let name = base.slice(0, 100)
  for (let n = 2; keywords.has(name) || taken.has(name); n++) name = `${base.slice(0, 90)}_${n}`
  taken.add(name)
  return name
}
