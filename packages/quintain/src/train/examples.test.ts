import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTableLearner } from './__fixtures__/table-engine.ts'
import { tokenRow } from './__fixtures__/token-row.ts'
import { lossOf } from './batch.ts'
import { chatRenderer } from './chat-renderer.ts'
import { demonstrationOf, readDemonstrations } from './demonstrations.ts'
import {
  examplesOf,
  examplesOfPreferences,
  examplesOfRows,
  imitationBatch,
  withReference,
} from './examples.ts'
import { preferenceOf, readPreferences } from './preferences.ts'
import { recipe } from './recipes.ts'

const renderer = chatRenderer({ vocabulary: ['a', 'b', 'c'] })
const context = 64
const user = (content: string) => ({ role: 'user', content })
const says = (content: string, more = {}) => ({ role: 'assistant', content, ...more })

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quintain-examples-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function file(name: string, ...lines: unknown[]): Promise<string> {
  const path = join(folder, name)
  await writeFile(
    path,
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  )
  return path
}

/** The text that the datums of an example train on. */
const learned = (examples: ReturnType<typeof examplesOf>['examples']) =>
  examples.map(({ data: [datum] }) =>
    renderer.text(
      datum!.target.filter(
        (id, t) => (datum!.weights ?? datum!.advantages)![t] !== 0 && !renderer.stop.includes(id),
      ),
    ),
  )

describe('demonstrations', () => {
  test('are lines of chat; learned is what the assistant said, unless it has no weight', async () => {
    const path = await file(
      'games.jsonl',
      { messages: [user('ab'), says('ba'), user('c'), says('cc')], reward: 1 },
      '',
      { messages: [user('ab'), says('ba', { weight: 0 }), user('c'), says('c')] },
    )
    const { examples, left } = examplesOf(await readDemonstrations(path), renderer, { context })
    expect(learned(examples)).toEqual(['bacc', 'c'])
    expect(left).toEqual({})
    // The end of each reply is learned too.
    expect(examples.map(({ tokens }) => tokens)).toEqual([6, 2])
  })

  test('are the lines that rows are written as', () => {
    const sft = demonstrationOf(
      { lineage: { attempt: 'one', reward: 0.5, success: true }, messages: [user('a'), says('b')] },
      'x',
    )
    expect(sft).toMatchObject({ from: 'one', reward: 0.5, success: true, trained: [false, true] })
    const call = { id: 'c', name: 'find', arguments: '{}' }
    const own = {
      schema: 'quintain.row',
      messages: [user('a'), says('b', { toolCalls: [call] })],
      trained: [false, true],
      reward: 1,
    }
    expect(demonstrationOf(own, 'x').messages[1]).toMatchObject({ toolCalls: [call] })
    const openai = [
      user('a'),
      says('', { content: null, tool_calls: [{ id: 'c', function: { name: 'find', arguments: '{}' } }] }),
    ]
    const tools = [{ type: 'function', function: { name: 'find' } }]
    expect(demonstrationOf({ messages: openai, tools }, 'x')).toMatchObject({
      messages: [{}, { content: '', toolCalls: [call] }],
      tools: [{ name: 'find' }],
    })
  })

  test('may be those that are worth it alone, and it is said how many are not', () => {
    const lines = [{ reward: 1, success: true }, { reward: 0.2, success: false }, {}].map((more, at) =>
      demonstrationOf({ messages: [user('a'), says('abc'[at]!)], ...more }, `line ${at}`),
    )
    const winners = examplesOf(lines, renderer, { context, success: true })
    expect([learned(winners.examples), winners.left]).toEqual([['a'], { failed: 1, no_reward: 1 }])
    const better = examplesOf(lines, renderer, { context, minReward: 0.5 })
    expect([learned(better.examples), better.left]).toEqual([['a'], { below: 1, no_reward: 1 }])
    expect(examplesOf(lines, renderer, { context: 3 })).toMatchObject({ left: { too_long: 3 }, longest: 4 })
    expect(examplesOf(lines, renderer, { context: 4 }).examples).toHaveLength(3)
  })

  test('of which one says nothing teach no silence, and are counted', () => {
    const silent = demonstrationOf({ messages: [user('a'), says(''), user('b'), says('c')] }, 'x')
    expect(examplesOf([silent], renderer, { context })).toMatchObject({ examples: [], left: { empty: 1 } })
    const unlearned = { messages: [user('a'), says('', { weight: 0 }), user('b'), says('c')] }
    expect(examplesOf([demonstrationOf(unlearned, 'x')], renderer, { context }).examples).toHaveLength(1)
  })

  test('know their task, where a line says it', () => {
    const messages = [user('a'), says('b')]
    const lines = [{ messages }, { messages, task: 'one' }, { messages, lineage: { task: 'two' } }]
    const { examples } = examplesOf(
      lines.map((line) => demonstrationOf(line, 'x')),
      renderer,
      { context },
    )
    expect(examples.map(({ task }) => task)).toEqual([null, 'one', 'two'])
  })

  test('that are none are refused by their line', async () => {
    const good = { messages: [user('a'), says('b')] }
    const refusal = async (...lines: unknown[]) =>
      readDemonstrations(await file('bad.jsonl', ...lines)).catch(
        ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
      )
    expect(await refusal(good, '{"messages":')).toMatch(/^import_invalid .*bad\.jsonl:2: .*not JSON/)
    expect(await refusal(good, '[1]')).toMatch(/bad\.jsonl:2: this line is no object/)
    expect(await refusal({ messages: [user('a')] })).toMatch(/:1: no message of the assistant/)
    expect(await refusal({ messages: 'a' })).toMatch(/:1: it has no list of messages/)
    expect(await refusal({ ...good, trained: [true, true] })).toMatch(/message 1 is of the user/)
    expect(await refusal({ ...good, trained: [true] })).toMatch(/"trained" is of 1 messages, and there are 2/)
    expect(await refusal()).toMatch(/there is no conversation in it/)
    expect(await refusal(good, { ...good, reward: '1' })).toMatch(
      /:2: its reward is "1", and must be a number/,
    )
    expect(await refusal({ ...good, success: 'yes' })).toMatch(
      /its success is "yes", and must be true or false/,
    )
    const huge = JSON.stringify({ ...good, reward: 7 }).replace('7', '1e999')
    expect(await refusal(huge)).toMatch(/its reward is Infinity/)
    const twice = JSON.stringify({ ...good, reward: 7 }).replace('"reward"', '"reward":1,"reward"')
    expect(await refusal(good, twice)).toMatch(/:2: .*one key twice/)
    await expect(readDemonstrations(join(folder, 'none.jsonl'))).rejects.toMatchObject({
      code: 'import_invalid',
    })
    const strange = [demonstrationOf({ messages: [user('a'), says('z')] }, 'games.jsonl:7')]
    expect(() => examplesOf(strange, renderer, { context })).toThrow(
      expect.objectContaining({ code: 'prompt_invalid', message: expect.stringContaining('games.jsonl:7') }),
    )
  })
})

