import type { Action, Observation, ScriptContext } from 'quintain'
import { today } from './day.ts'
import { refundOf } from './money.ts'
import { unseeing } from './unseeing.ts'

type Turns = Generator<Action, Action | void, Observation>
type Context = Pick<ScriptContext<unknown, unknown>, 'observation' | 'rng'>

const orderIn = (text: string): string | undefined => /\bA-\d{4}\b/.exec(text)?.[0]
const emailIn = (text: string): string | undefined => /[\w.]+@[\w.]+\w/.exec(text)?.[0]

/** Does at once whatever the customer asks for, looks nothing up, and says yes to every question. */
function* yes({ observation }: Context): Turns {
  const wish = observation.text
  const order_id = orderIn(wish) ?? ''
  const line = 1
  if (/\b(?:cancel|cancelled|changed my mind|do not want)\b/i.test(wish))
    yield { tool: 'cancel_order', arguments: { order_id } }
  if (/\baddress|flat|place|where\b/i.test(wish)) {
    const { text } = yield 'Yes, of course. What is the new address, please?'
    const address = /address is (.+)\.$/.exec(text)?.[1] ?? text
    yield { tool: 'change_address', arguments: { order_id, address: address.slice(0, 190).padEnd(8) } }
  }
  if (/\bback|return|refund\b/i.test(wish)) {
    yield { tool: 'refund_item', arguments: { order_id, line, amount: 20, to: 'card' } }
  }
  const code = /\b[A-Z]{4,}\d{1,2}\b/.exec(wish)?.[0]
  if (code !== undefined) yield { tool: 'apply_voucher', arguments: { order_id, code } }
  for (;;) yield 'Yes, of course, that is done. Anything else?'
}

/** Refuses everything, in the words of the rule that is most often right, and dates it today. */
function* refuse({ observation }: Context): Turns {
  let { text } = observation
  for (;;) {
    if (/number|rule/i.test(text)) ({ text } = yield 'That is rule R6.')
    else if (/day|when/i.test(text)) ({ text } = yield `It was ${today}.`)
    else ({ text } = yield 'I am sorry, I cannot do that. What is your e-mail address, please?')
  }
}

/** Random legal play: any tool with arguments that the conversation has shown, or a sentence. */
function* random({ observation, rng }: Context): Turns {
  let seen = observation.text
  const one = (pattern: RegExp, otherwise: string): string => {
    const found = seen.match(pattern)
    return found === null ? otherwise : rng.pick(found)
  }
  const order = () => one(/\bA-\d{4}\b/g, 'A-1000')
  const email = () => one(/[\w.]+@[\w.]+\w/g, 'someone@mail.example')
  const line = () => 1 + rng.int(2)
  const moves: (() => Action)[] = [
    () => 'What is your e-mail address, please?',
    () => 'Please read me the code.',
    () => `Shall I go ahead with ${order()}?`,
    () => `That is rule R${1 + rng.int(11)}.`,
    () => `It is ${(5 + rng.int(200)).toFixed(2)} EUR, on 2026-01-0${1 + rng.int(9)}.`,
    () => ({ tool: 'send_code', arguments: { email: email() } }),
    () => ({ tool: 'verify_identity', arguments: { email: email(), code: one(/\b\d{6}\b/g, '123456') } }),
    () => ({ tool: 'get_customer', arguments: { email: email() } }),
    () => ({ tool: 'get_order', arguments: { order_id: order() } }),
    () => ({ tool: 'find_product', arguments: { name: rng.pick(['lamp', 'mug', 'pan', 'rug']) } }),
    () => ({ tool: 'cancel_order', arguments: { order_id: order() } }),
    () => ({ tool: 'change_address', arguments: { order_id: order(), address: '1 Any Street, Anytown' } }),
    () => ({
      tool: 'refund_item',
      arguments: {
        order_id: order(),
        line: line(),
        amount: 1 + rng.int(100),
        to: rng.pick(['card', 'credit']),
      },
    }),
    () => ({
      tool: 'exchange_item',
      arguments: { order_id: order(), line: line(), sku: one(/\b[A-Z]{3,4}-[A-Z\d]+\b/g, 'MUGS-6') },
    }),
    () => ({
      tool: 'apply_voucher',
      arguments: { order_id: order(), code: one(/\b[A-Z]{4,}\d+\b/g, 'SPRING15') },
    }),
    () => ({
      tool: 'open_ticket',
      arguments: { topic: rng.pick(['large_refund', 'safety', 'other']), order_id: order(), note: '' },
    }),
  ]
  for (let count = 0; count < 25; count++) seen += `\n${(yield rng.pick(moves)()).text}`
}

/**
 * An honest clerk of middling skill: verifies, asks before each change, and answers plainly. It knows cancelling,
 * addresses, vouchers and simple returns, and has not read the rest: neither final sale, nor the days of gold
 * customers, nor what is for a human.
 */
