import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AssistantMessage, Message } from '../core/index.ts'
import { type Asked, mark, plainTemplate, result, says, system, Talk, user } from './__fixtures__/talk.ts'
import { type RowsOptions, trainingRows } from './training-rows.ts'

const go = user('go')
const rowsOf = (talk: Talk, options: RowsOptions & { textOnly?: false } = {}) =>
  trainingRows(talk.trajectory, { tokens: talk.tokens, ...options })

/** A template that takes the reasoning out of the history. */
const withoutReasoning = (message: Message): number[] => {
  if (message.role !== 'assistant') return plainTemplate(message)
  const { reasoning: _, ...rest } = message
  return plainTemplate(rest)
}

test('a conversation that only grows is one row, in which only what was sampled is trained on', () => {
  const talk = new Talk()
  const a = talk.ask([go], 'ab')
  talk.ask([go, a, user('on')], 'c')
  const { rows, report } = rowsOf(talk, { verdict: { reward: 0.5 } })
  expect(rows).toHaveLength(1)
  const [row] = rows
  const { system: _, ...m } = mark
  const characters = (text: string) => Array.from(text, (one) => one.codePointAt(0)!)
  expect([...row!.ids]).toEqual([
    ...[m.user, ...characters('go'), m.end, m.assistant],
    ...[...characters('ab'), m.end],
    ...[m.user, ...characters('on'), m.end, m.assistant],
    ...[...characters('c'), m.end],
  ])
  expect(row!.spans).toEqual([
    { start: 0, end: 5, source: 'prompt' },
    { start: 5, end: 8, source: 'sampled', call: 0 },
    { start: 8, end: 13, source: 'environment' },
    { start: 13, end: 15, source: 'sampled', call: 1 },
  ])
  expect([...row!.mask].map((one, at) => [one, row!.logprobs[at]])).toEqual([
    ...Array(5).fill([0, 0]),
    ...talk.asked[0]!.logprobs.map((value) => [1, value]),
    ...Array(5).fill([0, 0]),
    ...talk.asked[1]!.logprobs.map((value) => [1, value]),
  ])
  expect(row).toMatchObject({
    attempt: 'attempt-1',
    order: 'task#0',
    task: 'task',
    seat: 'agent',
    row: 0,
    branch: 3,
    reward: 0.5,
    weight: 1,
    exactness: 'prefix-merged',
    truncated: false,
  })
  expect(report).toMatchObject({
    calls: { kept: 2 },
    rows: { 'prefix-merged': 1 },
    tokens: { prompt: 5, sampled: 5, environment: 5 },
    breaks: [],
    refused: [],
  })
})

