import { type ToolFailure, toolError } from 'quintain'
import { z } from 'zod'
import type { Desk } from './desk.ts'
import { deskTool } from './desk-tool.ts'
import { centsOf, euros, percentOf } from './money.ts'
import type { Customer, Line, Order, Payment, PaymentRequest, Product, Voucher } from './rows.ts'

const email = z
  .string()
  .max(200)
  .transform((text) => text.trim().toLowerCase())
const orderId = z
  .string()
  .max(40)
  .transform((text) => text.trim().toUpperCase())
const line = z.int().min(1).max(99).describe('Number of the line in the order.')

const noOrder = (id: string) => toolError('not_found', `There is no order ${id}.`)
const noAccount = toolError('not_found', 'There is no account with this e-mail address.')

function accountOf(desk: Desk, address: string): Customer | undefined {
  return desk.shop.get('select email, name, tier, credit from customers where email = ?', address)
}

function orderOf(desk: Desk, id: string): Order | undefined {
  return desk.shop.get(
    'select id, email, status, placed, ships, delivered, address, voucher from orders where id = ?',
    id,
  )
}

/** A line that its customer still has as it was bought; a failure otherwise. */
function boughtLine(desk: Desk, order: string, number: number): Line | ToolFailure {
  const found = desk.shop.get<Line>(
    'select order_id, line, sku, paid, status from lines where order_id = ? and line = ?',
    order,
    number,
  )
  if (found === undefined) return toolError('not_found', `Order ${order} has no line ${number}.`)
  if (found.status !== 'bought')
    return toolError('not_possible', `Line ${number} of order ${order} was ${found.status} before.`)
  return found
}

const isFailure = (value: object): value is ToolFailure => 'toolError' in value

/** Every change is told to the customer by e-mail. */
function mail(desk: Desk, order: Order, about: string): void {
  desk.shop.run('insert into mails (email, order_id, about) values (?, ?, ?)', order.email, order.id, about)
}

function pay(desk: Desk, { order_id, kind, method, amount }: Payment): void {
  desk.shop.run(
    'insert into payments (order_id, kind, method, amount) values (?, ?, ?, ?)',
    order_id,
    kind,
    method,
    amount,
  )
}

/** Carries an exchange out, once what it costs has been settled; false where that is no longer possible. */
export function exchange(
  desk: Desk,
  order: Order,
  number: number,
  wanted: Pick<Product, 'sku' | 'price'>,
): boolean {
  const bought = boughtLine(desk, order.id, number)
  const stock = desk.shop.get<Product>('select stock from products where sku = ?', wanted.sku)?.stock ?? 0
  if (isFailure(bought) || stock < 1) return false
  const difference = wanted.price - bought.paid
  desk.shop.together(() => {
    desk.shop.run('update products set stock = stock - 1 where sku = ?', wanted.sku)
    desk.shop.run(
      "update lines set sku = ?, paid = ?, status = 'exchanged' where order_id = ? and line = ?",
      wanted.sku,
      wanted.price,
      order.id,
      number,
    )
    if (difference !== 0) {
      const kind = difference > 0 ? 'charge' : 'refund'
      pay(desk, { order_id: order.id, kind, method: 'card', amount: Math.abs(difference) })
    }
    mail(desk, order, 'exchanged')
  })
  return true
}

/** Asks for a payment on the customer's phone. One waits at most, and asking again for the same changes nothing. */
function request(desk: Desk, { order_id, line: number, sku, amount }: Omit<PaymentRequest, 'state'>): void {
  const { shop } = desk
  const same = "select id from requests where state = 'open' and order_id = ? and line = ? and sku = ?"
  if (shop.get(same, order_id, number, sku) !== undefined) return
  shop.run("update requests set state = 'dropped' where state = 'open'")
  const insert = "insert into requests (order_id, line, sku, amount, state) values (?, ?, ?, ?, 'open')"
  shop.run(insert, order_id, number, sku, amount)
}

