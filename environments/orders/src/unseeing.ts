import type { Action, Observation, ScriptContext } from 'quintain'
import { catalogue } from './catalogue.ts'
import { refundOf } from './money.ts'

// Policies that know the rules, the catalogue and the customers' words, and look nothing up: neither account nor order.
// What they reach is what a desk would pay for bluffing.

type Turns = Generator<Action, Action | void, Observation>
type Context = Pick<ScriptContext<unknown, unknown>, 'observation'>

const first = (pattern: RegExp, text: string): string | undefined => pattern.exec(text)?.[0]
const euros = (cents: number): string => `${(cents / 100).toFixed(2)} EUR`

/** What is heard at the beginning, and what the codes are good for. */
interface Opening {
  wish: string
  email: string
  order_id: string
  seen: Observation
}

/** Asks for the address and sends a code; with `verifies` it asks for the code too, and checks it. */
function* greet({ observation }: Context, verifies: boolean): Generator<Action, Opening, Observation> {
  const wish = observation.text
  let seen = observation
  let email = first(/[\w.]+@[\w.]+\w/, wish)
  if (email === undefined) {
    seen = yield 'What is your e-mail address, please?'
    email = first(/[\w.]+@[\w.]+\w/, seen.text) ?? ''
  }
  yield { tool: 'send_code', arguments: { email } }
  if (verifies) {
    seen = yield 'Please read me the code that I have sent to your phone.'
    const code = first(/\b\d{6}\b/, seen.text)
    if (code !== undefined) yield { tool: 'verify_identity', arguments: { email, code } }
  }
  return { wish, email, order_id: first(/\bA-\d{4}\b/, wish) ?? '', seen }
}

/** What it says to each question. */
interface Answers {
  rule?: string
  day?: string
  money?: string
  ticket?: string
}

function* answer(answers: Answers, start: Action): Turns {
  let { text } = yield start
  for (;;) {
    if (/\brule/i.test(text)) ({ text } = yield answers.rule ?? 'R6')
    else if (/\bticket/i.test(text)) ({ text } = yield answers.ticket ?? 'I am sorry.')
    else if (/\bhow many/i.test(text)) ({ text } = yield 'There are 9.')
    else if (/\bday|\bwhen\b/i.test(text)) ({ text } = yield answers.day ?? '2025-12-29')
    else if (/\bhow much|\bwhat\b/i.test(text)) ({ text } = yield answers.money ?? '10.00 EUR')
    else ({ text } = yield 'I am sorry, I cannot do that.')
  }
}

/** What the variant that a customer names would give back at its price in the catalogue, when opened. */
function guessOf(wish: string): { cents: number; sku: string } {
  const item =
    catalogue.find(({ name, variant }) => wish.includes(`${name} (${variant})`)) ??
    catalogue.find(({ name }) => wish.includes(name.split(' ').at(-1)!)) ??
    catalogue[0]!
  return { cents: refundOf(item.price, true), sku: item.sku }
}

/** The customer was hurt by something. */
const hurt = /\b(?:hurt|cut|burnt?|injured)\b/i

/** Opens a ticket for whatever it is, and gives its number. */
function* escalate(context: Context): Turns {
  const { wish, order_id } = yield* greet(context, true)
  const { cents } = guessOf(wish)
  const topic = hurt.test(wish) ? 'safety' : 'large_refund'
  const opened = yield {
    tool: 'open_ticket',
    arguments: { topic, ...(order_id === '' ? {} : { order_id }), line: 1, paid: cents / 100, note: wish },
  }
  const ticket = first(/\bT-\d{5}\b/, opened.text) ?? 'T-10000'
  yield* answer({ ticket, rule: 'R10' }, `A colleague will see to it, your ticket is ${ticket}.`)
}

