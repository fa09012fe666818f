import { isUtf8 } from 'node:buffer'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { QuintainError } from './errors.ts'
import {
  appendJsonl,
  type JsonlIssue,
  type JsonlOptions,
  jsonLine,
  parseJsonl,
  readJsonlFile,
  scanJsonlFile,
  truncateTornTail,
} from './jsonl.ts'

const folder = mkdtempSync(join(tmpdir(), 'quintain-jsonl-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function fileOf(content: string | Uint8Array): string {
  const path = join(folder, `${++files}.jsonl`)
  writeFileSync(path, content)
  return path
}

const values = (source: string | Uint8Array, options?: JsonlOptions) =>
  parseJsonl(source, options).records.map((record) => record.value)
const kinds = (issues: readonly JsonlIssue[]) => issues.map(({ kind, line }) => [kind, line])

/** Objects as journals hold them, with every character that has ever cut a line. */
const record = fc.dictionary(
  fc.constantFrom('id', 't', 'n', 'deep'),
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom('\u2028', '\u2029', '\u0085', '\ud800', '\udc00', '\0', '\n', '\r', '😀'),
    }),
    fc.integer(),
    fc.jsonValue({ maxDepth: 2 }),
  ),
)
/** As JSON keeps it: -0 becomes 0. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('what a line is', () => {
  test('only LF ends a line', () => {
    for (const inside of ['\u2028', '\u2029', '\u0085', '\v', '\f']) {
      const text = `${JSON.stringify({ t: `a${inside}b` })}\n{"id":2}\n`
      expect(values(text)).toEqual([{ t: `a${inside}b` }, { id: 2 }])
    }
  })

  test('a byte-order mark, CRLF and blank lines are no errors', () => {
    const read = parseJsonl('\ufeff{"id":1}\r\n\r\n  \n{"id":2}\r\n\ufeff{"id":3}\r\n\r\n')
    expect(read.records.map(({ value, line }) => [value, line])).toEqual([
      [{ id: 1 }, 0],
      [{ id: 2 }, 3],
      [{ id: 3 }, 4],
    ])
    expect(read.issues).toEqual([])
    expect(read.tail).toBeUndefined()
  })

  test('records say where their bytes lie', () => {
    const text = '{"id":"é"}\n\n{"id":2}'
    const bytes = Buffer.from(text)
    for (const { offset, bytes: length, value } of parseJsonl(text).records) {
      expect(JSON.parse(bytes.subarray(offset, offset + length).toString())).toEqual(value)
    }
    expect(parseJsonl(text).records.map(({ terminated }) => terminated)).toEqual([true, false])
  })

  test('what is no record is reported with its line, and the others are read', () => {
    const read = parseJsonl('{"id":1}\n{"id":\nnonsense\n{"id":2}\n')
    expect(read.records.map(({ value }) => value)).toEqual([{ id: 1 }, { id: 2 }])
    expect(kinds(read.issues)).toEqual([
      ['bad_line', 1],
      ['bad_line', 2],
    ])
    expect(read.tail).toBeUndefined()
  })

  test('bytes that are no UTF-8 are an error and never replacement characters', () => {
    const latin1 = Buffer.from('{"t":"caf\xe9"}\n{"t":"ok"}\n', 'latin1')
    const read = parseJsonl(latin1)
    expect(read.records.map(({ value }) => value)).toEqual([{ t: 'ok' }])
    expect(read.issues[0]?.message).toContain('UTF-8')
    expect(values('{"t":"an honest \ufffd"}\n')).toEqual([{ t: 'an honest \ufffd' }])
  })

  test('UTF-16 is named', () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"id":1}\n', 'utf16le')])
    expect(parseJsonl(utf16).issues[0]?.message).toContain('UTF-16')
  })
})

describe('how a file ends', () => {
  test('a torn last line is reported and skipped', () => {
    const read = parseJsonl('{"id":"a"}\n{"id":"b","r')
    expect(read.records.map(({ value }) => value)).toEqual([{ id: 'a' }])
    expect(read.tail).toBe('torn')
    expect(kinds(read.issues)).toEqual([['torn', 1]])
  })

  test('a last line torn inside a character is torn, not an encoding error', () => {
    const bytes = Buffer.from('{"id":"a"}\n{"id":"é')
    expect(parseJsonl(bytes.subarray(0, -1)).tail).toBe('torn')
  })

  test('a last record without its LF is whole', () => {
    expect(parseJsonl('{"id":1}\n{"id":2}')).toMatchObject({
      issues: [],
      records: [{}, { terminated: false }],
    })
  })

  test('NUL padding is reported and costs no record', () => {
    for (const padding of ['\0\0\0\0', '\0\0\n', '\0'.repeat(5000)]) {
      const read = parseJsonl(`{"id":1}\n${padding}`)
      expect(read.records).toHaveLength(1)
      expect(read.tail).toBe('nul_padding')
    }
    expect(parseJsonl('{"id":1}\0\0\0')).toMatchObject({
      records: [{ value: { id: 1 } }],
      tail: 'nul_padding',
    })
  })

  test('a record written behind NUL padding is not lost with it', () => {
    const read = parseJsonl('{"id":1}\n\0\0\0{"id":2}\n{"id":3}\n')
    expect(read.records.map(({ value }) => value)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect(kinds(read.issues)).toEqual([['nul_padding', 1]])
    expect(read.tail).toBeUndefined()
  })

  test('a NUL inside a record makes it a bad line', () => {
    const read = parseJsonl('{"id":"a\0b"}\n{"id":2}\n')
    expect(read.records).toHaveLength(1)
    expect(kinds(read.issues)).toEqual([['bad_line', 0]])
    expect(read.issues[0]?.message).toContain('NUL')
  })

  test('nothing is nothing', () => {
    for (const text of ['', '\n', '\ufeff', '\r\n\r\n'])
      expect(parseJsonl(text)).toEqual({ records: [], issues: [] })
  })
})

describe('writing', () => {
  test('a line is one line for every reader, and valid UTF-8', () => {
    const line = jsonLine({ t: 'a\u2028b\u2029c\u0085d\ud800e' })
    expect(line).toBe('{"t":"a\\u2028b\\u2029c\\u0085d\\ud800e"}\n')
  })

  test('what JSON cannot hold is refused with a code', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    for (const value of [undefined, () => 1, 1n, { big: 1n }, cycle]) {
      expect(() => jsonLine(value)).toThrow(expect.objectContaining({ code: 'not_json' }))
      expect(() => jsonLine(value)).toThrow(QuintainError)
    }
  })

  test('any record is read back as it was', () => {
    fc.assert(
      fc.property(fc.array(record), (written) => {
        const text = written.map(jsonLine).join('')
        const bytes = Buffer.from(text)
        expect(isUtf8(bytes)).toBe(true)
        expect(bytes.toString('utf8')).toBe(text)
        expect(text.split(/[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/)).toHaveLength(written.length + 1)
        expect(values(bytes)).toEqual(written.map(plain))
      }),
    )
  })
})

describe('files', () => {
  test('however the bytes are cut into chunks, the records are the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        async (written, chunkBytes) => {
          const text = `\ufeff${written.map(jsonLine).join('\r\n')}{"torn":"é`
          const whole = parseJsonl(text)
          const issues: JsonlIssue[] = []
          const read = []
          for await (const { raw, ...rest } of readJsonlFile(fileOf(text), {
            chunkBytes,
            onIssue: (issue) => issues.push(issue),
          })) {
            read.push({ ...rest, text: raw.toString() })
          }
          expect(read).toEqual(whole.records.map(({ raw, ...rest }) => ({ ...rest, text: raw.toString() })))
          expect(issues).toEqual(whole.issues)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('reading can start at the offset of any record', async () => {
    const path = fileOf([1, 2, 3].map((id) => jsonLine({ id })).join(''))
    const second = parseJsonl(readFileSync(path)).records[1]!
    const rest = []
    for await (const { value, offset } of readJsonlFile(path, { from: second.offset }))
      rest.push([value, offset])
    expect(rest).toEqual([
      [{ id: 2 }, second.offset],
      [{ id: 3 }, second.offset + second.bytes + 1],
    ])
  })

  test('a line over the limit is reported and the rest is read', async () => {
    const path = fileOf(`{"id":1}\n{"t":"${'x'.repeat(5000)}"}\n{"id":2}\n`)
    const issues: JsonlIssue[] = []
    const read = []
    for await (const { value } of readJsonlFile(path, {
      chunkBytes: 64,
      maxLineBytes: 1000,
      onIssue: (issue) => issues.push(issue),
    })) {
      read.push(value)
    }
    expect(read).toEqual([{ id: 1 }, { id: 2 }])
    expect(issues).toMatchObject([{ kind: 'too_long', line: 1, offset: 9, bytes: 5008 }])
  })

  test('a line of 10 MB is a record', async () => {
    const path = fileOf(`{"id":1}\n${jsonLine({ t: 'é'.repeat(5_000_000) })}{"id":2}\n`)
    const lengths = []
    for await (const { bytes } of readJsonlFile(path)) lengths.push(bytes)
    expect(lengths).toEqual([8, 10_000_008, 8])
  })

  test('the list of a file holds no more of a line than was asked for', async () => {
    const text = `{"id":1}\n\n${jsonLine({ id: 2, t: 'x'.repeat(100_000) })}\0\0\n{"id":3}`
    const path = fileOf(text)
    const extents = []
    for await (const { head, ...extent } of scanJsonlFile(path, { headBytes: 9, chunkBytes: 1000 })) {
      extents.push({ ...extent, head: head.toString() })
    }
    const records = parseJsonl(text).records
    expect(extents).toEqual(
      records.map(({ line, offset, bytes, terminated, raw }) => ({
        line,
        offset,
        bytes,
        terminated,
        head: raw.subarray(0, 9).toString(),
      })),
    )
  })

  test('an abort ends the reading', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(readJsonlFile(fileOf('{}\n'), { signal }).next()).rejects.toThrow('enough')
  })
})

describe('appending after a crash', () => {
  test('cut at every byte: whole records stay, the torn one goes, the new one is read', async () => {
    const written = [{ id: 'a' }, { id: 'bé', t: '\u2028' }, { id: 'c', n: [1, 2] }]
    const whole = Buffer.from(written.map(jsonLine).join(''))
    for (let cut = 0; cut <= whole.length; cut++) {
      const before = parseJsonl(whole.subarray(0, cut)).records.map(({ value }) => value)
      const path = fileOf(whole.subarray(0, cut))
      const repaired = await appendJsonl(path, { id: 'new' })
      const after = parseJsonl(readFileSync(path))
      expect(after.issues).toEqual([])
      expect(after.records.map(({ value }) => value)).toEqual([...before, { id: 'new' }])
      expect(before).toEqual(written.slice(0, before.length))
      expect(repaired.size).toBe(readFileSync(path).length)
    }
  })

  test('padding of any length goes', async () => {
    for (const padding of [1, 4096, 300_000]) {
      const path = fileOf(`{"id":1}\n${'\0'.repeat(padding)}`)
      expect(await truncateTornTail(path)).toEqual({
        tail: 'nul_padding',
        removed: padding,
        terminated: false,
        size: 9,
      })
      expect(readFileSync(path, 'utf8')).toBe('{"id":1}\n')
    }
  })

  test('a whole record before the padding is kept', async () => {
    const path = fileOf('{"id":1}\0\0')
    await truncateTornTail(path)
    expect(readFileSync(path, 'utf8')).toBe('{"id":1}\n')
  })

  test('a torn line longer than the window of the search goes', async () => {
    const path = fileOf(`{"id":1}\n{"t":"${'x'.repeat(200_000)}`)
    expect(await truncateTornTail(path)).toMatchObject({ tail: 'torn', size: 9 })
  })

  test('a file that ends well is left as it is, and a missing one is left missing', async () => {
    const path = fileOf('{"id":1}\n')
    expect(await truncateTornTail(path)).toEqual({ tail: undefined, removed: 0, terminated: false, size: 9 })
    expect(await truncateTornTail(join(folder, 'none.jsonl'))).toMatchObject({ size: 0 })
    expect(() => readFileSync(join(folder, 'none.jsonl'))).toThrow()
  })
})