const sendCode = deskTool({
  name: 'send_code',
  description: 'Sends a code to the phone of an account. It shows nothing of the account.',
  input: z.object({ email }),
  run(desk, { email: address }) {
    if (accountOf(desk, address) === undefined) return noAccount
    return desk.sendCode(address) === 'locked'
      ? toolError('locked', 'Too many wrong codes. The account is locked for today.')
      : 'A code is on its way to the phone of the account.'
  },
})

const verifyIdentity = deskTool({
  name: 'verify_identity',
  description: 'Checks the code that the customer read to you. A code can be used once.',
  input: z.object({ email, code: z.string().max(40) }),
  run(desk, { email: address, code }) {
    const result = desk.checkCode(address, code.replace(/\D/g, ''))
    if (result === 'right') return 'Right. The customer is verified.'
    return result === 'wrong'
      ? toolError('wrong_code', 'The code is wrong.')
      : toolError('no_code', 'No code is open for this account. Send one first.')
  },
})

const getCustomer = deskTool({
  name: 'get_customer',
  description: 'Opens an account: name, tier, store credit, and its orders.',
  input: z.object({ email }),
  run(desk, { email: address }) {
    const account = accountOf(desk, address)
    if (account === undefined) return noAccount
    desk.show('get_customer', address)
    const orders = desk.shop.all<Pick<Order, 'id' | 'status' | 'placed'>>(
      'select id, status, placed from orders where email = ? order by placed desc',
      address,
    )
    const { name, tier, credit } = account
    return JSON.stringify({ name, tier, store_credit: euros(credit), orders })
  },
})

const getOrder = deskTool({
  name: 'get_order',
  description: 'Opens an order: status, days, address, lines with what was paid for each, and payments.',
  input: z.object({ order_id: orderId }),
  run(desk, { order_id }) {
    const order = orderOf(desk, order_id)
    if (order === undefined) return noOrder(order_id)
    desk.show('get_order', order.email)
    const lines = desk.shop.all<Line & Product>(
      'select line, sku, name, variant, paid, status, final_sale from lines join products using (sku) where order_id = ? order by line',
      order_id,
    )
    const payments = desk.shop.all<Payment>(
      'select kind, method, amount from payments where order_id = ? order by rowid',
      order_id,
    )
    const { ships, ...rest } = order
    return JSON.stringify({
      ...rest,
      [order.status === 'placed' ? 'ships_on' : 'shipped_on']: ships,
      lines: lines.map(({ paid, final_sale, ...row }) => ({
        ...row,
        paid: euros(paid),
        ...(final_sale === 1 ? { final_sale: true } : {}),
      })),
      payments: payments.map(({ amount, ...row }) => ({ ...row, amount: euros(amount) })),
    })
  },
})

const findProduct = deskTool({
  name: 'find_product',
  description: 'Variants of products whose name holds a text, with price and stock.',
  input: z.object({ name: z.string().min(2).max(80) }),
  run(desk, { name }) {
    const found = desk.shop.all<Product>(
      'select sku, name, variant, price, stock, final_sale from products where instr(lower(name), ?) > 0 order by sku limit 10',
      name.trim().toLowerCase(),
    )
    if (found.length === 0) return toolError('not_found', 'No product has such a name.')
    return JSON.stringify(
      found.map(({ price, final_sale, ...row }) => ({
        ...row,
        price: euros(price),
        ...(final_sale === 1 ? { final_sale: true } : {}),
      })),
    )
  },
})

const checkVoucher = deskTool({
  name: 'check_voucher',
  description: 'What a voucher is worth, its minimum, its last day, and whether it was used.',
  input: z.object({ code: z.string().max(40) }),
  run(desk, { code }) {
    const voucher = voucherOf(desk, code)
    if (voucher === undefined) return toolError('not_found', 'There is no such voucher.')
    const { least, used, ...rest } = voucher
    return JSON.stringify({ ...rest, minimum: euros(least), used: used === 1 })
  },
})

function voucherOf(desk: Desk, code: string): Voucher | undefined {
  return desk.shop.get(
    'select code, percent, least, expires, used from vouchers where code = ?',
    code.trim().toUpperCase(),
  )
}

// The tools that change something do what they are told as long as the books stay right. Whether it is allowed is for
// the agent to know: a tool that knew the policy would leave nothing to measure.

