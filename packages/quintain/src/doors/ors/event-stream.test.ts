import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEvents } from './__fixtures__/read-events.ts'
import { errorEvent, resultEvents, taskEvent } from './event-stream.ts'

/** What the reference clients make of the events: each piece without its leading white space, joined. */
function received(events: string): unknown {
  const read = readEvents(events)
  expect(read.at(-1)!.event).toBe('end')
  expect(read.slice(0, -1).every(({ event }) => event === 'chunk')).toBe(true)
  return JSON.parse(read.map(({ data }) => data).join(''))
}

describe('resultEvents', () => {
  test('a short result is one event', () => {
    expect(resultEvents('{"ok":true}')).toBe('event: end\ndata: {"ok":true}\n\n')
  })

  test('40,000 characters with white space at every boundary arrive unharmed', () => {
    for (const unit of [' ', '\t', '\n', '\r\n', '\u00a0', '\u2028', '\u3000', '\u0085', ' \ud83d\ude00'])
      expect(received(resultEvents(JSON.stringify(unit.repeat(40_000 / unit.length))))).toBe(
        unit.repeat(40_000 / unit.length),
      )
  })

  test('any text arrives as it was, in lines that clients can take', () => {
    const hostile = fc.string({
      unit: fc.oneof(
        fc.constantFrom(
          ' ',
          '\n',
          '\r',
          '\t',
          '\\',
          '"',
          '\u0085',
          '\u00a0',
          '\u2028',
          '\ud83d\ude00',
          '\ud83d',
          'é',
        ),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      ),
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 3000 }), fc.string(), (text, times, before) => {
        const value = { ok: true, text: before + text.repeat(times) }
        const events = resultEvents(JSON.stringify(value))
        expect(received(events)).toEqual(value)
        for (const line of events.split('\n')) expect(Buffer.byteLength(line)).toBeLessThan(65_536)
      }),
      { numRuns: 60 },
    )
  })

  test('no piece begins with white space or holds a line break', () => {
    for (const { raw } of readEvents(resultEvents(JSON.stringify(' \u2003\n'.repeat(20_000)))))
      expect(raw).toMatch(/^[!-\uffff]/)
  })

  test('no character is cut in two', () => {
    for (const shift of ['', 'a']) {
      const text = shift + '\ud83d\ude00'.repeat(20_000)
      for (const { data } of readEvents(resultEvents(JSON.stringify(text))))
        expect(data.isWellFormed()).toBe(true)
    }
  })
})

test('an error is one line with something in it', () => {
  expect(errorEvent('  it\nfailed\r\n here ')).toBe('event: error\ndata: it failed here\n\n')
  expect(readEvents(errorEvent(' \n'))[0]!.data).not.toBe('')
})

test('the name of a call is an event of its own', () => {
  expect(taskEvent('7')).toBe('event: task_id\ndata: 7\n\n')
})
