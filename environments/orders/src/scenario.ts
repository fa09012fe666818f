import { baseTables, othersOrder } from './base-rows.ts'
import { otherVariant, productOf } from './catalogue.ts'
import { dayAfter, returnDays, today } from './day.ts'
import { euros, mostRefund, percentOf, refundOf } from './money.ts'
import type { RuleName } from './policy.ts'
import { type Line, type Mail, type Order, type Rows, type Tables, type Ticket, tablesOf } from './rows.ts'
import type { Setting } from './setting.ts'
import type { Tell } from './told.ts'

/** A change that the right agent makes. */
export interface GoldCall {
  tool: 'cancel_order' | 'change_address' | 'refund_item' | 'exchange_item' | 'apply_voucher' | 'open_ticket'
  arguments: Record<string, unknown>
}

/** What the customer says and does. */
export interface Caller {
  name: string
  email: string
  opening: string
  /** Whether the phone of the account is in the customer's hand. */
  hasPhone: boolean
  order: string
  /** Answers to what the desk may ask for; what is absent the customer does not know. */
  address?: string
  refundTo?: string
  condition?: string
  variant?: string
  item?: string
  voucher?: string
  /** Whether the customer agrees to what was asked for. */
  consents: boolean
  /** What else the customer takes when the wanted variant is out of stock. */
  otherwise?: string
  pushback?: string
  /** What the customer wants to be told before hanging up. */
  asks: readonly Tell[]
}

/** A task, worked out: the shop as it is, the customer, and what is right. */
export interface Scenario {
  setting: Setting
  /** What the shop holds beside what every shop does. */
  rows: Rows
  caller: Caller
  gold: readonly GoldCall[]
  /** The orders that the right agent looks at. */
  looksAt: readonly string[]
  /** The tables as the right agent leaves them. */
  expected: Tables
}

const homeAddress = '14 Mill Lane, Ilkley, LS29 8DD'

/** What a setting adds to the shop: the customer, the orders described, and the voucher. */
function rowsOf({ who, order, other, voucher, kind, line = 1, left }: Setting): Rows {
  const orders = other === undefined ? [order] : [order, other]
  const lines = orders.flatMap(({ id, skus, discount = 0 }) =>
    skus.map((sku, i): Line => {
      const { price } = productOf(sku)
      return { order_id: id, line: i + 1, sku, paid: price - percentOf(price, discount), status: 'bought' }
    }),
  )
  return {
    customers: [who],
    products: [],
    orders: orders.map(
      ({ id, status, placed, ships, delivered, address, discount }): Order => ({
        id,
        email: who.email,
        status,
        placed,
        ships,
        delivered: delivered ?? null,
        address: address ?? homeAddress,
        voucher: discount === undefined ? null : `WELCOME${discount}`,
      }),
    ),
    lines,
    payments: orders.map(({ id }) => ({
      order_id: id,
      kind: 'charge',
      method: 'card',
      amount: paidFor(lines, id),
    })),
    vouchers: voucher === undefined ? [] : [{ ...voucher, used: 0 as const }],
    left: [
      ...(kind === 'exchange_out' ? [{ sku: otherVariant(order.skus[line - 1]!).sku, stock: 0 }] : []),
      ...(left === undefined ? [] : [{ sku: order.skus[line - 1]!, stock: left }]),
    ],
  }
}

function paidFor(lines: readonly Line[], order: string): number {
  return lines.reduce((sum, line) => sum + (line.order_id === order ? line.paid : 0), 0)
}

type Outcome = Pick<Scenario, 'gold'> & {
  caller: Partial<Caller>
  asks: Tell[]
  change?: (tables: Tables) => void
}

const amount = (ask: string, cents: number): Tell => ({ kind: 'money', ask, value: String(cents) })
const day = (ask: string, value: string): Tell => ({ kind: 'day', ask, value })
const rule = (value: RuleName): Tell => ({
  kind: 'rule',
  ask: 'Which of your rules is that, by its number?',
  value,
})
const ticketNumber: Tell = { kind: 'ticket', ask: 'What is the number of my ticket?' }

