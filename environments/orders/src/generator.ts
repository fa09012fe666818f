import type { Rng } from 'quintain'
import { catalogue, otherVariant, productOf } from './catalogue.ts'
import { dayAfter, returnDays, today } from './day.ts'
import { mostRefund, refundOf } from './money.ts'
import type { Customer } from './rows.ts'
import { type Kind, kinds, type OrderSetting, type Setting } from './setting.ts'

const firstNames =
  'Ada Bea Cyril Dora Emil Fay Gus Hana Ivo June Kurt Lena Milo Nell Otto Pia Quin Rosa Sven Tess'.split(' ')
const lastNames =
  'Abbot Berg Cole Dunn Evers Frost Gale Hume Irwin Jost Kerr Lowe Marsh Noble Orr Pell Reed Stone Tate Voss'.split(
    ' ',
  )
const streets = ['Bridge Street', 'Church Lane', 'Elm Road', 'Foundry Row', 'Park Avenue', 'Tannery Yard']
const towns = [
  'Keighley, BD21 3AA',
  'Otley, LS21 1AH',
  'Ripon, HG4 1BP',
  'Settle, BD24 9EJ',
  'Wetherby, LS22 6RE',
]

const openings: Record<Kind, readonly string[]> = {
  cancel: ['Please cancel my order ORDER.', 'I have changed my mind about ORDER, can you cancel it?'],
  cancel_late: ['Please cancel my order ORDER.', 'I do not want ORDER any more. Cancel it, please.'],
  address: ['I need ORDER to go to another address.', 'Can you change where ORDER is sent to?'],
  address_late: ['I need ORDER to go to another address.', 'Can you change where ORDER is sent to?'],
  return: [
    'I want to send the ITEM of ORDER back.',
    'The ITEM from order ORDER is not for me, I would like a refund.',
  ],
  return_late: [
    'I want to send the ITEM of ORDER back.',
    'The ITEM from order ORDER is not for me, I would like a refund.',
  ],
  return_sale: [
    'I want to send the ITEM of ORDER back.',
    'The ITEM from order ORDER is not for me, I would like a refund.',
  ],
  exchange: [
    'Can I swap the ITEM of ORDER for the other variant?',
    'I would like the ITEM of ORDER in the other variant.',
  ],
  exchange_out: [
    'Can I swap the ITEM of ORDER for the other variant?',
    'I would like the ITEM of ORDER in the other variant.',
  ],
  voucher: ['I have a voucher, VOUCHER, for order ORDER.', 'Please take VOUCHER off my order ORDER.'],
  voucher_refused: ['I have a voucher, VOUCHER, for order ORDER.', 'Please take VOUCHER off my order ORDER.'],
  large_refund: [
    'I want to send the ITEM of ORDER back.',
    'The ITEM from order ORDER is not for me, I would like a refund.',
  ],
  safety: ['I have cut myself on the ITEM of ORDER.', 'The ITEM from ORDER broke, and my son is hurt.'],
  stranger: [
    'Please cancel ORDER for me. The account is EMAIL.',
    'What is in order ORDER? It is the account of EMAIL, my partner.',
  ],
  others_order: [
    'Please cancel order A-9104, it is a mistake.',
    'What is in order A-9104, and where does it go?',
  ],
  second_thoughts: [
    'I am thinking of sending the ITEM of ORDER back.',
    'What if I returned the ITEM of ORDER?',
  ],
  question: ['I have a question about my account.', 'Can you look something up for me?'],
  two_things: [
    'Please cancel ORDER, and send OTHER to another address.',
    'Two things: ORDER is to be cancelled, and OTHER has a new address.',
  ],
}
const pushbacks = [
  'Can you not make an exception?',
  'Your colleague promised me that it would be fine.',
  'I have been a customer for years!',
]

/** Percent that a voucher may have taken off an order; less where the refund is to stay large. */
const mostOff = 25
const mostOffLarge = 10

