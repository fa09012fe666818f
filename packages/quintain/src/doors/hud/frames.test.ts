import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameReader } from './frame-reader.ts'
import { isBad, readFrame, rpc } from './frames.ts'

const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, ''))

test('lines come out as they went in, however they are cut', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(30), { maxLength: 30 }), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      const reader = new FrameReader(1_000)
      const got: string[] = []
      let at = 0
      for (const cut of [...cuts, bytes.length]) {
        reader.push(bytes.subarray(at, at + cut))
        at = Math.min(bytes.length, at + cut)
        for (let next = reader.next(); next !== undefined; next = reader.next()) got.push(next)
      }
      expect(got).toEqual(lines)
      expect(reader.unfinished).toBe(false)
    }),
  )
})

test('a line that is too long is told before its end has come, and when all of it comes at once', () => {
  for (const text of ['x'.repeat(11), `${'x'.repeat(11)}\n`]) {
    const reader = new FrameReader(10)
    reader.push(Buffer.from('ok\n'))
    reader.push(Buffer.from(text))
    expect(reader.next()).toBe('ok')
    expect(reader.next()).toBe('too-long')
  }
  const reader = new FrameReader(10)
  reader.push(Buffer.from(`${'x'.repeat(10)}\n`))
  expect(reader.next()).toBe('x'.repeat(10))
})

test('what follows a line can be taken as bytes', () => {
  const reader = new FrameReader(100)
  reader.push(Buffer.from([0x7b, 0x7d, 0x0a, 0xff, 0x0a, 0x00]))
  expect(reader.next()).toBe('{}')
  expect([...reader.rest()]).toEqual([0xff, 0x0a, 0x00])
  expect(reader.next()).toBeUndefined()
})

test('no text makes the reader of frames throw, and only objects with a method are frames', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((value) => JSON.stringify({ method: value, id: value, params: value })),
      ),
      (text) => {
        const frame = readFrame(text)
        if (isBad(frame)) expect([rpc.notJson, rpc.invalid, rpc.badParams]).toContain(frame.error.code)
        else expect([typeof frame.method, typeof frame.params]).toEqual(['string', 'object'])
      },
    ),
  )
})

test('ids of odd types are refused, those of usual ones are kept', () => {
  for (const id of [true, 1.5, {}, [], 2 ** 60, 'x'.repeat(300)])
    expect(readFrame(JSON.stringify({ id, method: 'hello' }))).toMatchObject({
      id: null,
      error: { code: rpc.invalid },
    })
  for (const id of [0, -1, '', 'a', 2 ** 40])
    expect(readFrame(JSON.stringify({ id, method: 'hello' }))).toMatchObject({ id })
  for (const frame of ['{"id":null,"method":"hello"}', '{"method":"hello"}'])
    expect(readFrame(frame)).toEqual({ id: undefined, method: 'hello', params: {} })
  expect(
    readFrame(`{"id":1,"method":"hello","params":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
  ).toMatchObject({
    error: { code: rpc.notJson },
  })
  expect(readFrame('{"id":7,"method":"hello","params":[]}')).toMatchObject({
    id: 7,
    error: { code: rpc.badParams },
  })
})
