import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordedValues } from './recorded-values.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-values-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function read(name: string, text: string | Uint8Array) {
  const path = join(root, name)
  await writeFile(path, text)
  const found: string[] = []
  for await (const one of recordedValues(path)) {
    found.push(`${one.place} ${'value' in one ? JSON.stringify(one.value) : `! ${one.problem}`}`)
  }
  return found
}

const lines = '{"a":1}\n{"a":2}\n'

test.each([
  ['lines', 'x.jsonl', lines],
  ['lines under another name', 'x.json', lines],
  ['a byte-order mark', 'x.jsonl', `\ufeff${lines}`],
  ['CRLF', 'x.jsonl', lines.replaceAll('\n', '\r\n')],
  ['NUL behind the last line', 'x.jsonl', `${lines}\0\0\0`],
])('%s', async (_, name, text) => {
  expect(await read(name, text)).toEqual(['line 1 {"a":1}', 'line 2 {"a":2}'])
})

test.each([
  ['an array on one line', '[{"a":1},{"a":2}]'],
  ['an array over many lines, with a mark', `\ufeff${JSON.stringify([{ a: 1 }, { a: 2 }], null, 2)}\n`],
])('%s', async (_, text) => {
  expect(await read('x.json', text)).toEqual(['conversation 1 {"a":1}', 'conversation 2 {"a":2}'])
})

test('lists of messages, one a line, are lines and not one array', async () => {
  expect(await read('x.txt', '[{"r":1}]\n[{"r":2}]\n')).toEqual(['line 1 [{"r":1}]', 'line 2 [{"r":2}]'])
})

test('one object over many lines is one value', async () => {
  expect(await read('x.json', JSON.stringify({ a: { b: [1] } }, null, 2))).toEqual([
    'conversation 1 {"a":{"b":[1]}}',
  ])
})

test.each([
  ['x.jsonl', (values: string[]) => values.join('\n'), 'line'],
  ['x.json', (values: string[]) => `[${values.join(',\n')}]`, 'conversation'],
])(
  'a value too deep to be written again is told in its place, and the rest is read: %s',
  async (name, file, place) => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(await read(name, file(['{"a":1}', deep, '{"a":3}']))).toEqual([
      `${place} 1 {"a":1}`,
      `${place} 2 ! it nests more than 500 levels deep`,
      `${place} 3 {"a":3}`,
    ])
  },
)

test('what cannot be read is told in its place, and the rest is read', async () => {
  expect(await read('x.jsonl', '{"a":1}\n{"a":\n{"a":3}\n{"a":')).toEqual([
    'line 1 {"a":1}',
    expect.stringMatching(/^line 2 ! the line is not JSON/),
    'line 3 {"a":3}',
    'line 4 ! the last line was cut off before its end',
  ])
  expect(await read('broken-first.txt', '{"a":\n{"a":2}\n')).toEqual([
    expect.stringMatching(/^line 1 !/),
    'line 2 {"a":2}',
  ])
  expect(await read('x.json', '[{"reward": NaN}, {"a":2}, {"a":')).toEqual([
    expect.stringMatching(/^conversation 1 ! .*NaN, which JSON has no word for/),
    'conversation 2 {"a":2}',
    expect.stringMatching(/^the end ! the file was cut off/),
  ])
})

test('a line of 10 MB', async () => {
  const text = 'x'.repeat(10 * 1024 * 1024)
  const [line] = await read('x.jsonl', `${JSON.stringify({ text })}\n`)
  expect(line?.length).toBeGreaterThan(text.length)
})

test.each([
  ['', /is empty/],
  ['\ufeff \n\0', /is empty/],
])('a file with nothing in it: %j', async (text, message) => {
  await expect(read('empty.jsonl', text)).rejects.toMatchObject({
    code: 'import_invalid',
    message: expect.stringMatching(message),
  })
})

test('a file that is none', async () => {
  await expect(read('utf16.json', Buffer.from('\ufeff[]', 'utf16le'))).rejects.toMatchObject({
    message: expect.stringContaining('UTF-16'),
  })
  await expect(recordedValues(join(root, 'none.json')).next()).rejects.toMatchObject({
    code: 'import_invalid',
    message: expect.stringContaining('no such file'),
  })
  await expect(recordedValues(root).next()).rejects.toMatchObject({
    message: expect.stringContaining('no file'),
  })
})
