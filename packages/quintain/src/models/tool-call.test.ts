import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { QuintainError } from '../core/errors.ts'
import type { ToolCall } from '../core/message.ts'
import { type Tool, tool, toolError } from '../core/tool.ts'
import {
  countTruncation,
  normalizeToolCalls,
  parseToolArguments,
  runToolCalls,
  truncatedRepliesAllowed,
} from './tool-call.ts'

describe('parseToolArguments', () => {
  test.each([
    ['nothing', undefined, {}, []],
    ['an empty text', '', {}, []],
    ['blanks', ' \n', {}, []],
    ['null', null, {}, []],
    ['the text null', 'null', {}, []],
    ['an object', { a: 1 }, { a: 1 }, ['object_arguments']],
    ['JSON', '{"a":1}', { a: 1 }, []],
    ['JSON in JSON', '"{\\"city\\":\\"Oslo\\"}"', { city: 'Oslo' }, ['double_encoded']],
    ['JSON in JSON in JSON', JSON.stringify(JSON.stringify('{"a":1}')), { a: 1 }, ['double_encoded']],
    ['stray quotes', '{}""', {}, ['trailing_quotes']],
    ['a brace in a string', '{"cmd": "mkdir -p t/{one,two"}', { cmd: 'mkdir -p t/{one,two' }, []],
  ])('%s', (_name, raw, expected, flags) => {
    expect(parseToolArguments(raw)).toEqual({ arguments: expected, flags })
  })

  test.each([
    ['[1,2]', 'arguments_not_object'],
    ['7', 'arguments_not_object'],
    ['"hello"', 'arguments_not_object'],
    ['{"town": Lisbon, "nights": 2}', 'malformed'],
    ["{'a': 1}", 'malformed'],
    ['{"a": 1,}', 'malformed'],
    ['{"a": 1} and more', 'malformed'],
    ['{"a": "x\ny"}', 'malformed'],
    ['{"a": 01}', 'malformed'],
    ['{"path":"a.txt","text":"ha', 'truncated'],
    ['{"path":"a.txt","text":"one\nha', 'truncated'],
    ['{"a": tr', 'truncated'],
    ['{"a": 1', 'truncated'],
    ['{"a": -', 'truncated'],
    ['{"a": "\\u12', 'truncated'],
    ['{', 'truncated'],
    [`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, 'malformed'],
    ['"{\\"a\\": ', 'truncated'],
  ])('%.40s is %s', (raw, code) => {
    const parsed = parseToolArguments(raw)
    expect(parsed.error).toBe(code)
    expect(parsed.arguments).toBeUndefined()
  })

  test('never throws, and gives an object or a code', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.anything()), (raw) => {
        const parsed = parseToolArguments(raw)
        const isObject = typeof parsed.arguments === 'object' && !Array.isArray(parsed.arguments)
        expect(isObject).toBe(parsed.error === undefined)
      }),
      { numRuns: 2000 },
    )
  })

  test('every cut of valid arguments is truncated, and never run by luck', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, cut) => {
        const text = JSON.stringify(value)
        expect(parseToolArguments(text.slice(0, 1 + (cut % (text.length - 1)))).error).toBe('truncated')
      }),
    )
  })
})

describe('normalizeToolCalls', () => {
  test('reads both shapes and gives every call an id of its own', () => {
    const { calls, flags } = normalizeToolCalls([
      { id: 'c', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
      { id: 'c', function: { name: 'add', arguments: { a: 2 } } },
      { name: 'add' },
      { id: 7, name: 'add', arguments: '' },
      'junk',
    ])
    expect(calls).toEqual([
      { id: 'c', name: 'add', arguments: '{"a":1}' },
      { id: 'c_2', name: 'add', arguments: '{"a":2}' },
      { id: 'call_3', name: 'add', arguments: '' },
      { id: '7', name: 'add', arguments: '' },
    ])
    expect(flags.sort()).toEqual(['duplicate_call_id', 'missing_call_id', 'object_arguments'])
  })

  test('ids of earlier turns are taken', () => {
    const taken = new Set(['call_1'])
    expect(normalizeToolCalls([{ name: 'a' }], taken).calls[0]!.id).toBe('call_1_2')
    expect(normalizeToolCalls([{ name: 'a' }], taken).calls[0]!.id).toBe('call_1_3')
  })

  test('ids are unique whatever came', () => {
    const call = fc.record({ id: fc.option(fc.constantFrom('a', 'a_2', 'call_1', '', 3)), name: fc.string() })
    fc.assert(
      fc.property(fc.array(call), (raw) => {
        const { calls } = normalizeToolCalls(raw)
        expect(new Set(calls.map((entry) => entry.id)).size).toBe(raw.length)
      }),
    )
  })
})

const add = tool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number().default(0) }),
  run: ({ a, b }) => String(a + b),
})

function call(name: string, args: string, id = `id-${name}`): ToolCall {
  return { id, name, arguments: args }
}
const run = (tool: Tool, input: unknown) =>
  tool.run(input as never, { signal: AbortSignal.any([]), callId: '' })

describe('runToolCalls', () => {
  test('runs calls in order with what the schema made of the arguments', async () => {
    const step = await runToolCalls({
      calls: [call('add', '{"a":1}', '1'), call('add', '{"a":2,"b":3}', '2')],
      tools: [add],
      truncated: false,
      execute: run,
    })
    expect(step.messages.map((message) => [message.toolCallId, message.content, message.error])).toEqual([
      ['1', '1', undefined],
      ['2', '5', undefined],
    ])
    expect(step.executed).toBe(2)
  })

  test('what the model got wrong is told to the model, and counted', async () => {
    const step = await runToolCalls({
      calls: [call('ad', '{}'), call('add', '{"a": one}'), call('add', '[]'), call('add', '{"a":"x"}')],
      tools: [add],
      truncated: false,
      execute: () => {
        throw new Error('must not run')
      },
    })
    expect(step.errors).toEqual({
      unknown_tool: 1,
      malformed: 1,
      arguments_not_object: 1,
      arguments_invalid: 1,
    })
    expect(step.messages[0]!.content).toContain('did you mean "add"?')
    expect(step.messages[3]!.content).toContain('a: ')
    expect(step.executed).toBe(0)
  })

  test('a cut reply runs nothing, even calls that parse', async () => {
    const ran: string[] = []
    const execute = (tool: Tool) => {
      ran.push(tool.name)
      return 'ran'
    }
    const byFinish = await runToolCalls({
      calls: [call('add', '{"a":1}')],
      tools: [add],
      truncated: true,
      execute,
    })
    const byText = await runToolCalls({
      calls: [call('add', '{"a":1}', '1'), call('add', '{"a":', '2')],
      tools: [add],
      truncated: false,
      execute,
    })
    expect(ran).toEqual([])
    expect(byFinish.errors).toEqual({ truncated: 1 })
    expect(byText.errors).toEqual({ truncated: 2 })
    expect(byText.truncated).toBe(true)
  })

  test('a turn that ends the episode stops the calls after it', async () => {
    const step = await runToolCalls({
      calls: [call('add', '{"a":1}', '1'), call('add', '{"a":1}', '2')],
      tools: [add],
      truncated: false,
      execute: () => ({ content: 'bye', done: 'sold', reward: 1 }),
    })
    expect(step.done).toBe('sold')
    expect(step.executed).toBe(1)
    expect(step.results[0]!.turn).toEqual({ content: 'bye', done: 'sold', reward: 1 })
    expect(step.messages[1]!.error).toBe('episode_over')
  })

  test("a tool's own failure is counted under its code", async () => {
    const step = await runToolCalls({
      calls: [call('add', '{"a":1}')],
      tools: new Map([['add', add]]),
      truncated: false,
      execute: () => toolError('not_found', 'no such order'),
    })
    expect(step.errors).toEqual({ not_found: 1 })
    expect(step.messages[0]).toMatchObject({ content: 'no such order', error: 'not_found' })
    expect(step.executed).toBe(1)
  })

  test('a tool that throws is not the fault of the model', async () => {
    const execute = () => {
      throw new Error('database is gone')
    }
    const options = { calls: [call('add', '{"a":1}')], tools: [add], truncated: false }
    await expect(runToolCalls({ ...options, execute })).rejects.toThrow('database is gone')
    const nothing = () => undefined as never
    await expect(runToolCalls({ ...options, execute: nothing })).rejects.toThrow(QuintainError)
  })
})

test('three cut replies in a row are enough', () => {
  let inARow = 0
  const stops: boolean[] = []
  for (const cut of [true, true, false, true, true, true]) {
    const counted = countTruncation(inARow, cut)
    inARow = counted.inARow
    stops.push(counted.stop)
  }
  expect(stops).toEqual([false, false, false, false, false, true])
  expect(truncatedRepliesAllowed).toBe(3)
})
