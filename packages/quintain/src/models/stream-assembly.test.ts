import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ReplyDelta } from '../core/wire.ts'
import { createCallAssembly } from './call-assembly.ts'
import { createEventReader } from './sse.ts'
import { createStreamAssembly, type StreamEnd } from './stream-assembly.ts'

interface Delta {
  index?: unknown
  id?: unknown
  name?: unknown
  args?: unknown
}

function assembled(deltas: readonly Delta[]): unknown[] {
  const assembly = createCallAssembly()
  for (const { name, args, ...rest } of deltas)
    assembly.push({ ...rest, function: { name, arguments: args } })
  return assembly.calls().map((call) => {
    const { name, arguments: text } = call['function'] as { name: string; arguments: string }
    return [call['id'], name, text]
  })
}

describe('tool-call deltas', () => {
  test.each<[string, Delta[], unknown[]]>([
    [
      'interleaved by index',
      [
        { index: 0, id: 'a', name: 'x', args: '{"p' },
        { index: 1, id: 'b', name: 'y', args: '{' },
        { index: 0, args: '":1}' },
        { index: 1, args: '}' },
      ],
      [
        ['a', 'x', '{"p":1}'],
        ['b', 'y', '{}'],
      ],
    ],
    [
      'without an index',
      [{ id: 'a', name: 'x', args: '{' }, { args: '}' }, { id: 'b', name: 'x', args: '{}' }],
      [
        ['a', 'x', '{}'],
        ['b', 'x', '{}'],
      ],
    ],
    [
      'without index and id',
      [
        { name: 'x', args: '{"a":' },
        { name: 'x', args: '1}' },
        { name: 'x', args: '{}' },
      ],
      [
        ['', 'x', '{"a":1}'],
        ['', 'x', '{}'],
      ],
    ],
    [
      'that are whole calls, all of index 0',
      [
        { index: 0, id: 'a', name: 'x', args: '{}' },
        { index: 0, id: 'b', name: 'y', args: '{}' },
      ],
      [
        ['a', 'x', '{}'],
        ['b', 'y', '{}'],
      ],
    ],
    [
      'with a new id for each chunk',
      [
        { index: 0, id: 'a', name: 'x', args: '{' },
        { index: 0, id: 'b', args: '"k":' },
        { index: 0, id: 'c', args: '1}' },
      ],
      [['a', 'x', '{"k":1}']],
    ],
    [
      'that repeat name and id',
      [
        { index: 0, id: 'a', name: 'x', args: '{"k"' },
        { index: 0, id: 'a', name: 'x', args: ':1}' },
      ],
      [['a', 'x', '{"k":1}']],
    ],
    [
      'with a name in pieces',
      [
        { index: 0, id: 'a', name: 'get_' },
        { index: 0, name: 'weather' },
        { index: 0, args: '{}' },
      ],
      [['a', 'get_weather', '{}']],
    ],
    [
      'with an id that comes late',
      [
        { index: 0, name: 'x' },
        { index: 0, id: 'a', args: '{}' },
      ],
      [['a', 'x', '{}']],
    ],
    [
      'with numbers as text and text as numbers',
      [{ index: '1', id: 7, name: 'x', args: { a: 1 } }],
      [['7', 'x', '{"a":1}']],
    ],
    [
      'out of order',
      [
        { index: 1, id: 'b', name: 'y' },
        { index: 0, id: 'a', name: 'x' },
      ],
      [
        ['a', 'x', ''],
        ['b', 'y', ''],
      ],
    ],
    ['that say nothing', [{}, { index: 0 }], []],
  ])('%s', (_name, deltas, expected) => {
    expect(assembled(deltas)).toEqual(expected)
  })

  test('arguments are the same however they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1, maxLength: 4 }), fc.nat({ max: 5 }), (texts, size) => {
        const deltas = texts.flatMap((text, index): Delta[] => {
          const pieces: Delta[] = [{ index, id: `c${index}`, name: `tool${index}`, args: '' }]
          for (let at = 0; at < text.length; at += size + 1)
            pieces.push({ index, args: text.slice(at, at + size + 1) })
          return pieces
        })
        expect(assembled(deltas)).toEqual(texts.map((text, index) => [`c${index}`, `tool${index}`, text]))
      }),
    )
  })

  test('never throw', () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), (deltas) => {
        const assembly = createCallAssembly()
        for (const delta of deltas) assembly.push(delta)
        assembly.calls()
      }),
    )
  })
})

