import type { Action, Observation } from 'quintain'
import { euros } from './money.ts'
import type { GoldCall, Scenario } from './scenario.ts'
import type { Tell } from './told.ts'

type Turns = Generator<Action, Action | void, Observation>

/** Solves a task as the rules ask: verifies, looks, asks, acts, and answers one thing at a time. */
export function* oracle({ setting, caller, gold, looksAt }: Scenario): Turns {
  const { email } = caller
  yield { tool: 'send_code', arguments: { email } }
  let seen = yield 'I have sent a code to the phone of your account. Please read it to me.'
  const code = /\d{6}/.exec(seen.text)?.[0]
  if (code !== undefined) {
    // The list of orders comes first: an order that is not on it is somebody else's.
    const others = setting.kind === 'others_order'
    yield [
      { tool: 'verify_identity', arguments: { email, code } },
      { tool: 'get_customer', arguments: { email } },
      ...(others ? [] : looksAt.map((order_id) => ({ tool: 'get_order', arguments: { order_id } }))),
    ]
    if (setting.kind === 'exchange_out') {
      seen = yield 'I am sorry, that one is out of stock.'
    }
  }

  let ticket: string | undefined
  const changes = gold.filter(({ tool }) => tool !== 'open_ticket')
  if (changes.length > 0) {
    seen = yield `I would ${changes.map(inWords).join(', and ')}. Shall I go ahead?`
    const done = yield changes
    seen = /confirm the payment/.test(done.text)
      ? yield 'Please confirm the payment on your phone.'
      : yield 'That is done.'
  } else if (gold.length > 0) {
    const opened = yield gold
    ticket = /T-\d{5}/.exec(opened.text)?.[0]
    seen = yield 'A colleague will look at it.'
  } else if (setting.kind === 'second_thoughts') {
    const [tell] = caller.asks
    seen =
      yield `I would refund ${answerTo(tell!, ticket)} for it, order ${setting.order.id}. Shall I go ahead?`
    seen = yield 'Then it stays as it is.'
  } else {
    const refuses = caller.asks.some(({ kind }) => kind === 'rule')
    seen = yield refuses ? `I am sorry, I cannot do that.` : 'I have your account here.'
    if (caller.pushback !== undefined && seen.text === caller.pushback)
      seen = yield 'There are no exceptions.'
  }

  for (;;) {
    if (caller.asks.some(({ kind, ask }) => kind === 'count' && seen.text.endsWith(ask))) {
      const [name] = /(?<=of the ).+(?= \()/.exec(seen.text) ?? ['']
      yield { tool: 'find_product', arguments: { name } }
    }
    const asked = caller.asks.find(({ ask }) => seen.text.endsWith(ask))
    seen = yield asked === undefined ? 'I see.' : answerTo(asked, ticket)
  }
}

function inWords({ tool, arguments: args }: GoldCall): string {
  const { order_id, amount } = args as { order_id: string; amount?: number }
  const what = tool.replace('_', ' ')
  return `${what} (order ${order_id}${amount === undefined ? '' : `, ${euros(Math.round(amount * 100))}`})`
}

function answerTo({ kind, value = '' }: Tell, ticket: string | undefined): string {
  if (kind === 'ticket') return ticket ?? 'There is none.'
  return kind === 'money' ? euros(Number(value)) : value
}
