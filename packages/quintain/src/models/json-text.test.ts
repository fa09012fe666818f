import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractJson, type JsonMode } from '../core/json-text.ts'
import { extractToolCalls } from './tool-calls-in-text.ts'

describe('extractJson', () => {
  test.each<[string, string, unknown]>([
    ['the whole text', ' [1, 2] ', [1, 2]],
    ['a fence', 'Here:\n```json\n{"pass": true}\n```\nCheers', { pass: true }],
    ['an object after a fence of something else', '```bash\nls {"a": 1}\n```\n{"ok": true}', { ok: true }],
    [
      'an object before a fence of something else',
      '{"ok": true}\n```python\nx = {"a": 1}\n```',
      { ok: true },
    ],
    ['a list in a fence', 'So:\n```json\n["a", "b"]\n```', ['a', 'b']],
    ['the last object', 'It said {"score": 0}. Mine: {"score": 0.9}', { score: 0.9 }],
    [
      'an object before one in quotation marks',
      '{"score": 0.9} since it wrote "{"score": 0}" itself',
      { score: 0.9 },
    ],
    [
      'an object before one in curly quotation marks',
      '{"score": 0.9} not \u201c{"score": 0}\u201d',
      { score: 0.9 },
    ],
    ['an object before a block quote', '{"score": 0.9}\n> {"score": 0}', { score: 0.9 }],
    ['an object after an odd quotation mark', 'an odd " quote {"a": "x"}', { a: 'x' }],
    ['an object beside braces of prose', 'the set {x} gives {"a": {"b": 1}} {', { a: { b: 1 } }],
    ['an object with a mark before it', '\ufeff{"a": 1}', { a: 1 }],
  ])('takes %s', (_name, text, value) => {
    expect(extractJson(text)).toEqual({ value, repaired: false })
  })

  test.each<[string, string, JsonMode, object]>([
    ['nothing', '', 'loose', { error: 'invalid_json', truncated: false }],
    ['prose', 'I cannot say.', 'loose', { error: 'invalid_json', truncated: false }],
    [
      'an object that is cut',
      '{"score": 1, "why": "becau',
      'loose',
      { error: 'invalid_json', truncated: true },
    ],
    [
      'the inside of an object that is cut',
      'So {"parts": {"score": 1}, ',
      'loose',
      { error: 'invalid_json', truncated: true },
    ],
    ['a repeated key', '{"pass": false, "pass": true}', 'strict', { error: 'duplicate_key' }],
    ['a repeated key in prose', 'So: {"pass": false, "pass": true}', 'repair', { error: 'duplicate_key' }],
    ['a fence, strictly', '```json\n{}\n```', 'strict', { error: 'invalid_json' }],
    ['trailing commas, strictly', '[1,]', 'strict', { error: 'invalid_json' }],
    ['trailing commas, loosely', '{"a": 1,}', 'loose', { error: 'invalid_json' }],
    ['single quotes, even with repair', "{'a': 1}", 'repair', { error: 'invalid_json' }],
    ['only quoted objects', 'It wrote "{"score": 1}" there', 'loose', { error: 'invalid_json' }],
  ])('does not take %s', (_name, text, mode, expected) => {
    expect(extractJson(text, { mode })).toMatchObject(expected)
  })

  test('repairs commas and raw line breaks outside of nothing else, and says so', () => {
    expect(extractJson('{"note": "a, b,]", "n": [1,2,],}', { mode: 'repair' })).toEqual({
      value: { note: 'a, b,]', n: [1, 2] },
      repaired: true,
    })
    expect(extractJson('x {"md": "one\ntwo"}', { mode: 'repair' })).toEqual({
      value: { md: 'one\ntwo' },
      repaired: true,
    })
    expect(extractJson('{"a": 1}', { mode: 'repair' })).toEqual({ value: { a: 1 }, repaired: false })
  })

  test('with a key takes the last object that has it', () => {
    expect(extractJson('{"score": 1} and {"note": "x"}', { key: 'score' })).toMatchObject({
      value: { score: 1 },
    })
    expect(extractJson('{"note": 1}', { key: 'score' })).toMatchObject({ error: 'invalid_json' })
  })

  test('finds any object in prose, and never throws', () => {
    const junk = fc.array(
      fc.constantFrom('{', '}', '"', '[', ']', ':', ',', '\n', '```', '> ', 'a', '1', '\\', '{"a":'),
      {
        maxLength: 60,
      },
    )
    fc.assert(
      fc.property(junk, fc.constantFrom<JsonMode>('strict', 'loose', 'repair'), (parts, mode) => {
        extractJson(parts.join(''), { mode })
      }),
      { numRuns: 3000 },
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value)
        expect(extractJson(`The verdict:\n${text}\nThat is all.`)).toMatchObject({ value: JSON.parse(text) })
      }),
    )
  })

  // Quadratic work on these would take minutes.
  test.each([
    '{"a":'.repeat(60_000),
    '{'.repeat(20_000),
    '{"'.repeat(20_000),
    '```\n'.repeat(20_000),
    '"{"a": 1}" '.repeat(20_000),
    `${'{"a": 1} '.repeat(20_000)}{`,
  ])('gets through a text made to be slow (%.8s…)', (text) => {
    for (const mode of ['loose', 'repair'] as const) {
      const { error } = extractJson(text, { mode })
      expect(error).toBe(text.startsWith('{"a": 1}') ? undefined : 'invalid_json')
    }
  })
})

describe('extractToolCalls', () => {
  test('tags inside arguments are text, and a call that broke off does not hide the next', () => {
    const said = '<tool_call>{"name": "write", "arguments": {"text": "</tool_call><tool_call>"}}</tool_call>'
    expect(extractToolCalls(said)).toEqual({
      calls: [{ name: 'write', arguments: { text: '</tool_call><tool_call>' } }],
      malformed: 0,
    })
    const broken = '<tool_call>{"name": "a", "arguments": {"x": "y</tool_call>'
    const next = '<tool_call>{"name": "b", "arguments": {}}</tool_call>'
    expect(extractToolCalls(`${broken}\n${next}`)).toEqual({
      calls: [{ name: 'b', arguments: {} }],
      malformed: 1,
    })
  })

  test.each<[string, string, string[]]>([
    [
      'blocks',
      '<tool_call>{"name":"a","arguments":{}}</tool_call>\n<tool_call>{"name":"b","arguments":{"x":1}}</tool_call>',
      ['a', 'b'],
    ],
    ['objects side by side', '{"name":"a","arguments":{}}{"name":"b","parameters":{}}', ['a', 'b']],
    ['a list', '[{"name":"a","arguments":{}},{"name":"b","arguments":{}}]', ['a', 'b']],
    [
      'what comes after reasoning only',
      '<think><tool_call>{"name":"a","arguments":{}}</tool_call></think>hello',
      [],
    ],
    ['nothing of ordinary objects', 'the user {"name":"Ann"}', []],
  ])('takes %s', (_name, text, names) => {
    expect(extractToolCalls(text).calls.map(({ name }) => name)).toEqual(names)
  })

  test('counts what is no call', () => {
    expect(extractToolCalls('<tool_call>{"name": "a", "argu')).toEqual({ calls: [], malformed: 1 })
  })

  test('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void extractToolCalls(`<tool_call>${text}`)))
  })
})