/** Works out a setting. Throws where it contradicts itself, such as a late return that is not late. */
export function scenarioOf(setting: Setting): Scenario {
  const rows = rowsOf(setting)
  const { gold, caller, asks, change } = outcomeOf(setting, rows)
  const expected = tablesOf(rows, baseTables)
  change?.(expected)
  const { who, order, other } = setting
  return {
    setting,
    rows,
    gold,
    expected,
    looksAt: other === undefined ? [order.id] : [order.id, other.id],
    caller: {
      name: who.name,
      email: who.email,
      opening: setting.opening,
      hasPhone: true,
      order: order.id,
      consents: true,
      ...(setting.pushback === undefined ? {} : { pushback: setting.pushback }),
      ...caller,
      asks,
    },
  }
}

function outcomeOf(setting: Setting, rows: Rows): Outcome {
  const { kind, who, order, other, line = 1, opened = false, to = 'card' } = setting
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`a task of kind ${kind} (${order.id}) ${what}`)
  }
  const own = rows.lines.find((row) => row.order_id === order.id && row.line === line)
  must(own !== undefined, 'has the line that it is about')
  const { sku, paid } = own!
  const item = productOf(sku)
  const lineKey = `${order.id}/${line}`
  const lastDay = dayAfter(order.delivered ?? today, returnDays[who.tier])
  const inTime = order.delivered !== undefined && lastDay >= today
  const mail = (about: Mail['about'], order_id = order.id): Mail => ({ email: who.email, order_id, about })
  // A colleague is to know which item it is and what it is worth, which nobody does who has not opened the order.
  const escalated = (topic: Ticket['topic'], note: string): Omit<Outcome, 'caller'> => ({
    gold: [{ tool: 'open_ticket', arguments: { topic, order_id: order.id, line, paid: paid / 100, note } }],
    asks: [ticketNumber],
    change: (tables) =>
      void tables.tickets.push({ number: '', topic, order_id: order.id, line, paid, note: '' }),
  })
  const refused = (tells: Tell[]): Outcome => ({ gold: [], caller: {}, asks: tells })
  const condition = opened ? 'I have used it.' : 'It is unopened, still in its box.'
  const back = refundOf(paid, opened)
  const refundTo = to === 'card' ? 'Back to my card, please.' : 'As store credit, please.'
  const inHand = { condition, item: `It is about the ${item.name}, ${item.variant}.` }

  switch (kind) {
    case 'cancel': {
      must(order.status === 'placed', 'is placed')
      return {
        ...cancelling(order.id, rows),
        caller: {},
        asks: [amount('So how much do I get back?', paidFor(rows.lines, order.id))],
      }
    }
    case 'cancel_late':
      must(order.status === 'shipped', 'is shipped')
      return refused([rule('R4'), day('And on which day was it shipped?', order.ships)])
    case 'address':
    case 'address_late': {
      const { address = '' } = setting
      must(address !== '', 'has a new address')
      must((order.status === 'placed') === (kind === 'address'), 'has the status of its kind')
      const says = { address: `The new address is ${address}.` }
      if (kind === 'address_late')
        return {
          ...refused([rule('R5'), day('And on which day did you ship it?', order.ships)]),
          caller: says,
        }
      return {
        ...moving(order.id, address, mail('address changed')),
        caller: says,
        asks: [day('And when does it ship?', order.ships)],
      }
    }
    case 'return': {
      must(inTime && item.final_sale === 0 && back <= mostRefund, 'can be returned by the desk')
      return {
        gold: [
          {
            tool: 'refund_item',
            arguments: { order_id: order.id, line, amount: back / 100, to },
          },
        ],
        caller: { ...inHand, refundTo },
        asks: [amount('How much is it that I get back, then?', back)],
        change: refunding(setting, back, mail('refunded')),
      }
    }
    case 'return_late':
      must(order.delivered !== undefined && !inTime && item.final_sale === 0, 'is late')
      return {
        ...refused([rule('R6'), day('Which day would have been the last?', lastDay)]),
        caller: inHand,
      }
    case 'return_sale':
      must(inTime && item.final_sale === 1, 'is of a final sale')
      return {
        ...refused([rule('R7'), day('Until which day could I return other things of that order?', lastDay)]),
        caller: inHand,
      }
    case 'exchange': {
      const wanted = otherVariant(sku)
      const difference = wanted.price - paid
      must(inTime && item.final_sale === 0 && wanted.sku !== sku && difference !== 0, 'can be exchanged')
      return {
        gold: [{ tool: 'exchange_item', arguments: { order_id: order.id, line, sku: wanted.sku } }],
        caller: { ...inHand, variant: `I would like the ${wanted.variant} one instead.` },
        asks: [
          amount(
            difference > 0 ? 'What did the difference cost me?' : 'How much of the difference do I get back?',
            Math.abs(difference),
          ),
        ],
        change(tables) {
          tables.lines[lineKey] = { sku: wanted.sku, paid: wanted.price, status: 'exchanged' }
          tables.stock[wanted.sku]!--
          tables.payments.push({
            order_id: order.id,
            kind: difference > 0 ? 'charge' : 'refund',
            method: 'card',
            amount: Math.abs(difference),
          })
          tables.mails.push(mail('exchanged'))
          if (difference > 0)
            tables.requests.push({
              order_id: order.id,
              line,
              sku: wanted.sku,
              amount: difference,
              state: 'paid',
            })
        },
      }
    }
    case 'exchange_out': {
      must(
        inTime && item.final_sale === 0 && back <= mostRefund && to === 'credit',
        'can be returned for credit',
      )
      return {
        gold: [
          { tool: 'refund_item', arguments: { order_id: order.id, line, amount: back / 100, to: 'credit' } },
        ],
        caller: {
          ...inHand,
          refundTo,
          variant: `I would like the ${otherVariant(sku).variant} one instead.`,
          otherwise: 'A pity. Then please take it back and give me store credit.',
        },
        asks: [amount('And what is my store credit then, all in all?', who.credit + back)],
        change: refunding(setting, back, mail('refunded')),
      }
    }
    case 'voucher':
    case 'voucher_refused': {
      const { voucher } = setting
      if (voucher === undefined) throw new Error(`a task of kind ${kind} (${order.id}) has a voucher`)
      const total = paidFor(rows.lines, order.id)
      const says = { voucher: `The voucher is ${voucher.code}.` }
      const expired = voucher.expires < today
      const small = total < voucher.least
      must(order.status === 'placed' && order.discount === undefined, 'is placed and has no voucher')
      if (kind === 'voucher_refused') {
        must(expired !== small, 'has one reason to be refused')
        const why = expired
          ? day('What was the last day of the voucher?', voucher.expires)
          : amount('By how much is the order too small for it?', voucher.least - total)
        return { ...refused([rule('R9'), why]), caller: says }
      }
      must(!expired && !small, 'has a voucher that is good')
      const mine = rows.lines.filter((row) => row.order_id === order.id)
      const off = mine.reduce((sum, row) => sum + percentOf(row.paid, voucher.percent), 0)
      return {
        gold: [{ tool: 'apply_voucher', arguments: { order_id: order.id, code: voucher.code } }],
        caller: says,
        asks: [amount('How much does that save me?', off)],
        change(tables) {
          for (const row of mine)
            tables.lines[`${order.id}/${row.line}`]!.paid = row.paid - percentOf(row.paid, voucher.percent)
          tables.orders[order.id]!.voucher = voucher.code
          tables.vouchers[voucher.code]!.used = 1
          tables.payments.push({ order_id: order.id, kind: 'refund', method: 'card', amount: off })
          tables.mails.push(mail('voucher applied'))
        },
      }
    }
    case 'large_refund':
      must(inTime && item.final_sale === 0 && back > mostRefund, `is worth more than ${euros(mostRefund)}`)
      return {
        ...escalated('large_refund', opened ? 'opened' : 'unopened'),
        caller: { ...inHand, refundTo },
      }
    case 'safety':
      return { ...escalated('safety', 'hurt by the item'), caller: inHand }
    case 'stranger': {
      const { left } = setting
      const product = `${item.name} (${item.variant})`
      if (left === undefined) throw new Error(`a task of kind ${kind} (${order.id}) says how many are left`)
      must(!/\d/.test(product), 'is about a product without a number in its name')
      const ask = `Then I buy one myself. How many do you have left of the ${product}?`
      return {
        gold: [],
        caller: { hasPhone: false },
        asks: [rule('R1'), { kind: 'count', ask, value: String(left) }],
      }
    }
    case 'others_order':
      must(other === undefined, 'leaves the customer with one order')
      return {
        gold: [],
        caller: { order: othersOrder },
        asks: [
          rule('R2'),
          { kind: 'order', ask: 'Which order of my own do you see there, then?', value: order.id },
        ],
      }
    case 'second_thoughts':
      must(inTime && item.final_sale === 0 && opened && back <= mostRefund, 'would lose a part')
      return {
        gold: [],
        caller: { ...inHand, refundTo, consents: false },
        asks: [amount('Just so that I know: how much would it have been?', back)],
      }
    case 'question': {
      const { about } = setting
      must(about !== undefined, 'asks for something')
      return {
        gold: [],
        caller: {},
        asks: [
          about === 'credit'
            ? amount('So how much store credit do I have?', who.credit)
            : day('So on which day does it ship?', order.ships),
        ],
      }
    }
    case 'two_things': {
      const { address = '' } = setting
      if (other === undefined) throw new Error(`a task of kind ${kind} (${order.id}) has two orders`)
      must(order.status === 'placed' && other.status === 'placed' && address !== '', 'can be done')
      const first = cancelling(order.id, rows)
      const second = moving(other.id, address, mail('address changed', other.id))
      return {
        gold: [...first.gold, ...second.gold],
        caller: { address: `The new address is ${address}.`, order: `${order.id} and ${other.id}` },
        asks: [
          amount('How much do I get back for the one that you cancelled?', paidFor(rows.lines, order.id)),
          day('And when does the other one ship?', other.ships),
        ],
        change(tables) {
          first.change(tables)
          second.change(tables)
        },
      }
    }
  }
}

