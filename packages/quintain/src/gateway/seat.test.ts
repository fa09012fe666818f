import { expect, test } from 'vitest'
import type { Model, Usage } from '../core/index.ts'
import { RecordRooms } from '../core/record-room.ts'
import { DialectError } from '../models/dialects/dialect.ts'
import { HeldModel, providerFault, says, seatOf } from './__fixtures__/held-model.ts'
import { refusalOf } from './refusal.ts'
import { SeatStop } from './seat-stop.ts'
import { ToldReply } from './told-reply.ts'

const outcomeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'answered',
    (thrown: unknown) => (thrown instanceof SeatStop ? (thrown.outcome ?? thrown.fault?.code) : thrown),
  )

test('a hundred parallel calls pass no turn limit: as many as there are turns are asked, the rest refused', async () => {
  const model = new HeldModel((call) => setTimeout(() => call.answer('yes'), 1))
  const { seat, recorder } = seatOf(model, { limits: { turns: 30 } })
  const ends = await Promise.all(
    Array.from({ length: 100 }, (_, index) => outcomeOf(seat.generate({ messages: says(`${index}`) }))),
  )
  expect(ends.filter((end) => end === 'answered')).toHaveLength(30)
  expect(ends.filter((end) => end === 'turn_limit')).toHaveLength(70)
  expect(model.calls).toHaveLength(30)
  expect(recorder.calls).toHaveLength(30)
})

test('a call that waits for the last turn gets it when the call that held it is given up', async () => {
  const model = new HeldModel()
  const { seat } = seatOf(model, { limits: { turns: 1 } })
  const gone = new AbortController()
  const first = outcomeOf(seat.generate({ messages: says('a') }, { signal: gone.signal }))
  const second = outcomeOf(seat.generate({ messages: says('b') }))
  await model.call(0)
  expect(model.calls).toHaveLength(1)
  gone.abort()
  ;(await model.call(1)).answer('yes')
  expect(await second).toBe('answered')
  expect(await first).not.toBe('answered')
  expect(await outcomeOf(seat.generate({ messages: says('c') }))).toBe('turn_limit')
})

test('calls that wait for a turn end with the attempt, and with their own signal', async () => {
  const model = new HeldModel()
  const { seat, over } = seatOf(model, { limits: { turns: 1 } })
  const gone = new AbortController()
  const held = outcomeOf(seat.generate({ messages: says('a') }))
  const given = seat.generate({ messages: says('b') }, { signal: gone.signal })
  const waiting = seat.generate({ messages: says('c') })
  gone.abort(new Error('gone'))
  await expect(given).rejects.toThrow('gone')
  over.abort(new Error('over'))
  await expect(waiting).rejects.toThrow('over')
  await held
})

test('parallel calls that name their most tokens never hold more than are left', async () => {
  const model = new HeldModel()
  const { seat } = seatOf(model, { limits: { tokens: 100 } })
  const ask = (maxTokens: number): Promise<unknown> =>
    outcomeOf(seat.generate({ messages: says('a'), sampling: { maxTokens } }))
  const ends = [ask(60), ask(60), ask(40)]
  await model.call(1)
  // 60 and 40 fit; the other waits until it is known what they took.
  expect(model.calls.map(({ request }) => request.sampling?.maxTokens)).toEqual([60, 40])
  const usage = (output: number) => ({ usage: { fresh: 1, cacheRead: 0, cacheWrite: 0, output } })
  model.calls[1]!.answer('x', usage(40))
  await Promise.resolve()
  expect(model.calls).toHaveLength(2)
  model.calls[0]!.answer('x', usage(10))
  const third = await model.call(2)
  expect(third.request.sampling?.maxTokens).toBe(50)
  third.answer('x', usage(50))
  expect(await Promise.all(ends)).toEqual(['answered', 'answered', 'answered'])
  expect(await ask(1)).toBe('token_limit')
})

