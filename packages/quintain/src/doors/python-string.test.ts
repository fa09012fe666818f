import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pythonString } from './python-string.ts'

/** What Python reads a literal of this form as. */
function readPython(literal: string): string {
  expect(literal).toMatch(/^"[ -~]*"$/)
  return literal
    .slice(1, -1)
    .replace(/\\(U[0-9a-f]{8}|u[0-9a-f]{4}|.)/g, (_all, code: string) =>
      code.length > 1
        ? String.fromCodePoint(Number.parseInt(code.slice(1), 16))
        : ({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }[code] ?? code),
    )
}

test('a literal is the text, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(readPython(pythonString(text))).toBe(text)
    }),
  )
  expect(pythonString('😀 "x"\\\n')).toBe('"\\U0001f600 \\"x\\"\\\\\\n"')
})