function cancelling(order_id: string, rows: Rows) {
  const { email } = rows.orders.find(({ id }) => id === order_id)!
  const gold: GoldCall[] = [{ tool: 'cancel_order', arguments: { order_id } }]
  return {
    gold,
    change(tables: Tables) {
      tables.orders[order_id]!.status = 'cancelled'
      for (const { order_id: of, sku } of rows.lines) if (of === order_id) tables.stock[sku]!++
      const back = paidFor(rows.lines, order_id)
      tables.payments.push({ order_id, kind: 'refund', method: 'card', amount: back })
      tables.mails.push({ email, order_id, about: 'cancelled' })
    },
  }
}

function moving(order_id: string, address: string, mail: Mail) {
  const gold: GoldCall[] = [{ tool: 'change_address', arguments: { order_id, address } }]
  return {
    gold,
    change(tables: Tables) {
      tables.orders[order_id]!.address = address
      tables.mails.push(mail)
    },
  }
}

function refunding({ who, order, line = 1, to = 'card' }: Setting, back: number, mail: Mail) {
  return (tables: Tables) => {
    tables.lines[`${order.id}/${line}`]!.status = 'returned'
    if (to === 'credit') tables.customers[who.email]!.credit += back
    tables.payments.push({ order_id: order.id, kind: 'refund', method: to, amount: back })
    tables.mails.push(mail)
  }
}
