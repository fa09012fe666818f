import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amendedText } from './amended-text.ts'

const key = fc.oneof(fc.constantFrom('messages', 'model', 'a"b', 'é\\', '__proto__', ''), fc.string())
const value = fc.jsonValue({ maxDepth: 3 })

/** JSON of an object as programs write it: with spaces, escaped keys and repeated ones. */
const written = fc
  .array(fc.record({ key, value, spaces: fc.constantFrom('', ' ', '\n\t'), escaped: fc.boolean() }), {
    maxLength: 6,
  })
  .map((fields) => {
    const all = fields.map(({ key: name, value: held, spaces, escaped }) => {
      const plain = JSON.stringify(name)
      const shown = escaped
        ? `"${[...name].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
        : plain
      const quoted = JSON.parse(shown) === name ? shown : plain
      return `${spaces}${quoted}${spaces}:${spaces}${JSON.stringify(held, null, spaces)}${spaces}`
    })
    return `{${all.join(',')}}`
  })

test('says what JSON of the amended body says', () => {
  fc.assert(
    fc.property(written, fc.array(fc.tuple(key, fc.option(value, { nil: undefined }))), (text, changes) => {
      const body = JSON.parse(text) as Record<string, unknown>
      const amended = { ...body, ...Object.fromEntries(changes) }
      const read = JSON.parse(amendedText(amended, { body, text })) as unknown
      expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(JSON.stringify(amended))))
    }),
  )
})

test('keeps what a program wrote to the letter, numbers too long for us among it', () => {
  const text = '{ "model": "theirs", "seed": 12345678901234567890, "messages": [ {"content": "\\u00e9" } ] }'
  const body = JSON.parse(text) as Record<string, unknown>
  expect(amendedText({ ...body, model: 'ours', stream: true }, { body, text })).toBe(
    '{"model":"ours","seed": 12345678901234567890,"messages": [ {"content": "\\u00e9" } ] ,"stream":true}',
  )
})

test('writes anew what names a key twice, so that nobody reads another one than we do', () => {
  const text =
    '{"a":[{"role":"user","content":"one","content":"two"}],"b":{"x":{"y":[{"k":1,"k":1}]}},"c":{"k":1}}'
  const body = JSON.parse(text) as Record<string, unknown>
  expect(amendedText({ ...body }, { body, text })).toBe(
    '{"a":[{"role":"user","content":"two"}],"b":{"x":{"y":[{"k":1}]}},"c":{"k":1}}',
  )
})