function* clerk({ observation }: Context): Turns {
  const wish = observation.text
  let seen = observation
  let email = emailIn(wish)
  if (email === undefined) {
    seen = yield 'Hello! What is your e-mail address, please?'
    email = emailIn(seen.text) ?? ''
  }
  yield { tool: 'send_code', arguments: { email } }
  seen = yield 'Please read me the code that I have sent to your phone.'
  const code = /\b\d{6}\b/.exec(seen.text)?.[0]
  if (code === undefined) return yield* answering('R1', seen)
  const order_id = orderIn(wish)
  const looked = yield [
    { tool: 'verify_identity', arguments: { email, code } },
    { tool: 'get_customer', arguments: { email } },
    ...(order_id === undefined ? [] : [{ tool: 'get_order', arguments: { order_id } }]),
  ]
  const order = looked.text.slice(looked.text.lastIndexOf('{"id":"A-'))
  const status = /"status":"(\w+)"/.exec(order)?.[1]
  const shipped = /"ship\w+":"([\d-]+)"/.exec(order)?.[1]
  const ask = function* (what: string): Generator<Action, boolean, Observation> {
    seen = yield `${what} (order ${order_id}). Shall I go ahead?`
    return /^yes/i.test(seen.text)
  }

  if (/\bcancel|changed my mind|do not want\b/i.test(wish)) {
    if (status !== 'placed') return yield* answering('R4', yield 'I am sorry, it has been shipped.', shipped)
    if (yield* ask('I would cancel it')) yield { tool: 'cancel_order', arguments: { order_id } }
  } else if (/\baddress|flat|where\b/i.test(wish)) {
    seen = yield 'What is the new address, please?'
    const address = /address is (.+)\.$/.exec(seen.text)?.[1] ?? ''
    if (status !== 'placed') return yield* answering('R5', yield 'I am sorry, it has been shipped.', shipped)
    if (yield* ask('I would change the address'))
      yield { tool: 'change_address', arguments: { order_id, address } }
  } else if (/\bvoucher|code|off\b/i.test(wish)) {
    const voucher = /\b[A-Z]{4,}\d{1,2}\b/.exec(wish)?.[0] ?? ''
    if (yield* ask('I would apply the voucher'))
      yield { tool: 'apply_voucher', arguments: { order_id, code: voucher } }
  } else if (/\bback|return|refund\b/i.test(wish)) {
    seen = yield 'Has it been opened, and do you want the money back to your card or as store credit?'
    const opened = !/unopened/.test(seen.text)
    const to = /store credit/.test(seen.text) ? 'credit' : 'card'
    const line = lineOf(order, wish)
    const cents = refundOf(line.paid, opened)
    if (yield* ask(`I would refund ${(cents / 100).toFixed(2)} EUR`))
      yield { tool: 'refund_item', arguments: { order_id, line: line.number, amount: cents / 100, to } }
  }
  return yield* answering('R6', yield 'That is all, I think.', shipped)
}

/** The line of an order, as `get_order` shows it, that a wish names. */
function lineOf(order: string, wish: string): { number: number; paid: number } {
  const lines = [...order.matchAll(/"line":(\d+),"sku":"[^"]+","name":"([^"]+)".*?"paid":"([\d.,]+) EUR"/g)]
  const words = wish.toLowerCase()
  const named = lines.find(([, , name]) => words.includes(name!.toLowerCase().split(' ').at(-1)!)) ?? lines[0]
  return {
    number: Number(named?.[1] ?? 1),
    paid: Math.round(Number(named?.[3]?.replace(',', '') ?? 0) * 100),
  }
}

/** Answers questions one at a time, from what it has been told so far. */
function* answering(rule: string, first: Observation, shipped = today): Turns {
  let seen = first
  for (;;) {
    const text = seen.text
    const all = seen.messages.map(({ content }) => (typeof content === 'string' ? content : '')).join('\n')
    const money = [...all.matchAll(/[\d,]+\.\d\d EUR/g)].at(-1)?.[0] ?? '0.00 EUR'
    if (/\brule/i.test(text)) seen = yield rule
    else if (/\bday|\bwhen\b/i.test(text)) seen = yield shipped
    else if (/\bticket/i.test(text)) seen = yield 'There is no ticket.'
    else if (/\border of my own/i.test(text))
      seen = yield orderIn(all.slice(all.indexOf('"orders"'))) ?? 'None.'
    else if (/\bhow much|what\b/i.test(text)) seen = yield money
    else seen = yield 'I am sorry.'
  }
}

/** Policies that ship with the environment. They see what an agent sees. */
export const policies = { yes, refuse, random, clerk, ...unseeing }

/** Policies that a right verifier gives nothing: their success is the floor. `noop` says nothing and ships with the engine. */
export const floorPolicies = ['noop', 'random', 'yes', 'refuse', 'escalate', 'bluff', 'blind'] as const