describe('where a prompt does not begin with what came before, a new row begins, and the report says why', () => {
  const thinking = says('answer', { reasoning: 'because' })
  const two = (options: {
    template?: (message: Message) => number[]
    first?: AssistantMessage
    ask?: Asked
    again?: Asked
    history?: (first: AssistantMessage) => Message[]
  }) => {
    const talk = new Talk(options.template)
    const first = talk.ask([go], options.first ?? says('answer'), options.ask)
    talk.ask(options.history?.(first) ?? [go, first, user('on')], 'end', options.again)
    const { rows, report } = rowsOf(talk)
    expect(rows.map(({ exactness }) => exactness)).toEqual(['sampled', 'sampled'])
    expect(rows[1]!.spans[0]).toEqual({ start: 0, end: talk.asked[1]!.prompt.length, source: 'prompt' })
    expect(report.breaks).toHaveLength(1)
    const { call, after, of, at, cause } = report.breaks[0]!
    const [before, prompt] = [[...talk.asked[0]!.prompt, ...talk.asked[0]!.output], talk.asked[1]!.prompt]
    expect([call, after, of]).toEqual([1, 0, before.length])
    expect(prompt.slice(0, at)).toEqual(before.slice(0, at))
    expect(prompt[at]).not.toBe(before[at])
    return cause
  }

  test('reasoning that the template takes out', () => {
    expect(two({ template: withoutReasoning, first: thinking })).toBe('reasoning_removed')
  })

  test('reasoning that the generation prompt had opened', () => {
    const promptIds = [...plainTemplate(go), mark.assistant, mark.think, 10]
    const outputIds = plainTemplate(thinking).slice(2)
    const ask = { promptIds, outputIds }
    expect(two({ template: withoutReasoning, first: thinking, ask })).toBe('reasoning_removed')
  })

  test('text that comes back as other tokens', () => {
    expect(two({ ask: { outputIds: [1001, 1002, mark.end] } })).toBe('retokenised')
  })

  test('a history that was edited', () => {
    expect(two({ history: () => [go, says('shorter'), user('on')] })).toBe('history_edited')
    expect(two({ history: (first) => [system('It is noon.'), go, first, user('on')] })).toBe('history_edited')
  })

  test('another set of tools, which the template puts in front', () => {
    const withTools = [mark.system, 900, mark.end, ...plainTemplate(go), ...plainTemplate(says('answer'))]
    const again = { tools: [], promptIds: [...withTools, ...plainTemplate(user('on')), mark.assistant] }
    expect(two({ again })).toBe('tools_changed')
  })

  test('a prompt that the server cut at its left', () => {
    const first = says('a long answer, of which much is kept')
    const whole = [go, first, user('on')].flatMap(plainTemplate)
    for (const cut of [2, 20]) {
      const again = { promptIds: [...whole.slice(cut), mark.assistant] }
      expect(two({ first, again })).toBe('left_truncated')
    }
  })

  test('a prompt that was cut at its left, though it is no shorter, and though little or nothing is left of what came before', () => {
    const first = says('a long answer, of which much is kept')
    const long = user('a result that is far longer than all that was said before it, so that it alone fits')
    const whole = [go, first, long].flatMap(plainTemplate)
    const before = plainTemplate(go).length + plainTemplate(first).length
    for (const cut of [3, before, before + 10]) {
      const again = { promptIds: [...whole.slice(cut), mark.assistant] }
      expect(two({ first, again, history: (said) => [go, said, long] })).toBe('left_truncated')
    }
  })

  test('a prompt that was cut where its beginning looks the same', () => {
    const talk = new Talk()
    const turns = Array.from({ length: 6 }, () => [user('one'), says('x')]).flat()
    const first = talk.ask([...turns, user('one')], 'answer')
    const history = [...turns, user('one'), first, user('two')]
    talk.ask(history, 'end', { promptIds: [...history.slice(4).flatMap(plainTemplate), mark.assistant] })
    expect(rowsOf(talk).report.breaks).toMatchObject([{ call: 1, after: 0, cause: 'left_truncated' }])
  })

  test('a template that puts something before the first message', () => {
    const again = [mark.system, 900, 901, mark.end, ...plainTemplate(go)]
    const first = says('a long answer, of which all is kept')
    const promptIds = [...again, ...plainTemplate(first), ...plainTemplate(user('on')), mark.assistant]
    expect(two({ first, again: { promptIds } })).toBe('template_changed')
  })

  test('a template that says something else at the front', () => {
    let hour = 0
    const template = (message: Message) =>
      message.role === 'system'
        ? [mark.system, 20, 20, 20, 20, 800 + hour++, mark.end]
        : plainTemplate(message)
    const talk = new Talk(template)
    const first = talk.ask([system('x'), go], 'answer')
    talk.ask([system('x'), go, first, user('on')], 'end')
    expect(rowsOf(talk).report.breaks).toMatchObject([
      { call: 1, after: 0, at: 5, cause: 'template_changed' },
    ])
  })
})

test('what is kept of an output after another beginning is context: its log-probability was not of that', () => {
  const talk = new Talk(withoutReasoning)
  const first = talk.ask([go], says('answer', { reasoning: 'because' }))
  talk.ask([go, first, user('on')], 'end')
  const [, second] = rowsOf(talk).rows
  const kept = [...second!.ids].slice(0, talk.asked[1]!.prompt.length)
  expect(kept).toEqual(expect.arrayContaining([...plainTemplate(says('answer'))]))
  expect([...second!.mask].slice(0, kept.length)).toEqual(kept.map(() => 0))
  expect([...second!.logprobs].slice(0, kept.length)).toEqual(kept.map(() => 0))
})