test('calls that are under way when the rollout ends are recorded, and counted as far as they were told', async () => {
  const model = new HeldModel()
  const { seat, recorder, over } = seatOf(model)
  const told = outcomeOf(seat.generate({ messages: says('a') }, { onDelta: () => {} }))
  for (let piece = 0; piece < 5; piece++) (await model.call(0)).tell({ type: 'text', text: 'x' })
  const silent = outcomeOf(seat.generate({ messages: says('b') }, { onDelta: () => {} }))
  await model.call(1)
  seat.endCalls()
  over.abort(new Error('over'))
  expect(await Promise.all([told, silent])).not.toContain('answered')
  const expected = [
    [['client_left', 'usage_estimated'], 5],
    [['client_left'], undefined],
  ]
  expect(recorder.calls.map(({ flags, usage }) => [flags, usage?.output])).toEqual(expected)
  expect([seat.turns, seat.usage.output, seat.costUsd]).toEqual([1, 5, null])
  // One that the end reaches first is recorded as it fails.
  const other = seatOf(model)
  const cut = other.seat.generate({ messages: says('c') }, { onDelta: () => {} })
  ;(await model.call(2)).tell({ type: 'text', text: 'x' })
  other.over.abort(new Error('over'))
  await expect(cut).rejects.toThrow()
  expect(other.recorder.calls.map(({ flags }) => flags)).toEqual([['client_left', 'usage_estimated']])
})

test('a caller who left is no fault and no outcome, but what it read counts', async () => {
  const model = new HeldModel()
  const { seat, recorder } = seatOf(model, { limits: { tokens: 3 } })
  const leave = async (pieces: number): Promise<void> => {
    const gone = new AbortController()
    const index = model.calls.length
    const call = seat.generate({ messages: says('a') }, { signal: gone.signal, onDelta: () => {} })
    const held = await model.call(index)
    for (let piece = 0; piece < pieces; piece++) held.tell({ type: 'text', text: 'x' })
    gone.abort()
    await expect(call).rejects.toThrow()
  }
  await leave(0)
  expect(seat.turns).toBe(0)
  await leave(3)
  expect(seat.turns).toBe(1)
  expect(seat.flags).toEqual({ client_left: 2, usage_estimated: 1 })
  expect(seat.usage.output).toBe(3)
  expect(seat.costUsd).toBeNull()
  expect(seat.unrecovered).toBeUndefined()
  expect(seat.stopped).toBeUndefined()
  expect(
    recorder.calls.map(({ flags, fault, output, usage, costUsd }) => [
      flags,
      fault,
      output,
      usage?.output,
      costUsd,
    ]),
  ).toEqual([
    [['client_left'], undefined, -1, undefined, undefined],
    [['client_left', 'usage_estimated'], undefined, -1, 3, null],
  ])
  expect(await outcomeOf(seat.generate({ messages: says('b') }))).toBe('token_limit')
})

test('what was told of a reply that was left is priced, so that leaving passes no limit on money or tokens', async () => {
  const model: Model & HeldModel = Object.assign(new HeldModel(), {
    priced: true,
    costOf: ({ fresh, output }: Usage) => (fresh > 0 ? output / 1_000 : null),
  })
  const { seat } = seatOf(model, { limits: { costUsd: 0.1, tokens: 150 } })
  const gone = new AbortController()
  const call = seat.generate({ messages: says('a') }, { signal: gone.signal, onDelta: () => {} })
  const held = await model.call(0)
  // One piece of four hundred characters is a hundred tokens.
  held.tell({ type: 'text', text: 'word'.repeat(100) })
  gone.abort()
  await expect(call).rejects.toThrow()
  expect(seat.usage.output).toBe(100)
  expect(seat.costUsd).toBeCloseTo(0.1)
  expect(await outcomeOf(seat.generate({ messages: says('b') }))).toBe('cost_limit')
})

