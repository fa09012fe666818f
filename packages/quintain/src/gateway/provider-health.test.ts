import { expect, test } from 'vitest'
import { ModelFault, type ModelRequest } from '../core/index.ts'
import { type HeldCall, HeldModel, providerFault, says, seatOf } from './__fixtures__/held-model.ts'
import { SeatStop } from './seat-stop.ts'

/** A request whose body a program wrote. */
const written = (text: string): ModelRequest => ({
  messages: says(text),
  wire: {
    dialect: 'chat',
    body: {},
    stream: false,
    settings: { own: [] },
    wants: { logprobs: false, tokenIds: false, usage: false },
  },
})

/** A model that fails at every try on bodies of programs that hold "poison", and answers all others as `others` does. */
function failing(others: (call: HeldCall) => void, { code = 'http_500', tries = 5 } = {}): HeldModel {
  return new HeldModel((call) => {
    if (!JSON.stringify(call.request.messages).includes('poison')) return others(call)
    call.context.onWait?.(true, 'backoff')
    setTimeout(() => {
      call.context.onWait?.(false, 'backoff')
      const retries = Array.from({ length: tries }, () => ({ code, tookMs: 1, waitedMs: 1 }))
      call.fail(new ModelFault(providerFault(code).fault, { retries }))
    }, 5)
  })
}

const answers = (call: HeldCall) => call.answer('yes')

test('a body that alone fails, while its provider answers others, buys no new try', async () => {
  const model = failing(answers)
  const { seat, recorder } = seatOf(model)
  await seat.generate(written('go'))
  await expect(seat.generate(written('poison'))).rejects.toMatchObject({ fault: { code: 'http_500' } })
  // The provider was asked a word, which is no call of the agent's.
  expect(model.calls).toHaveLength(3)
  expect(recorder.calls.map(({ fault, flags }) => [fault?.code, flags])).toEqual([
    [undefined, undefined],
    ['http_500', ['call_failed_alone']],
  ])
  expect(seat.settle({ outcome: 'completed' })).toEqual({
    result: { outcome: 'completed' },
    fault: undefined,
  })
  expect(seat.account()).toMatchObject({ unrecovered: undefined, turns: 1, flags: { call_failed_alone: 1 } })
})

test('nobody is asked where others were answered meanwhile', async () => {
  const model = failing(answers)
  const [one, other] = [seatOf(model), seatOf(model)]
  await one.seat.generate(written('go'))
  const failed = one.seat.generate(written('poison')).catch((thrown: unknown) => thrown)
  await model.call(1)
  await other.seat.generate(written('go'))
  expect(await failed).toBeInstanceOf(SeatStop)
  expect(one.seat.flags).toEqual({ call_failed_alone: 1 })
  expect(model.calls).toHaveLength(3)
})

test.for([
  ['its provider answers nobody', (call: HeldCall) => call.fail(), {}],
  ['it is overloaded', answers, { code: 'http_429' }],
  ['it failed once', answers, { tries: 1 }],
] as const)('a call that fails is a fault of the provider where %s', async ([, others, how]) => {
  let first = true
  const { seat } = seatOf(
    failing((call) => {
      if (!first) return others(call)
      first = false
      return answers(call)
    }, how),
  )
  await seat.generate(written('go'))
  await expect(seat.generate(written('poison'))).rejects.toBeInstanceOf(SeatStop)
  expect(seat.settle({ outcome: 'completed' }).fault).toMatchObject({ owner: 'provider' })
  expect(seat.flags).toEqual({})
})

test('an attempt of which no call was ever answered is a fault', async () => {
  const { seat } = seatOf(failing(answers))
  await expect(seat.generate(written('poison'))).rejects.toBeInstanceOf(SeatStop)
  expect(seat.settle({ outcome: 'completed' }).fault).toMatchObject({ code: 'http_500' })
})
