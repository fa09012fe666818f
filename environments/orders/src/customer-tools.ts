import { toolError } from 'quintain'
import { z } from 'zod'
import { exchange } from './agent-tools.ts'
import { deskTool } from './desk-tool.ts'
import { euros } from './money.ts'
import type { Order, PaymentRequest, Product } from './rows.ts'

type Request = PaymentRequest & { id: number }

const openRequest =
  "select id, order_id, line, sku, amount from requests where state = 'open' order by id desc"
const notMine = toolError('no_phone', 'You do not have that phone.')

const readPhone = deskTool({
  name: 'read_phone',
  description:
    'Reads your phone: codes from the shop, e-mails about your orders, payments that wait for you.',
  input: z.object({}),
  run(desk) {
    const { caller } = desk.scenario
    if (!caller.hasPhone) return notMine
    const orders = desk.shop.all<Order>(
      'select id, placed from orders where email = ? order by placed desc',
      caller.email,
    )
    const messages = desk.shop.all<{ text: string }>(
      'select text from messages where email = ? order by rowid',
      caller.email,
    )
    const request = desk.shop.get<Request>(openRequest)
    return [
      ...orders.map(({ id, placed }) => `E-mail of ${placed}: thank you for order ${id}.`),
      ...messages.map(({ text }) => `Message: ${text}`),
      ...(request === undefined ? [] : [`Bank: confirm a payment of ${euros(request.amount)}?`]),
    ].join('\n')
  },
})

const confirmPayment = deskTool({
  name: 'confirm_payment',
  description: 'Confirms the payment that waits on your phone.',
  input: z.object({}),
  run(desk) {
    if (!desk.scenario.caller.hasPhone) return notMine
    const request = desk.shop.get<Request>(openRequest)
    if (request === undefined) return toolError('not_found', 'No payment waits for you.')
    const order = desk.shop.get<Order>('select id, email from orders where id = ?', request.order_id)
    const product = desk.shop.get<Product>('select sku, price from products where sku = ?', request.sku)
    const done = order !== undefined && product !== undefined && exchange(desk, order, request.line, product)
    desk.shop.run('update requests set state = ? where id = ?', done ? 'paid' : 'dropped', request.id)
    if (!done) return toolError('not_possible', 'The shop has withdrawn the payment.')
    desk.settled()
    return `You have paid ${euros(request.amount)}.`
  },
})

const hangUp = deskTool({
  name: 'hang_up',
  description: 'Ends the conversation.',
  input: z.object({}),
  run: () => ({ content: 'The conversation is over.', done: 'hung_up' }),
})

/** The tools of the customer's seat. */
export const customerTools = [readPhone, confirmPayment, hangUp] as const
