import { expect, test } from 'vitest'
import type { Model, Usage } from '../core/index.ts'
import { DialectError } from '../models/dialects/dialect.ts'
import { HeldModel, providerFault, says, seatOf } from './__fixtures__/held-model.ts'
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

test('a caller who left is no fault and no outcome, but what it read counts', async () => {
  const model = new HeldModel()
  const { seat, recorder } = seatOf(model, { limits: { tokens: 3 } })
  const leave = async (pieces: number): Promise<void> => {
    const gone = new AbortController()
    const call = seat.generate({ messages: says('a') }, { signal: gone.signal, onDelta: () => {} })
    const held = await model.call(model.calls.length)
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
    const call = seat.generate({ messages: says('a') }, { signal: gone.signal })
    const held = await model.call(model.calls.length)
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