test('what was told of a reply is counted by ids of its tokens where there are some', () => {
  const told = new ToldReply()
  const event = (json: Record<string, unknown>): void => told.add({ type: 'event', data: '', json })
  event({ choices: [{ delta: { role: 'assistant', content: '' } }] })
  expect([told.pieces, told.tokens]).toEqual([1, 0])
  event({ choices: [{ delta: { content: 'x'.repeat(40) } }] })
  expect(told.tokens).toBe(10)
  event({ choices: [{ delta: { content: 'yz' }, token_ids: [1, 2] }] })
  expect(told.tokens).toBe(2)
  event({ type: 'message_delta', delta: {}, usage: { output_tokens: 70 } })
  expect(told.tokens).toBe(70)
})

test('parallel calls that do not say how many tokens they want follow each other, so that they pass no limit', async () => {
  const model = new HeldModel((call) => {
    const output = call.request.sampling?.maxTokens ?? 1_000
    const usage = { fresh: 1, cacheRead: 0, cacheWrite: 0, output: Math.min(output, 40) }
    setTimeout(() => call.answer('x', { usage, finish: output < 40 ? 'length' : 'stop' }), 1)
  })
  const { seat } = seatOf(model, { limits: { tokens: 100 } })
  const ask = () => outcomeOf(seat.generate({ messages: says('a') }))
  const ends = await Promise.all(Array.from({ length: 41 }, ask))
  expect(model.calls.map(({ request }) => request.sampling?.maxTokens)).toEqual([100, 60, 20])
  expect(ends.filter((end) => end === 'token_limit')).toHaveLength(38)
  expect(seat.settle({ outcome: 'completed' }).result.outcome).toBe('token_limit')
})

test('a limit on tokens that a reply went past is the outcome, though nothing was asked after it', async () => {
  const usage = (output: number) => ({ usage: { fresh: 1, cacheRead: 0, cacheWrite: 0, output } })
  const outcomes = [90, 100, 101].map(async (output) => {
    const { seat } = seatOf(new HeldModel((call) => call.answer('x', usage(output))), {
      limits: { tokens: 100 },
    })
    await seat.generate({ messages: says('a') })
    return seat.settle({ outcome: 'completed' }).result.outcome
  })
  expect(await Promise.all(outcomes)).toEqual(['completed', 'completed', 'token_limit'])
})

test('a reply that comes although its caller left at that moment is recorded and counted', async () => {
  const model = new HeldModel()
  const { seat, recorder } = seatOf(model)
  const gone = new AbortController()
  const call = seat.generate({ messages: says('a') }, { signal: gone.signal })
  ;(await model.call(0)).answer('late')
  gone.abort()
  await call
  expect(recorder.calls).toHaveLength(1)
  expect(seat.turns).toBe(1)
})

test('a history that did not fit may be compacted; without that it is how the agent ended', async () => {
  const model = new HeldModel((call) =>
    JSON.stringify(call.request.messages).length > 1_000
      ? call.fail(providerFault('context_length_exceeded', 'context_overflow'))
      : call.answer('short'),
  )
  const long = says('x'.repeat(2_000))
  const { seat } = seatOf(model)
  expect(await outcomeOf(seat.generate({ messages: long }))).toBe('context_overflow')
  expect(seat.settle({ outcome: 'completed' }).result.outcome).toBe('context_overflow')
  expect(seat.account().stopped?.outcome).toBe('context_overflow')
  expect(await outcomeOf(seat.generate({ messages: says('short') }))).toBe('answered')
  expect(seat.settle({ outcome: 'completed' }).result.outcome).toBe('completed')
  expect(seat.account().stopped).toBeUndefined()
})

test('what the upstream cannot express is told to the program, and is neither call nor fault', async () => {
  const refused = new DialectError('unsupported', 'no audio here', 'messages[0]')
  const model = new HeldModel()
  model.generate = () => Promise.reject(refused)
  const { seat, recorder } = seatOf(model, { limits: { turns: 1 } })
  await expect(seat.generate({ messages: says('a') })).rejects.toBe(refused)
  await expect(seat.generate({ messages: says('a') })).rejects.toBe(refused)
  expect(recorder.calls).toEqual([])
  expect(seat.unrecovered).toBeUndefined()
})

