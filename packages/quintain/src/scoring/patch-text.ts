/**
 * A patch as it can be applied: what copying and models do to one is undone, and nothing else. It ends in a line break
 * (`git apply` and `patch` refuse one whose last line has none), a fence of Markdown round it is taken off, and CRLF
 * that came in transit is LF again, unless the patch is one of files with CRLF. Null when there is no hunk in it.
 */
export function patchText(text: string): string | null {
  const fenced = /^[ \t]*(`{3,}|~{3,})(?:diff|patch)?[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*\1[ \t]*\s*$/.exec(text)
  const body = fenced === null ? text : fenced[2]!
  const lines = body.replace(/^\uFEFF/, '').split('\n')
  // In a patch of files with CRLF, git's own header lines still end in LF.
  const header = lines.find((line) => /^(?:---|\+\+\+|@@) /.test(line))
  if (header === undefined || !lines.some((line) => line.startsWith('@@ '))) return null
  const given = header.endsWith('\r') ? lines.map((line) => line.replace(/\r$/, '')) : lines
  return `${given.join('\n').replace(/\n+$/, '')}\n`
}