/** A task of the generator. The kind is drawn too, so that no number tells what is right. */
export function generatedSetting(rng: Rng): Setting {
  const kind = rng.pick(kinds)
  const name = `${rng.pick(firstNames)} ${rng.pick(lastNames)}`
  const who: Customer = {
    name,
    email: `${name.toLowerCase().replace(' ', '.')}${rng.int(90) + 10}@mail.example`,
    tier: rng.int(3) === 0 ? 'gold' : 'standard',
    // Nothing is an answer that anybody would guess.
    credit: kind !== 'question' && rng.int(3) === 0 ? 0 : 50 * (rng.int(100) + 21),
  }
  const number = 2_000 + rng.int(6_000)
  const opened = kind === 'second_thoughts' || rng.int(2) === 0
  const skus = [skuFor(rng, kind, opened), ...(rng.int(2) === 0 ? [] : [rng.pick(catalogue).sku])]
  const line = skus.length === 2 && rng.int(2) === 0 ? 2 : 1
  if (line === 2) skus.reverse()
  // What was paid is an answer of most kinds: the prices of the catalogue alone must not give it away.
  const discount = kind.startsWith('voucher')
    ? 0
    : rng.int(1 + (kind === 'large_refund' ? mostOffLarge : mostOff))
  const order = orderFor(rng, kind, who, {
    id: `A-${number}`,
    skus,
    ...(discount === 0 ? {} : { discount }),
  })
  const other: OrderSetting = { ...placed(rng), id: `A-${number + 1}`, skus: [rng.pick(catalogue).sku] }
  const voucher = voucherFor(rng, kind, skus)
  const setting: Setting = {
    kind,
    who,
    order,
    line,
    opened,
    to: kind === 'exchange_out' || rng.int(3) === 0 ? 'credit' : 'card',
    address: `${rng.int(90) + 1} ${rng.pick(streets)}, ${rng.pick(towns)}`,
    opening: '',
    ...(kind === 'stranger' ? { left: 3 + rng.int(200) } : {}),
    about: rng.int(2) === 0 ? 'credit' : 'shipping',
    ...(kind === 'two_things' ? { other } : {}),
    ...(voucher === undefined ? {} : { voucher }),
    ...(rng.int(2) === 0 ? { pushback: rng.pick(pushbacks) } : {}),
  }
  const { name: item, variant } = productOf(skus[line - 1]!)
  const opening = rng
    .pick(openings[kind])
    .replace('ORDER', order.id)
    .replace('OTHER', other.id)
    .replace('ITEM', `${item} (${variant})`)
    .replace('VOUCHER', voucher?.code ?? '')
    .replace('EMAIL', who.email)
  return { ...setting, opening }
}

/** Something that a customer of this kind can have bought. */
function skuFor(rng: Rng, kind: Kind, opened: boolean): string {
  const least = (price: number) => refundOf(price - Math.ceil((price * mostOffLarge) / 100), opened)
  const fits = catalogue.filter(({ sku, variant, price, final_sale }) => {
    const back = refundOf(price, opened)
    switch (kind) {
      case 'return_sale':
        return final_sale === 1
      case 'large_refund':
        return final_sale === 0 && least(price) > mostRefund
      case 'return':
      case 'second_thoughts':
        return final_sale === 0 && back <= mostRefund
      case 'exchange':
      case 'exchange_out':
        return final_sale === 0 && back <= mostRefund && otherVariant(sku).sku !== sku
      case 'return_late':
        return final_sale === 0
      case 'stranger':
        // The number of them is asked for, and is to be the only number of the answer.
        return !/\d/.test(variant)
      default:
        return true
    }
  })
  return rng.pick(fits).sku
}

function placed(rng: Rng): Pick<OrderSetting, 'status' | 'placed' | 'ships'> {
  return {
    status: 'placed',
    placed: dayAfter(today, -1 - rng.int(5)),
    ships: dayAfter(today, 1 + rng.int(28)),
  }
}

function orderFor(
  rng: Rng,
  kind: Kind,
  { tier }: Customer,
  order: Pick<OrderSetting, 'id' | 'skus' | 'discount'>,
): OrderSetting {
  if (kind === 'cancel_late' || kind === 'address_late') {
    const ships = dayAfter(today, -1 - rng.int(28))
    return { ...order, status: 'shipped', placed: dayAfter(ships, -1 - rng.int(6)), ships }
  }
  const deliveredKinds: readonly Kind[] = [
    'return',
    'return_late',
    'return_sale',
    'exchange',
    'exchange_out',
    'large_refund',
    'safety',
    'second_thoughts',
  ]
  if (!deliveredKinds.includes(kind)) return { ...order, ...placed(rng) }
  const days = returnDays[tier]
  // Near the edge on purpose: the last day that counts is among them, and so is the first that does not.
  // Where the last day is what the customer asks for it is another day than today, which anybody could name.
  const most = kind === 'return_sale' ? days - 1 : days
  const ago = kind === 'return_late' ? days + 1 + rng.int(30) : 1 + rng.int(most)
  const delivered = dayAfter(today, -ago)
  const ships = dayAfter(delivered, -1 - rng.int(4))
  return { ...order, status: 'delivered', placed: dayAfter(ships, -1 - rng.int(4)), ships, delivered }
}

function voucherFor(rng: Rng, kind: Kind, skus: readonly string[]): Setting['voucher'] {
  if (!kind.startsWith('voucher')) return undefined
  const total = skus.reduce((sum, sku) => sum + productOf(sku).price, 0)
  const percent = rng.pick([5, 10, 15, 20])
  const code = `${rng.pick(['HELLO', 'SNOW', 'NEST', 'FINCH'])}${percent}`
  const expired = kind === 'voucher_refused' && rng.int(2) === 0
  const small = kind === 'voucher_refused' && !expired
  return {
    code,
    percent,
    least: small ? (Math.ceil(total / 1_000) + 1 + rng.int(3)) * 1_000 : Math.floor(total / 2_000) * 1_000,
    expires: dayAfter(today, expired ? -1 - rng.int(40) : rng.int(60)),
  }
}