test('a program that trims what it sends back goes on in the row where the tokens do', () => {
  const talk = new Talk()
  const first = talk.ask([go], says('\n\nanswer'))
  const promptIds = [...[go, first, user('on')].flatMap(plainTemplate), mark.assistant]
  talk.ask([go, says('answer'), user('on')], 'end', { promptIds })
  const { rows, report } = rowsOf(talk)
  expect(rows).toHaveLength(1)
  expect(report.breaks).toEqual([])
})

test('a sample that two calls go on from is trained on once', () => {
  const talk = new Talk()
  const a = talk.ask([go], 'a')
  talk.ask([go, a, user('left')], 'b')
  talk.ask([go, a, user('right')], 'c')
  const { rows, report } = rowsOf(talk)
  expect(rows.map(({ spans }) => spans.flatMap(({ call }) => call ?? []))).toEqual([[0, 1], [2]])
  expect(report.breaks).toMatchObject([{ call: 2, after: 1, cause: 'history_edited' }])
})

test('samples of one prompt are rows of their own, and no break', () => {
  const talk = new Talk()
  const a = talk.ask([go], 'a')
  for (const answer of ['b', 'c', 'd']) talk.ask([go, a, user('on')], answer)
  const { rows, report } = rowsOf(talk)
  expect(rows).toHaveLength(3)
  expect(report.breaks).toEqual([])
})

test('a second sample that comes when the first was gone on with is no break, nor is what goes on from it', () => {
  const talk = new Talk()
  const a = talk.ask([go], 'a')
  talk.ask([go, a, user('on')], 'b')
  const late = talk.ask([go], 'late')
  talk.ask([go, late, user('on')], 'c')
  const { rows, report } = rowsOf(talk, { classes: ['kept', 'branch', 'dead'] })
  expect(rows.map(({ spans }) => spans.flatMap(({ call }) => call ?? []))).toEqual([
    [0, 1],
    [2, 3],
  ])
  expect(report.breaks).toEqual([])
})

test('a history that begins anew with a summary of the one before is a break, a sub-agent is none', () => {
  const summary = 'All is well, and two of three are done.'
  const compacts = (goesOn: boolean) => {
    const talk = new Talk()
    const a = talk.ask([system('s'), go], 'a')
    const asks = [system('s'), go, a, user('Sum it up.')]
    const said = talk.ask(asks, summary)
    const anew = [system('s'), user(`So far: ${summary}`)]
    const b = talk.ask(anew, 'b')
    talk.ask([...anew, b, user('on')], 'c')
    if (goesOn) talk.ask([...asks, said, user('on')], 'd')
    return rowsOf(talk).report.breaks
  }
  expect(compacts(false)).toMatchObject([{ call: 2, after: 1, cause: 'history_edited' }])
  expect(compacts(true)).toEqual([])
})

test('side and dead calls are not trained on unless they are asked for', () => {
  const talk = new Talk()
  talk.ask([system('Write a title.'), go], 'A walk')
  talk.ask([go], 'lost')
  const a = talk.ask([go], 'a')
  talk.ask([go, a, user('on')], 'b')
  const { rows, report } = rowsOf(talk)
  expect(report.calls).toEqual({ kept: 2, branch: 0, side: 1, dead: 1, failed: 0 })
  expect(rows.map(({ spans }) => spans.flatMap(({ call }) => call ?? []))).toEqual([[2, 3]])
  expect(rowsOf(talk, { classes: ['kept', 'side', 'dead'] }).rows).toHaveLength(3)
})

