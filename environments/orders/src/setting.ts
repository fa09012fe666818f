import type { Customer, Order, Voucher } from './rows.ts'

/** What a customer comes with, and so what is right. Half of them end without a change. */
export const kinds = [
  'cancel',
  'cancel_late',
  'address',
  'address_late',
  'return',
  'return_late',
  'return_sale',
  'exchange',
  'exchange_out',
  'voucher',
  'voucher_refused',
  'large_refund',
  'safety',
  'stranger',
  'others_order',
  'second_thoughts',
  'question',
  'two_things',
] as const
export type Kind = (typeof kinds)[number]

/** An order of the customer's, as a task describes it. */
export interface OrderSetting extends Pick<Order, 'id' | 'status' | 'placed' | 'ships'> {
  delivered?: string
  address?: string
  skus: readonly string[]
  /** Percent that a voucher has already taken off. */
  discount?: number
}

/** A task as its author, or the generator, describes it: who comes, with what, and how things stand. */
export interface Setting {
  kind: Kind
  who: Customer
  /** The order that it is about. */
  order: OrderSetting
  /** Another order of the same customer. */
  other?: OrderSetting
  /** The line of the order that it is about, from 1. */
  line?: number
  /** The item has been used. */
  opened?: boolean
  /** Where the customer wants the money. */
  to?: 'card' | 'credit'
  /** The new address. */
  address?: string
  voucher?: Omit<Voucher, 'used'>
  /** How many the shop has left of the item. */
  left?: number
  /** What a customer who only has a question wants to know. */
  about?: 'credit' | 'shipping'
  /** The first thing that the customer says. */
  opening: string
  /** What the customer says once when refused. */
  pushback?: string
}
