/** What the shop's tables hold. Money is in cents, days are `YYYY-MM-DD`. */
export interface Customer {
  email: string
  name: string
  tier: 'standard' | 'gold'
  /** Store credit. */
  credit: number
}

export interface Product {
  sku: string
  name: string
  variant: string
  price: number
  stock: number
  /** 1: sold for good, neither returned nor exchanged. */
  final_sale: 0 | 1
}

export interface Order {
  id: string
  email: string
  status: 'placed' | 'shipped' | 'delivered' | 'cancelled'
  placed: string
  /** The day it was handed to the carrier, or is to be. */
  ships: string
  delivered: string | null
  address: string
  voucher: string | null
}

export interface Line {
  order_id: string
  line: number
  sku: string
  /** What the customer paid for it, discounts taken off. */
  paid: number
  status: 'bought' | 'returned' | 'exchanged'
}

export interface Payment {
  order_id: string
  kind: 'charge' | 'refund'
  method: 'card' | 'credit'
  amount: number
}

export interface Voucher {
  code: string
  percent: number
  /** Smallest order total that it is for. */
  least: number
  expires: string
  used: 0 | 1
}

/** A case for a human colleague. */
export interface Ticket {
  number: string
  topic: 'large_refund' | 'safety' | 'payment' | 'other'
  order_id: string | null
  line: number | null
  /** What was paid for the line. */
  paid: number | null
  note: string
}

/** A payment that a customer is asked for on the phone. `dropped` is one that another has taken the place of. */
export interface PaymentRequest {
  order_id: string
  line: number
  sku: string
  amount: number
  state: 'open' | 'paid' | 'dropped'
}

/** What the shop told a customer by e-mail: one for each change, so that a change that is undone leaves two. */
export interface Mail {
  email: string
  order_id: string
  about: 'cancelled' | 'address changed' | 'refunded' | 'exchanged' | 'voucher applied'
}

/** Rows that a database is given at the start of an attempt. */
export interface Rows {
  customers: readonly Customer[]
  products: readonly Product[]
  orders: readonly Order[]
  lines: readonly Line[]
  payments: readonly Payment[]
  vouchers: readonly Voucher[]
  /** Products of which another number is left than usual. */
  left: readonly Pick<Product, 'sku' | 'stock'>[]
}

/** The tables by key, as they are compared. Of products there is the stock alone: no tool can write the rest. */
export interface Tables {
  customers: Record<string, Omit<Customer, 'email'>>
  stock: Record<string, number>
  orders: Record<string, Omit<Order, 'id'>>
  lines: Record<string, Omit<Line, 'order_id' | 'line'>>
  payments: Payment[]
  vouchers: Record<string, Omit<Voucher, 'code'>>
  tickets: Ticket[]
  mails: Mail[]
  requests: PaymentRequest[]
}

/** The tables that rows make before anybody has touched them, beside what `base` holds, whose rows they share. */
export function tablesOf(rows: Rows, base?: Tables): Tables {
  const tables: Tables = {
    customers: { ...base?.customers },
    stock: { ...base?.stock },
    orders: { ...base?.orders },
    lines: { ...base?.lines },
    payments: [...(base?.payments ?? []), ...rows.payments],
    vouchers: { ...base?.vouchers },
    tickets: [],
    mails: [],
    requests: [],
  }
  for (const { email, ...rest } of rows.customers) tables.customers[email] = rest
  for (const { sku, stock } of rows.products) tables.stock[sku] = stock
  for (const { id, ...rest } of rows.orders) tables.orders[id] = rest
  for (const { order_id, line, ...rest } of rows.lines) tables.lines[`${order_id}/${line}`] = rest
  for (const { code, ...rest } of rows.vouchers) tables.vouchers[code] = rest
  for (const { sku, stock } of rows.left) tables.stock[sku] = stock
  return tables
}
