import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exposeToolNames, toolNameLimit } from './tool-names.ts'

const word = fc.oneof(
  fc.constantFrom('a', 'a_', '_a', 'a__b', 'b', 'a.b', 'a b', 'é', ''),
  fc.string(),
  fc.string({ minLength: 60, maxLength: 90 }),
)
const tools = fc.uniqueArray(fc.record({ server: word, name: word }), {
  selector: ({ server, name }) => JSON.stringify([server, name]),
  maxLength: 12,
})

test('names are unique, short, plain, and do not depend on the order', () => {
  fc.assert(
    fc.property(tools, fc.nat(), (list, turn) => {
      const names = exposeToolNames(list)
      expect(new Set(names).size).toBe(list.length)
      for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      const at = list.length === 0 ? 0 : turn % list.length
      const turned = [...list.slice(at), ...list.slice(0, at)]
      const again = exposeToolNames(turned)
      for (const [index, tool] of list.entries()) expect(again[turned.indexOf(tool)]).toBe(names[index])
    }),
  )
})

test('plain names stay as they are', () => {
  expect(exposeToolNames([{ server: 'files', name: 'read' }, { name: 'search' }])).toEqual([
    'files__read',
    'search',
  ])
})

test('names that differ only beyond the limit stay apart', () => {
  const long = 'x'.repeat(toolNameLimit)
  const [a, b] = exposeToolNames([
    { server: long, name: 'csv' },
    { server: long, name: 'pdf' },
  ])
  expect(a).not.toBe(b)
})

test('two tools of one name on one server are refused', () => {
  expect(() => exposeToolNames([{ name: 'a' }, { name: 'a' }])).toThrow(/two tools named "a"/)
})