test('what a policy sampled is learned token by token', () => {
  const rows = [
    tokenRow([{ put: [1, 5], sampled: [6, 4] }]),
    tokenRow([{ put: [1], sampled: Array(80).fill(5) }]),
  ]
  const { examples, left } = examplesOfRows(rows, { context })
  expect(examples.map(({ data: [datum] }) => [[...datum!.target], [...datum!.weights!]])).toEqual([
    [
      [5, 6, 4],
      [0, 1, 1],
    ],
  ])
  expect(left).toEqual({ too_long: 1 })
})

describe('a batch to imitate', () => {
  const { examples } = examplesOf(
    ['a', 'abcabc'].map((text, at) => demonstrationOf({ messages: [user('a'), says(text)] }, `${at}`)),
    renderer,
    { context },
  )
  const sums = (normalise: 'token' | 'sequence') =>
    imitationBatch(examples, recipe('sft', { normalise })).map(({ weights }) =>
      Number(weights!.reduce((sum, one) => sum + one, 0).toFixed(6)),
    )
  test('is divided by its tokens, or by those of each conversation', () => {
    expect(sums('token')).toEqual([0.222222, 0.777778])
    expect(sums('sequence')).toEqual([0.5, 0.5])
    expect(() => imitationBatch([], recipe('sft'))).toThrow(
      expect.objectContaining({ code: 'datum_invalid' }),
    )
  })
})

describe('preferences', () => {
  const line = {
    prompt: [user('a'), says('c')],
    chosen: [user('b'), says('a')],
    rejected: [user('b'), says('b')],
  }

  test('make the better answer likelier than the reference has it, and the worse less', async () => {
    const path = await file('pairs.jsonl', line, { ...line, rejected: line.chosen })
    const { examples, left } = examplesOfPreferences(await readPreferences(path), renderer, { context })
    expect(left).toEqual({ same: 1 })
    expect(examples[0]!.data.map(({ advantages }) => [...advantages!].filter((one) => one !== 0))).toEqual([
      [1, 1],
      [-1, -1],
    ])
    const learner = createTableLearner({ vocabulary: renderer.vocabulary, order: 1 })
    const algorithm = recipe('dpo')
    const referred = await withReference(examples, await learner.sampler())
    const losses: number[] = []
    for (let at = 0; at < 20; at++) {
      const data = imitationBatch(referred, algorithm)
      losses.push(
        (await learner.forwardBackward(data, lossOf(algorithm), { run: 'r', seq: 2 * at + 1 })).loss,
      )
      await learner.optimStep({ learningRate: 0.3 }, { run: 'r', seq: 2 * at + 2 })
    }
    expect(losses[0]).toBeCloseTo(Math.log(2), 6)
    expect(losses.every((loss, at) => at === 0 || loss < losses[at - 1]!)).toBe(true)
  })

  test('of stored runs are called by their attempts', () => {
    const lineage = { chosen: { attempt: 'one' }, rejected: { attempt: 'two' } }
    expect(preferenceOf({ ...line, lineage }, 'x').from).toBe('one over two')
  })

  test('that are none are refused', () => {
    expect(() => preferenceOf({ ...line, rejected: 'b' }, 'pairs:3')).toThrow(
      'pairs:3: "rejected" is no list of messages',
    )
    expect(() => preferenceOf({ ...line, chosen: [user('b')] }, 'pairs:3')).toThrow(
      'pairs:3, chosen: no message of the assistant',
    )
  })
})
