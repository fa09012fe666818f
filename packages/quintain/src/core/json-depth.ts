/** What nests deeper is nothing that anybody sends or reads, and walking it would outgrow the stack. */
export const mostNesting = 500

const quote = 0x22
const backslash = 0x5c

/** Whether a JSON text nests deeper than `mostNesting`. For valid JSON; walks no tree, so no depth is too much for it. */
export function nestsTooDeep(json: string): boolean {
  // Each level takes an opening and a closing bracket.
  if (json.length <= 2 * mostNesting) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfString(json, at)
    else if (code === 0x7b || code === 0x5b) {
      depth++
      if (depth > mostNesting) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

/** Where the string ends that starts at a quote: its closing quote, or the end of the text. */
export function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return json.length
}
