/** A text as a string literal of Python, on one line and of ASCII alone, whatever it holds. */
export function pythonString(text: string): string {
  // By code points: Python takes the two halves of a sign, each spelled out, for two signs.
  return JSON.stringify(text).replace(/[\u007f-\u{10ffff}]/gu, (sign) => {
    const code = sign.codePointAt(0)!.toString(16)
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
  })
}
