import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isErrorObject, parseLine, readMessage } from './json-rpc.ts'

const rpc = { jsonrpc: '2.0' }

test.each<[unknown, object]>([
  [
    { ...rpc, id: 1, method: 'm' },
    { kind: 'request', id: 1, method: 'm' },
  ],
  [
    { ...rpc, id: '', method: 'm' },
    { kind: 'request', id: '' },
  ],
  [
    { ...rpc, method: 'm' },
    { kind: 'notification', method: 'm' },
  ],
  [{ ...rpc, id: null, method: 'm' }, { kind: 'malformed' }],
  [
    { ...rpc, id: 1, result: {} },
    { kind: 'result', id: 1 },
  ],
  [
    { ...rpc, id: 1, result: 5 },
    { kind: 'malformed', id: 1 },
  ],
  [
    { ...rpc, id: 1.5, result: {} },
    { kind: 'malformed', id: undefined },
  ],
  [
    { ...rpc, id: 1, result: {}, error: { code: 1, message: '' } },
    { kind: 'malformed', id: 1 },
  ],
  [
    { ...rpc, id: 1 },
    { kind: 'malformed', id: 1 },
  ],
  [
    { ...rpc, id: 1, error: { code: -1, message: 'no' } },
    { kind: 'error', id: 1 },
  ],
  [
    { ...rpc, id: null, error: { code: -32700, message: 'no' } },
    { kind: 'error', id: undefined },
  ],
  [
    { ...rpc, id: 1, error: 'no' },
    { kind: 'malformed', id: 1 },
  ],
  [{ id: 1, result: {} }, { kind: 'malformed' }],
])('%j', (value, read) => {
  expect(readMessage(value)).toMatchObject(read)
})

test('an error is an integer code and a message', () => {
  expect(isErrorObject({ code: -32000, message: '', data: 1 })).toBe(true)
  for (const error of [
    'boom',
    null,
    [],
    {},
    { code: 1.5, message: 'x' },
    { code: '1', message: 'x' },
    { code: 1 },
  ])
    expect(isErrorObject(error)).toBe(false)
})

test('any value and any line is read without an exception', () => {
  fc.assert(fc.property(fc.anything(), (value) => void readMessage(value)))
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => void parseLine(line)))
})

test('a line is messages, or none', () => {
  expect(parseLine('Loaded 19 tools')).toBeUndefined()
  expect(parseLine('{"level":"info"}')).toBeUndefined()
  expect(parseLine('[{"jsonrpc":"2.0","id":1,"result":{}},7]')).toEqual([{ ...rpc, id: 1, result: {} }])
})