describe('calls whose tokens are not known as they were sampled are refused', () => {
  test.each<[string, Asked]>([
    ['no_token_ids', { withoutIds: true }],
    ['no_logprobs', { logprobs: undefined }],
    ['no_logprobs', { logprobs: [] }],
    ['lengths_differ', { logprobs: [-1] }],
    ['logprob_not_finite', { logprobs: [-1, Number.NEGATIVE_INFINITY] }],
    ['nothing_sampled', { outputIds: [], logprobs: [] }],
  ])('%s', (reason, asked) => {
    const talk = new Talk()
    talk.ask([go], 'a', asked)
    const { rows, report } = rowsOf(talk)
    expect(rows).toEqual([])
    expect(report.refused).toEqual([{ call: 0, reason }])
  })

  test('no_prompt_ids, and refs that lead nowhere', () => {
    const talk = new Talk()
    talk.ask([go], 'a')
    const change = (tokens: object) => {
      const { trajectory } = talk
      const calls = trajectory.calls.map((call) => ({ ...call, tokens: { ...call.tokens, ...tokens } }))
      return trainingRows({ ...trajectory, calls } as typeof trajectory, { tokens: talk.tokens }).report
        .refused
    }
    expect(change({ prompt: undefined })).toEqual([{ call: 0, reason: 'no_prompt_ids' }])
    for (const range of [
      [0, 1e6],
      [-4, 1],
      [2, 1],
    ])
      expect(change({ output: range })).toEqual([{ call: 0, reason: 'tokens_damaged' }])
    expect(change({ prompt: { base: 7, keep: 3, ids: [0, 1] } })).toEqual([
      { call: 0, reason: 'tokens_damaged' },
    ])
    expect(trainingRows(talk.trajectory).report.refused).toEqual([{ call: 0, reason: 'tokens_damaged' }])
  })

  test('and are context for those that go on from them', () => {
    const talk = new Talk()
    const a = talk.ask([go], 'a')
    const b = talk.ask([go, a, user('on')], 'b', { logprobs: undefined })
    talk.ask([go, a, user('on'), b, user('end')], 'c')
    const { rows, report } = rowsOf(talk)
    expect(rows.map(({ spans }) => spans.flatMap(({ call }) => call ?? []))).toEqual([[0, 2]])
    expect(report).toMatchObject({ breaks: [], refused: [{ call: 1, reason: 'no_logprobs' }] })
  })
})

test('a chunk that lies anywhere in memory is read', () => {
  const talk = new Talk()
  talk.ask([go], 'a')
  const shifted = Buffer.alloc(talk.tokens!.length + 3).subarray(3)
  talk.tokens!.copy(shifted)
  expect(trainingRows(talk.trajectory, { tokens: shifted }).rows).toEqual(rowsOf(talk).rows)
})

test('versions of the weights that changed on the way are spans of their own', () => {
  const talk = new Talk()
  talk.ask([go], 'abcde', {
    policySpans: [
      { start: 2, end: 4, version: 'v2' },
      { start: 0, end: 2, version: 'v1' },
      { start: 4, end: 99, version: 'v3' },
    ],
  })
  expect(rowsOf(talk).rows[0]!.spans).toEqual([
    { start: 0, end: 5, source: 'prompt' },
    { start: 5, end: 7, source: 'sampled', call: 0, version: 'v1' },
    { start: 7, end: 9, source: 'sampled', call: 0, version: 'v2' },
    { start: 9, end: 11, source: 'sampled', call: 0, version: 'v3' },
  ])
})

describe('rows that are too long', () => {
  const talk = new Talk()
  const a = talk.ask([go], 'abc')
  talk.ask([go, a, user('on')], 'def', { finish: 'length' })

  test('are cut, with everything that belongs to their tokens', () => {
    for (let length = 6; length < 18; length++) {
      const { rows, report } = rowsOf(talk, { maxLength: length })
      const [row] = rows
      const lengths = [row!.ids.length, row!.mask.length, row!.logprobs.length, row!.spans.at(-1)!.end]
      expect(lengths).toEqual([length, length, length, length])
      expect(row).toMatchObject({ truncated: true, weight: 1 })
      expect(report).toMatchObject({ cut: 1, tokens: { sampled: row!.mask.filter(Boolean).length } })
    }
    expect(rowsOf(talk, { maxLength: 18 }).report.cut).toBe(0)
  })

  test('are refused where nothing sampled is left, or truncated ones are not wanted', () => {
    expect(rowsOf(talk, { maxLength: 5 })).toMatchObject({
      rows: [],
      report: { refused: [{ call: 1, reason: 'cut_away' }] },
    })
    expect(rowsOf(talk, { dropTruncated: true })).toMatchObject({
      rows: [],
      report: { refused: [{ call: 1, reason: 'truncated' }] },
    })
  })
})

