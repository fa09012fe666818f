import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseTools } from './tool-list.ts'

const bad = (why: string) => new Error(why)
const name = fc.oneof(
  fc.constantFrom(
    'read',
    'read_',
    'a.b',
    'a b',
    'a/b',
    'a__b',
    '',
    'constructor',
    '__proto__',
    'é',
    '日本語',
  ),
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 60, maxLength: 200 }),
  fc.constant('x'.repeat(70)),
)
const list = fc.array(
  fc
    .record({ name, description: fc.option(fc.string(), { nil: undefined }) })
    .map(({ name, description }) => ({
      name,
      inputSchema: { type: 'object' },
      ...(description === undefined ? {} : { description }),
    })),
  { maxLength: 12 },
)
const prefix = fc.option(fc.string(), { nil: undefined })

test('whatever names a server gives, the shown ones are safe, distinct, and independent of the order', () => {
  fc.assert(
    fc.property(list, prefix, fc.nat(), (tools, prefix, turn) => {
      const shown = chooseTools(tools, { prefix }, bad)
      expect(new Set(shown.map((tool) => tool.shown)).size).toBe(shown.length)
      expect(new Set(shown.map((tool) => tool.name))).toEqual(new Set(tools.map((tool) => tool.name)))
      for (const tool of shown) expect(tool.shown).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      const at = tools.length === 0 ? 0 : turn % tools.length
      const other = chooseTools([...tools.slice(at), ...tools.slice(0, at)].reverse(), { prefix }, bad)
      const plain = (tool: { name: string; shown: string; description: string }) =>
        JSON.stringify([tool.name, tool.shown, tool.description])
      expect(other.map(plain).sort()).toEqual(shown.map(plain).sort())
    }),
  )
})

test('a title describes a tool that has no description', () => {
  const [tool] = chooseTools([{ name: 'a', title: 'Does a.', inputSchema: { type: 'object' } }], {}, bad)
  expect(tool?.description).toBe('Does a.')
})