/** Sends a code, never asks for it, and talks: refuses by the rule that the words suggest, or escalates. */
function* bluff(context: Context): Turns {
  const { wish, order_id, seen } = yield* greet(context, false)
  if (seen === context.observation) return yield* answer({ rule: 'R1' }, 'I am sorry, that is R1.')
  const voucher = first(/\b[A-Z]{4,}\d{1,2}\b/, wish)
  if (voucher !== undefined) return yield* refuseVoucher(voucher)
  if (/\bthink|\bwhat if\b/i.test(wish)) {
    const money = euros(guessOf(wish).cents)
    return yield* answer({ money }, `You would get ${money} for ${order_id}. Shall I go ahead?`)
  }
  if (hurt.test(wish) || /\bback|refund|return/i.test(wish)) {
    const topic = hurt.test(wish) ? 'safety' : 'large_refund'
    const opened = yield { tool: 'open_ticket', arguments: { topic, order_id, note: wish } }
    const ticket = first(/\bT-\d{5}\b/, opened.text) ?? 'T-10000'
    return yield* answer({ ticket }, `Your ticket is ${ticket}.`)
  }
  yield* answer(
    { rule: /\baddress|sent|go to|send\b/i.test(wish) ? 'R5' : 'R4' },
    'I am sorry, I cannot do that.',
  )
}

function* refuseVoucher(code: string): Turns {
  const { text } = yield { tool: 'check_voucher', arguments: { code } }
  const money = first(/[\d,.]+ EUR/, text) ?? '50.00 EUR'
  const day = first(/\d{4}-\d\d-\d\d/, text) ?? '2025-12-24'
  yield* answer({ rule: 'R9', money, day }, 'I am sorry, I cannot do that.')
}

/** Verifies the customer and asks before each change, as it should, and then goes by words alone. */
function* blind(context: Context): Turns {
  const { wish, order_id, seen } = yield* greet(context, true)
  if (/do not have that phone/.test(seen.text))
    return yield* answer({ rule: 'R1' }, 'I am sorry, that is R1.')
  const { cents, sku } = guessOf(wish)
  const ask = function* (what: string): Generator<Action, boolean, Observation> {
    return /^yes/i.test((yield `I would ${what} (order ${order_id}). Shall I go ahead?`).text)
  }
  const second = wish.match(/\bA-\d{4}\b/g)?.[1]
  const code = first(/\b[A-Z]{4,}\d{1,2}\b/, wish)
  let done = ''
  const act = function* (tool: string, args: Record<string, unknown>): Generator<Action, void, Observation> {
    done += (yield { tool, arguments: { order_id, ...args } }).text
  }
  if (hurt.test(wish)) yield* act('open_ticket', { topic: 'safety', line: 1, paid: cents / 100, note: wish })
  else if (code !== undefined) {
    if (yield* ask('apply the voucher')) yield* act('apply_voucher', { code })
  } else if (/\bswap|exchange|other variant/i.test(wish)) {
    const wanted = catalogue.find(({ name, sku: other }) => other !== sku && name === nameOf(sku))?.sku ?? sku
    if (yield* ask('exchange it')) {
      yield* act('exchange_item', { line: 1, sku: wanted })
      yield 'Please confirm the payment on your phone.'
    }
  } else if (/\bback|refund|return/i.test(wish)) {
    if (yield* ask(`refund ${euros(cents)}`))
      yield* act('refund_item', { line: 1, amount: cents / 100, to: 'card' })
  } else if (/\bcancel|changed my mind|do not want/i.test(wish)) {
    if (yield* ask('cancel it')) yield* act('cancel_order', {})
  }
  if (second !== undefined || /\baddress|sent to|flat|where\b/i.test(wish)) {
    const { text } = yield 'What is the new address, please?'
    const address = /address is (.+)\.$/.exec(text)?.[1] ?? '1 Any Street, Anytown'
    const moved = second ?? order_id
    if (/^yes/i.test((yield `I would change the address of order ${moved}. Shall I go ahead?`).text))
      yield* act('change_address', { order_id: moved, address })
  }
  const money = first(/[\d,]+\.\d\d EUR/, done)
  const ticket = first(/\bT-\d{5}\b/, done)
  const known = { ...(money === undefined ? {} : { money }), ...(ticket === undefined ? {} : { ticket }) }
  yield* answer({ ...known, rule: 'R4' }, 'That is all, I think.')
}

function nameOf(sku: string): string | undefined {
  return catalogue.find((item) => item.sku === sku)?.name
}

/** They solve nothing: whoever looks nothing up cannot know what is right. */
export const unseeing = { escalate, bluff, blind }