describe('rows of text', () => {
  const chat = (talk: Talk, options: RowsOptions = {}) =>
    trainingRows(talk.trajectory, { ...options, textOnly: true })

  test('are branches, each message trained on in one of them', () => {
    const talk = new Talk()
    const a = talk.ask([go], 'a', { withoutIds: true })
    talk.ask([go, a, user('left')], 'b', { withoutIds: true })
    talk.ask([go, a, result('right')], 'c', { withoutIds: true })
    const { rows, report } = chat(talk, { verdict: { reward: 1 } })
    expect(rows.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ['go', 'a', 'left', 'b'],
      ['go', 'a', 'right', 'c'],
    ])
    expect(rows.map(({ trained }) => trained)).toEqual([
      [false, true, false, true],
      [false, false, false, true],
    ])
    expect(rows.map(({ weight }) => weight)).toEqual([2 / 3, 1 / 3])
    expect(rows[0]).toMatchObject({ exactness: 'text-only', reward: 1, truncated: false })
    expect(report).toMatchObject({ rows: { 'text-only': 2 }, refused: [] })
  })

  test('have the tools that the model was told of', () => {
    const tool = { name: 'f', description: 'F.', parameters: { type: 'object' } }
    const own = new Talk()
    own.ask([go], 'a', { tools: [tool] })
    expect(chat(own).rows[0]!.tools).toEqual([tool])
    const none = new Talk()
    none.ask([go], 'a', { tools: [] })
    expect('tools' in chat(none).rows[0]!).toBe(false)
    const seats = { agent: { policy: 'm', harness: 'h', tools: [tool] } }
    const plain = new Talk()
    plain.ask([go], 'a')
    const { rows } = trainingRows({ ...plain.trajectory, seats }, { textOnly: true })
    expect(rows[0]!.tools).toEqual([tool])
  })

  test('are left out where the last answer was cut, if that is not wanted', () => {
    const talk = new Talk()
    talk.ask([go], 'a', { finish: 'length' })
    expect(chat(talk).rows).toMatchObject([{ truncated: true }])
    expect(chat(talk, { dropTruncated: true })).toMatchObject({
      rows: [],
      report: { refused: [{ reason: 'truncated' }] },
    })
  })
})

test('another seat has its own rows, and its own reward', () => {
  const talk = new Talk()
  talk.ask([go], 'a')
  const { rows } = rowsOf(talk, { seat: 'user', verdict: { reward: 1, seats: { user: 0.25 } } })
  expect(rows).toEqual([])
  const calls = talk.trajectory.calls.map((call) => ({ ...call, seat: 'user' }))
  const other = trainingRows(
    { ...talk.trajectory, calls },
    { tokens: talk.tokens, seat: 'user', verdict: { reward: 1, seats: { user: 0.25 } } },
  )
  expect(other.rows).toMatchObject([{ seat: 'user', reward: 0.25 }])
})