describe('a stream', () => {
  const chunk = (delta: object, finish: string | null = null): string =>
    JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })

  test('of any JSON never throws', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.json(), fc.string(), fc.constant('{"choices":[{"delta":null}]}'))),
        (events) => {
          const assembly = createStreamAssembly()
          for (const data of events) assembly.push(data)
          assembly.end()
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('with a finish and no [DONE] is complete; with [DONE] and no chunk it is not', () => {
    const finished = createStreamAssembly()
    finished.push(chunk({ content: 'a' }, 'stop'))
    expect(finished.end()).toMatchObject({
      state: 'complete',
      completion: { message: { content: 'a' }, finish: 'stop' },
    })
    const empty = createStreamAssembly()
    empty.push('[DONE]')
    expect(empty.end().state).toBe('incomplete')
  })

  test('counts the last usage, once, and only the first choice', () => {
    const assembly = createStreamAssembly()
    assembly.push(
      JSON.stringify({ choices: [{ index: 1, delta: { content: 'other' } }], usage: { prompt_tokens: 5 } }),
    )
    assembly.push(chunk({ content: 'mine' }, 'stop'))
    assembly.push(JSON.stringify({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } }))
    expect(assembly.end()).toMatchObject({
      completion: {
        message: { content: 'mine' },
        others: true,
        usage: { prompt_tokens: 5, completion_tokens: 2 },
      },
    })
  })

  test('joins lists of unknown fields, as reasoning details come', () => {
    const assembly = createStreamAssembly()
    assembly.push(chunk({ reasoning_details: [{ text: 'a' }] }))
    assembly.push(chunk({ reasoning_details: [{ text: 'b' }], content: 'x' }, 'stop'))
    expect(assembly.end()).toMatchObject({
      completion: { message: { reasoning_details: [{ text: 'a' }, { text: 'b' }] } },
    })
  })
})

describe('a stream of bytes', () => {
  const chunks = [
    { id: 'r', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { content: 'zwölf 🐎' }, token_ids: [1, 2], finish_reason: null }] },
    {
      choices: [
        { delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'add', arguments: '{"a"' } }] } },
      ],
    },
    { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
  ]
  const texts = [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n']
  const bytes = Buffer.from(texts.join(''))

  function read(pieces: readonly Uint8Array[]): { end: StreamEnd; deltas: ReplyDelta[] } {
    const deltas: ReplyDelta[] = []
    const reader = createStreamAssembly({ onDelta: (delta) => deltas.push(delta) })
    const events = createEventReader(({ data, event }) => reader.push(data, event))
    for (const piece of pieces) events.push(piece)
    events.end()
    return { end: reader.end(), deltas }
  }

  test('is the same reply, told in the same pieces, however it is cut into chunks', () => {
    const whole = read([bytes])
    expect(whole.end).toMatchObject({ state: 'complete', completion: { outputIds: [1, 2] } })
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (places) => {
        const cuts = [0, ...places.sort((a, b) => a - b), bytes.length]
        const pieces = cuts.slice(1).map((to, index) => bytes.subarray(cuts[index], to))
        expect(read(pieces)).toEqual(whole)
      }),
    )
  })

  test('that stops before its finish is never a whole reply', () => {
    const finish = Buffer.byteLength(texts.slice(0, 5).join(''))
    for (let length = 0; length <= bytes.length; length++) {
      const { state } = read([bytes.subarray(0, length)]).end
      // The blank line after the finish may be missing; what came of the rest is not needed.
      if (length < finish - 2) expect(state, `${length} bytes`).toBe('incomplete')
      else if (length === bytes.length) expect(state).toBe('complete')
    }
  })
})