test('the clock stands still while all of several calls wait, and what they waited together is given back once', async () => {
  const told: string[] = []
  let credited = 0
  const clock = {
    pause: () => told.push('pause'),
    resume: () => told.push('resume'),
    credit: (ms: number) => {
      credited += ms
    },
  }
  const model = new HeldModel()
  const { seat } = seatOf(model, { clock })
  const began = performance.now()
  const calls = [seat.generate({ messages: says('a') }), seat.generate({ messages: says('b') })]
  const [first, second] = [await model.call(0), await model.call(1)]
  first.context.onWait?.(true, 'queue')
  expect(told).toEqual([])
  second.context.onWait?.(true, 'backoff')
  expect(told).toEqual(['pause'])
  first.context.onWait?.(false)
  expect(told).toEqual(['pause', 'resume'])
  second.context.onWait?.(false)
  expect(told).toEqual(['pause', 'resume'])
  await new Promise((resolve) => setTimeout(resolve, 20))
  for (const call of [first, second]) call.answer('x', { timing: { totalMs: 1e6, waitMs: 1e6 } })
  await Promise.all(calls)
  expect(credited).toBeGreaterThan(0)
  expect(credited).toBeLessThanOrEqual(performance.now() - began)
})

test('an agent that is seen to work while all its calls queue uses its own time', async () => {
  const told: string[] = []
  const clock = { pause: () => told.push('pause'), resume: () => told.push('resume'), credit: () => {} }
  const model = new HeldModel()
  const { seat } = seatOf(model, { clock })
  seat.worked()
  const call = seat.generate({ messages: says('a') })
  const held = await model.call(0)
  held.context.onWait?.(true, 'queue')
  seat.worked()
  expect(told).toEqual(['pause', 'resume'])
  held.context.onWait?.(false)
  held.answer('x')
  await call
  expect(told).toEqual(['pause', 'resume'])
})

test('a prompt that was asked costs though its reply was left unread; one that only queued does not', async () => {
  const model: Model & HeldModel = Object.assign(new HeldModel(), {
    priced: true,
    costOf: ({ fresh }: Usage) => fresh,
  })
  const { seat } = seatOf(model, { limits: { costUsd: 2 } })
  const leave = async (queues: boolean): Promise<void> => {
    const gone = new AbortController()
    const index = model.calls.length
    const call = seat.generate({ messages: says('a') }, { signal: gone.signal })
    const held = await model.call(index)
    if (queues) held.context.onWait?.(true, 'queue')
    gone.abort()
    await expect(call).rejects.toThrow()
  }
  await leave(true)
  expect([seat.costUsd, seat.turns]).toEqual([0, 0])
  await leave(false)
  expect(seat.costUsd).toBeGreaterThan(2)
  expect(await outcomeOf(seat.generate({ messages: says('b') }))).toBe('cost_limit')
})

test('versions of weights within a reply are recorded as they came', async () => {
  const spans = [
    { start: 0, end: 3, version: '7' },
    { start: 3, end: 5, version: '8' },
  ]
  const model = new HeldModel((call) => call.answer('x', { policySpans: spans, policyVersion: '7' }))
  const { seat, recorder } = seatOf(model)
  await seat.generate({ messages: says('a') })
  expect(recorder.calls[0]?.policySpans).toEqual(spans)
})

/** A model that says four hundred characters, and of their tokens what it is told to. */
const says400 = (usage: Usage | undefined): Model => ({
  id: 'openai-compatible:quiet',
  generate: async () => ({
    message: { role: 'assistant', content: 'word'.repeat(100) },
    finish: 'stop',
    costUsd: null,
    ...(usage === undefined ? {} : { usage }),
  }),
})