const cancelOrder = deskTool({
  name: 'cancel_order',
  description: 'Cancels an order, wherever it is, and pays everything back the way it was paid.',
  input: z.object({ order_id: orderId }),
  run(desk, { order_id }) {
    const order = orderOf(desk, order_id)
    if (order === undefined) return noOrder(order_id)
    desk.touch('cancel_order', order.email)
    if (order.status === 'cancelled') return toolError('not_possible', 'It has been cancelled before.')
    const lines = desk.shop.all<Line>('select sku, paid, status from lines where order_id = ?', order_id)
    const open = lines.filter(({ status }) => status !== 'returned')
    const back = open.reduce((sum, { paid }) => sum + paid, 0)
    desk.shop.together(() => {
      desk.shop.run("update orders set status = 'cancelled' where id = ?", order_id)
      for (const { sku } of open) desk.shop.run('update products set stock = stock + 1 where sku = ?', sku)
      if (back > 0) pay(desk, { order_id, kind: 'refund', method: 'card', amount: back })
      mail(desk, order, 'cancelled')
    })
    desk.wrote('cancel_order', order)
    return `Order ${order_id} is cancelled. ${euros(back)} go back to the card.`
  },
})

const changeAddress = deskTool({
  name: 'change_address',
  description:
    'Sets the address of an order: street, town and postcode in one line, as the customer gave it.',
  input: z.object({ order_id: orderId, address: z.string().min(8).max(200) }),
  run(desk, { order_id, address }) {
    const order = orderOf(desk, order_id)
    if (order === undefined) return noOrder(order_id)
    desk.touch('change_address', order.email)
    desk.shop.together(() => {
      desk.shop.run('update orders set address = ? where id = ?', address.trim(), order_id)
      mail(desk, order, 'address changed')
    })
    desk.wrote('change_address', order)
    return `The address of order ${order_id} is now: ${address.trim()}`
  },
})

const refundItem = deskTool({
  name: 'refund_item',
  description: 'Takes a line of an order back and refunds an amount for it. You work the amount out.',
  input: z.object({
    order_id: orderId,
    line,
    amount: z.number().positive().max(100_000).describe('In euros, such as 24.8.'),
    to: z.enum(['card', 'credit']).describe('Back to the card, or as store credit.'),
  }),
  run(desk, { order_id, line: number, amount, to }) {
    const order = orderOf(desk, order_id)
    if (order === undefined) return noOrder(order_id)
    desk.touch('refund_item', order.email)
    const cents = centsOf(amount)
    if (cents === undefined || cents < 1)
      return toolError('bad_amount', 'The amount is no number of whole cents.')
    const bought = boughtLine(desk, order_id, number)
    if (isFailure(bought)) return bought
    if (cents > bought.paid)
      return toolError('bad_amount', `No more than ${euros(bought.paid)} were paid for this line.`)
    desk.shop.together(() => {
      desk.shop.run("update lines set status = 'returned' where order_id = ? and line = ?", order_id, number)
      if (to === 'credit')
        desk.shop.run('update customers set credit = credit + ? where email = ?', cents, order.email)
      pay(desk, { order_id, kind: 'refund', method: to, amount: cents })
      mail(desk, order, 'refunded')
    })
    desk.wrote('refund_item', order)
    return `${euros(cents)} are refunded ${to === 'card' ? 'to the card' : 'as store credit'}.`
  },
})

const exchangeItem = deskTool({
  name: 'exchange_item',
  description:
    'Exchanges a line of an order for another product. Where that costs more, the customer must confirm the payment on the phone, and the exchange is done with it.',
  input: z.object({
    order_id: orderId,
    line,
    sku: z.string().max(40).describe('The variant that is wanted.'),
  }),
  run(desk, { order_id, line: number, sku }) {
    const order = orderOf(desk, order_id)
    if (order === undefined) return noOrder(order_id)
    desk.touch('exchange_item', order.email)
    const bought = boughtLine(desk, order_id, number)
    if (isFailure(bought)) return bought
    const wanted = desk.shop.get<Product>(
      'select sku, price, stock from products where sku = ?',
      sku.trim().toUpperCase(),
    )
    if (wanted === undefined) return toolError('not_found', `There is no product ${sku}.`)
    if (wanted.stock < 1) return toolError('not_possible', `${wanted.sku} is out of stock.`)
    const difference = wanted.price - bought.paid
    if (difference > 0) {
      request(desk, { order_id, line: number, sku: wanted.sku, amount: difference })
      desk.wrote('exchange_item', order)
      return `It costs ${euros(difference)} more. The customer must now confirm the payment on the phone.`
    }
    exchange(desk, order, number, wanted)
    desk.wrote('exchange_item', order)
    const back = difference === 0 ? 'No money moves.' : `${euros(-difference)} go back to the card.`
    return `Line ${number} of order ${order_id} is exchanged for ${wanted.sku}. ${back}`
  },
})

