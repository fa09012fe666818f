import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEventReader, createLineReader, LineTooLong, type ServerEvent } from './sse.ts'

function linesOf(chunks: readonly (string | Uint8Array)[]): string[] {
  const lines: string[] = []
  const reader = createLineReader((line) => lines.push(line))
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return lines
}

function eventsOf(chunks: readonly (string | Uint8Array)[]): ServerEvent[] {
  const events: ServerEvent[] = []
  const reader = createEventReader((event) => events.push(event))
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return events
}

/** The bytes of a text, cut at the given places. */
function cut(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const marks = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...marks].map((from, index) => bytes.subarray(from, marks[index] ?? bytes.length))
}

const piece = fc.constantFrom(
  'data: ',
  'data:',
  'event: x',
  ': ping',
  '\n',
  '\r',
  '\r\n',
  'é東😀',
  '{"a":1}',
  '\ufeff',
  ' ',
)
const stream = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(''))

describe('lines', () => {
  test.each([
    [
      ['a\r', '\nb\n'],
      ['a', 'b'],
    ],
    [['a\r\r\nb\n'], ['a', '', 'b']],
    [
      ['a\r', 'b\r'],
      ['a', 'b'],
    ],
    [
      ['\ufeffa\n', '\ufeffb\n'],
      ['a', '\ufeffb'],
    ],
    [['a\nb'], ['a', 'b']],
    [[''], []],
  ])('%j is %j', (chunks, lines) => {
    expect(linesOf(chunks)).toEqual(lines)
  })

  test('are the same wherever the bytes are cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 10 }), (text, places) => {
        expect(linesOf(cut(text, places))).toEqual(linesOf([text]))
      }),
      { numRuns: 2000 },
    )
  })

  test('agree with a split of the whole text', () => {
    fc.assert(
      fc.property(stream, (text) => {
        const whole = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
        if (whole.at(-1) === '') whole.pop()
        expect(linesOf([text])).toEqual(whole)
      }),
    )
  })

  test('have a bound', () => {
    const reader = createLineReader(() => {}, { limit: 10 })
    expect(() => {
      for (;;) reader.push('xxxx')
    }).toThrow(LineTooLong)
  })
})

describe('events', () => {
  test.each<[string, string, ServerEvent[]]>([
    ['join data lines', 'data: {"a":\ndata: 1}\n\n', [{ event: 'message', data: '{"a":\n1}' }]],
    ['have names', 'event: stop\ndata\n\n', [{ event: 'stop', data: '' }]],
    ['without data are not dispatched', 'event: a\n\nevent: b\ndata: 1\n\n', [{ event: 'b', data: '1' }]],
    [
      'need no space after the colon',
      'data:x\n\ndata:  y\n\n',
      [
        { event: 'message', data: 'x' },
        { event: 'message', data: ' y' },
      ],
    ],
    ['are not ended by comments', ': hi\n\n:\ndata: x\n:\n\n', [{ event: 'message', data: 'x' }]],
    ['may lack their last blank line', 'data: [DONE]', [{ event: 'message', data: '[DONE]' }]],
  ])('%s', (_name, raw, events) => {
    expect(eventsOf([raw])).toEqual(events)
  })

  test('are the same wherever the bytes are cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 10 }), (text, places) => {
        expect(eventsOf(cut(text, places))).toEqual(eventsOf([text]))
      }),
      { numRuns: 2000 },
    )
  })
})