describe('any program on any template', () => {
  const step = fc.record({
    history: fc.nat(),
    does: fc.constantFrom('extend', 'extend', 'extend', 'edit', 'compact', 'retry', 'start'),
    at: fc.nat(),
    word: fc.constantFrom('a', 'b'),
    reasoning: fc.boolean(),
    retokenised: fc.boolean(),
    flaw: fc.constantFrom('none', 'none', 'none', 'no logprobs', 'left', 'failed'),
  })
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

  function next(held: readonly Message[], { does, at, word }: Step): Message[] {
    if (does === 'start') return [user(word)]
    if (does === 'compact') return [...held.slice(0, 1), user(`summary of ${held.length}`)]
    if (does === 'edit')
      return held.map((one, nth) => (nth === at % held.length ? user(`edited ${word}`) : one))
    return does === 'retry' ? [...held] : [...held, user(word)]
  }

  function play(steps: readonly Step[], template: (message: Message) => number[]): Talk {
    const talk = new Talk(template)
    const histories: Message[][] = [[go]]
    for (const [nth, one] of steps.entries()) {
      const history = next(histories[one.history % histories.length]!, one)
      if (one.flaw === 'failed') {
        talk.fail(history)
        continue
      }
      const message = says(`said ${nth}`, one.reasoning ? { reasoning: 'so' } : {})
      talk.ask(history, message, {
        ...(one.retokenised ? { outputIds: [2000 + nth, mark.end] } : {}),
        ...(one.flaw === 'no logprobs' ? { logprobs: undefined } : {}),
        ...(one.flaw === 'left' ? { flags: ['client_left'] } : {}),
      })
      histories.push([...history, message])
    }
    return talk
  }

  test('each sampled token of a trainable call is trained on once, after exactly the tokens it was sampled after', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), fc.boolean(), (steps, removes) => {
        const talk = play(steps, removes ? withoutReasoning : plainTemplate)
        const { rows, report } = rowsOf(talk)
        const trained = new Map<number, { ids: number[]; logprobs: number[] }>()
        for (const { ids, mask, logprobs, spans } of rows) {
          expect([mask.length, logprobs.length, spans.at(-1)!.end]).toEqual(Array(3).fill(ids.length))
          expect(mask.some(Boolean)).toBe(true)
          let end = 0
          for (const span of spans) {
            expect(span.start).toBe(end)
            end = span.end
            const sampled = span.source === 'sampled'
            expect([...mask.subarray(span.start, end)].every((one) => one === Number(sampled))).toBe(true)
            if (!sampled) {
              expect(logprobs.subarray(span.start, end).every((one) => one === 0)).toBe(true)
              continue
            }
            expect([...ids.subarray(0, span.start)]).toEqual(talk.asked[span.call!]!.prompt)
            expect(trained.has(span.call!)).toBe(false)
            trained.set(span.call!, {
              ids: [...ids.subarray(span.start, end)],
              logprobs: [...logprobs.subarray(span.start, end)],
            })
          }
        }
        const refused = new Set(report.refused.map(({ call }) => call))
        expect(trained.size + refused.size).toBe(report.calls.kept + report.calls.branch)
        for (const [call, { ids, logprobs }] of trained) {
          expect(ids).toEqual(talk.asked[call]!.output)
          expect(logprobs).toEqual(talk.asked[call]!.logprobs)
        }
        const weights = rows.reduce((sum, { weight }) => sum + weight, 0)
        if (rows.length > 0) expect(weights).toBeCloseTo(1, 12)
        expect(Object.values(report.calls).reduce((sum, count) => sum + count, 0)).toBe(steps.length)
        for (const { call, after, at, of } of report.breaks) {
          expect(
            rows.some(({ spans }) => spans.find(({ source }) => source === 'sampled')?.call === call),
          ).toBe(true)
          const before = [...talk.asked[after]!.prompt, ...talk.asked[after]!.output]
          expect(of).toBe(before.length)
          expect(talk.asked[call]!.prompt.slice(0, at)).toEqual(before.slice(0, at))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('rows of text hold the same calls', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const talk = play(steps, plainTemplate)
        const { rows, report } = trainingRows(talk.trajectory, { textOnly: true })
        const trained = rows.reduce((sum, row) => sum + row.trained.filter(Boolean).length, 0)
        expect(trained).toBe(report.calls.kept + report.calls.branch)
        for (const { messages, trained: flags } of rows) {
          expect(flags).toHaveLength(messages.length)
          expect(flags.at(-1)).toBe(true)
          for (const [at, flag] of flags.entries()) if (flag) expect(messages[at]!.role).toBe('assistant')
        }
      }),
    )
  })
})