const applyVoucher = deskTool({
  name: 'apply_voucher',
  description: 'Takes the discount of a voucher off an order and pays it back to the card.',
  input: z.object({ order_id: orderId, code: z.string().max(40) }),
  run(desk, { order_id, code }) {
    const order = orderOf(desk, order_id)
    if (order === undefined) return noOrder(order_id)
    desk.touch('apply_voucher', order.email)
    const voucher = voucherOf(desk, code)
    if (voucher === undefined) return toolError('not_found', 'There is no such voucher.')
    if (voucher.used === 1) return toolError('not_possible', 'The voucher has been used.')
    const lines = desk.shop.all<Line>(
      "select line, paid from lines where order_id = ? and status = 'bought'",
      order_id,
    )
    let off = 0
    desk.shop.together(() => {
      for (const { line: number, paid } of lines) {
        const less = percentOf(paid, voucher.percent)
        off += less
        desk.shop.run(
          'update lines set paid = ? where order_id = ? and line = ?',
          paid - less,
          order_id,
          number,
        )
      }
      desk.shop.run('update orders set voucher = ? where id = ?', voucher.code, order_id)
      desk.shop.run('update vouchers set used = 1 where code = ?', voucher.code)
      if (off > 0) pay(desk, { order_id, kind: 'refund', method: 'card', amount: off })
      mail(desk, order, 'voucher applied')
    })
    desk.wrote('apply_voucher', order)
    return `Voucher ${voucher.code} is applied to order ${order_id}. ${euros(off)} go back to the card.`
  },
})

const openTicket = deskTool({
  name: 'open_ticket',
  description: 'Opens a ticket for a human colleague, and gives its number.',
  input: z.object({
    topic: z.enum(['large_refund', 'safety', 'payment', 'other']),
    order_id: orderId.optional(),
    line: line.optional(),
    paid: z
      .number()
      .nonnegative()
      .max(100_000)
      .optional()
      .describe('What was paid for the item, in euros, such as 24.8.'),
    note: z.string().max(1_000).describe('What else the colleague should know.'),
  }),
  run(desk, { topic, order_id, line: number, paid, note }) {
    const cents = paid === undefined ? null : centsOf(paid)
    if (cents === undefined) return toolError('bad_amount', 'The amount is no number of whole cents.')
    if (order_id !== undefined) {
      const order = orderOf(desk, order_id)
      if (order === undefined) return noOrder(order_id)
      desk.touch('open_ticket', order.email)
    }
    // Whether line and amount are right is not checked: whoever guesses them is not to learn of it.
    const ticket = desk.ticketNumber()
    desk.shop.run(
      'insert into tickets (number, topic, order_id, line, paid, note) values (?, ?, ?, ?, ?, ?)',
      ticket,
      topic,
      order_id ?? null,
      number ?? null,
      cents,
      note,
    )
    desk.settled()
    return `Ticket ${ticket} is open.`
  },
})

/** The tools of the agent's seat. */
export const agentTools = [
  sendCode,
  verifyIdentity,
  getCustomer,
  getOrder,
  findProduct,
  checkVoucher,
  cancelOrder,
  changeAddress,
  refundItem,
  exchangeItem,
  applyVoucher,
  openTicket,
] as const

/** Those that change an order. */
export const writingTools = [
  'cancel_order',
  'change_address',
  'refund_item',
  'exchange_item',
  'apply_voucher',
] as const