test('a token limit holds where a server tells no usage, or less than its text can have', async () => {
  for (const usage of [undefined, { fresh: 0, cacheRead: 0, cacheWrite: 0, output: 0 }]) {
    const model = says400(usage)
    const { seat, recorder } = seatOf(model, { limits: { tokens: 150 } })
    const ends: unknown[] = []
    for (let at = 0; at < 4; at++) ends.push(await outcomeOf(seat.generate({ messages: says(`${at}`) })))
    expect(ends).toEqual(['answered', 'answered', 'token_limit', 'token_limit'])
    expect(seat.usage.output).toBe(200)
    expect(seat.flags).toEqual({ usage_estimated: 2 })
    expect(recorder.calls.map(({ usage, flags }) => [usage?.output, flags])).toEqual([
      [100, ['usage_estimated']],
      [100, ['usage_estimated']],
    ])
  }
})

test('a count that can be is believed, and ids of tokens are counted before texts', async () => {
  const usage = (output: number) => ({ fresh: 1, cacheRead: 0, cacheWrite: 0, output })
  const said = [
    // A long run of spaces is a single token.
    { text: ' '.repeat(128), more: { usage: usage(1) }, output: 1 },
    { text: 'xy', more: { usage: usage(0), tokens: { outputIds: Int32Array.from([1, 2, 3]) } }, output: 3 },
  ]
  for (const { text, more, output } of said) {
    const { seat } = seatOf(new HeldModel((call) => call.answer(text, more)), { limits: { tokens: 1000 } })
    await seat.generate({ messages: says('a') })
    expect(seat.usage.output).toBe(output)
  }
})

test('a limit on money holds by an estimate where the price is known, and says what is missing where it cannot', async () => {
  const priced = (costOf: (usage: Usage) => number | null): Model => ({
    ...says400(undefined),
    priced: true,
    costOf,
  })
  const { seat } = seatOf(
    priced(({ output }) => output / 1_000),
    { limits: { costUsd: 0.15 } },
  )
  await seat.generate({ messages: says('a') })
  await seat.generate({ messages: says('b') })
  expect(await outcomeOf(seat.generate({ messages: says('c') }))).toBe('cost_limit')
  const unknown = seatOf(
    priced(() => null),
    { limits: { costUsd: 0.15 } },
  )
  await unknown.seat.generate({ messages: says('a') })
  const thrown: unknown = await unknown.seat
    .generate({ messages: says('b') })
    .catch((error: unknown) => error)
  expect(thrown).toMatchObject({
    fault: { code: 'price_unknown', message: expect.stringContaining('had no usage') as string },
  })
})

test('what an attempt says beyond its room ends it as its own doing, and what was recorded is kept', async () => {
  const rooms = new RecordRooms({ heapBytes: 8_000_000 })
  const room = rooms.open()
  const model = new HeldModel((call) => call.answer('yes'))
  const { seat, recorder } = seatOf(model, { room })
  const ask = (text: string) => outcomeOf(seat.generate({ messages: says(text) }))
  expect(await ask('a'.repeat(600_000))).toBe('answered')
  expect(await ask('b'.repeat(600_000))).toBe('agent_error')
  expect(await ask('c')).toBe('agent_error')
  expect(model.calls).toHaveLength(1)
  expect(recorder.nodes).toHaveLength(2)
  expect(seat.settle({ outcome: 'completed' })).toEqual({
    result: { outcome: 'agent_error', stop: 'record_full' },
    fault: undefined,
  })
  expect(refusalOf(seat.stopped, 'chat')).toMatchObject({ status: 403, code: 'record_full' })
})

test('what is said again takes no room, what is asked again takes some', async () => {
  const rooms = new RecordRooms({ heapBytes: 8_000_000 })
  const model = new HeldModel((call) => call.answer('yes'))
  const { seat } = seatOf(model, { room: rooms.open() })
  const messages = says('a'.repeat(600_000))
  let calls = 0
  while ((await outcomeOf(seat.generate({ messages }))) === 'answered') calls++
  expect(calls).toBeGreaterThan(100)
  expect(calls).toBeLessThan(1_000)
})
