import { InvalidArgumentError } from 'commander'
import { type Duration, didYouMean, type Limits, messageOf, QuintainError, toMs } from '../core/index.ts'
import type { Price } from '../models/index.ts'

/** A whole number of at least `least`; anything else is a usage error of the option. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) < least || !Number.isSafeInteger(Number(text))) {
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`)
    }
    return Number(text)
  }
}

/** A port; 0 stands for any that is free. */
export function portNumber(text: string): number {
  const port = wholeNumber(0)(text)
  if (port > 65_535) throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return port
}

/** The address of a service. */
export function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:\/\//i.test(text)) return text
  throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8000.')
}

/** A number between `least` and `most`. */
export function numberBetween(least: number, most = Number.POSITIVE_INFINITY): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (!(value >= least && value <= most) || !Number.isFinite(value)) {
      const range = Number.isFinite(most) ? `from ${least} to ${most}` : `of at least ${least}`
      throw new InvalidArgumentError(`It must be a number ${range}.`)
    }
    return value
  }
}

/** A share: `0.95` or `95%`. */
export function share(text: string): number {
  const percent = /^(.*)%$/.exec(text.trim())
  return percent ? numberBetween(0, 100)(percent[1]!) / 100 : numberBetween(0, 1)(text)
}

/** What a rate or a mean reward is held against: any number, or a share in per cent. */
export function threshold(text: string): number {
  const [, number = text, percent] = /^(.*?)\s*(%)$/.exec(text.trim()) ?? []
  const value = number.trim() === '' ? Number.NaN : Number(number)
  if (!Number.isFinite(value)) {
    throw new InvalidArgumentError('It must be a number such as 0.8, or a share such as 80%.')
  }
  return percent === undefined ? value : value / 100
}

/** A change of a rate: `5%`, `0.05`, or points as a number from one. */
export function change(text: string): { share: number; text: string } {
  const value = threshold(text)
  const share = value >= 1 && !text.includes('%') ? value / 100 : value
  if (!(share > 0 && share <= 1)) throw new InvalidArgumentError('It must be a change such as 5%, 5 or 0.05.')
  return { share, text }
}

/** Gathers an option that may be given often. */
export function collect(text: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), text]
}

const limitNames = {
  turns: 'turns',
  tokens: 'tokens',
  cost: 'costUsd',
  wall: 'wall',
  tool: 'tool',
  grade: 'grade',
} as const satisfies Record<string, keyof Limits>

/**
 * Limits as they are typed: `turns=8,wall=2m,cost=0.5`. Throws `limits_invalid` and suggests the nearest name.
 */
export function parseLimits(texts: readonly string[]): Limits {
  const limits: Limits = {}
  const complain = (message: string): never => {
    throw new QuintainError('limits_invalid', `--limit ${message}`)
  }
  for (const pair of texts.flatMap((text) => text.split(','))) {
    if (pair.trim() === '') continue
    const [, name = '', value = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
    if (name === '') complain(`${JSON.stringify(pair)}: write name=value, such as turns=8 or wall=2m.`)
    if (!Object.hasOwn(limitNames, name)) {
      complain(
        `${JSON.stringify(name)} is no limit${didYouMean(name, Object.keys(limitNames))} Limits: ${Object.keys(limitNames).join(', ')}.`,
      )
    }
    const field = limitNames[name as keyof typeof limitNames]
    if (field === 'wall' || field === 'tool' || field === 'grade') {
      const duration = (/^\d+(\.\d+)?$/.test(value) ? `${value}s` : value) as Duration
      toMs(duration, `--limit ${name}`)
      limits[field] = duration
    } else {
      const number = value === '' ? Number.NaN : Number(value)
      const whole = field === 'costUsd' || Number.isInteger(number)
      if (!(number > 0) || !Number.isFinite(number) || !whole) {
        complain(
          `${name}=${value}: ${field === 'costUsd' ? 'a number' : 'a whole number'} above zero is needed.`,
        )
      }
      limits[field] = number
    }
  }
  return limits
}

/**
 * Options of an environment as they are typed: `maxGuesses=8`, `profile=textarena`, `words=["a"]`. A value that is JSON is
 * taken as JSON, any other as text.
 */
export function parseOptions(texts: readonly string[]): Record<string, unknown> {
  const options: Record<string, unknown> = {}
  for (const text of texts) {
    const at = text.indexOf('=')
    if (at < 1) {
      throw new QuintainError('usage', `--option ${JSON.stringify(text)}: write key=value.`, {
        facts: { text },
      })
    }
    const name = text.slice(0, at)
    const raw = text.slice(at + 1)
    let value: unknown = raw
    try {
      value = JSON.parse(raw)
    } catch (error) {
      // Text that begins like JSON and is none is a slip, not a text.
      if (/^[[{"]/.test(raw)) {
        throw new QuintainError('usage', `--option ${name}: the value is not JSON: ${messageOf(error)}`, {
          facts: { name },
        })
      }
    }
    Object.defineProperty(options, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return options
}

/** `--seat user=script:polite` as a record. */
export function parseSeats(texts: readonly string[]): Record<string, string> {
  const seats: Record<string, string> = {}
  for (const text of texts) {
    const [, seat, policy] = /^([^=]+)=(.+)$/.exec(text) ?? []
    if (seat === undefined || policy === undefined) {
      throw new QuintainError('usage', `--seat ${JSON.stringify(text)}: write seat=policy.`)
    }
    seats[seat] = policy
  }
  return seats
}

/** `--judge gpt-4o=gpt-5-mini` as a record; a model alone is for every judge. */
export function parseJudges(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, judge = '*', model] = /^(?:([^=]*)=)?(.*)$/s.exec(text) ?? []
      if (judge === '' || model === undefined || model === '')
        throw new QuintainError('usage', `--judge ${JSON.stringify(text)}: write judge=model, or a model.`)
      return [judge, model]
    }),
  )
}

const priceNames = { in: 'input', out: 'output', cached: 'cacheRead' } as const

/** A price, and the model that it is for where it says so. */
export interface GivenPrice {
  model?: string
  price: Price
}

/** `in=0.15,out=0.60`, or `MODEL:in=0.15,out=0.60`; gathers an option that may be given often. */
export function collectPrices(text: string, previous: readonly GivenPrice[] | undefined): GivenPrice[] {
  const [, model, price = text] = /^(?:(.+):)?((?:in|out|cached)=.*)$/.exec(text) ?? []
  return [...(previous ?? []), { ...(model === undefined ? {} : { model }), price: parsePrice(price) }]
}

/** `in=0.15,out=0.60,cached=0.02`: US dollars per million tokens; `in` and `out` must be there. */
export function parsePrice(text: string): Price {
  const price: Partial<Price> = {}
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=')
    const dollars = Number(value)
    if (!Object.hasOwn(priceNames, name) || value.trim() === '' || !(dollars >= 0)) {
      throw new InvalidArgumentError(
        `Write in=0.15,out=0.60 or in=0.15,out=0.60,cached=0.02; ${JSON.stringify(part)} is none of these.`,
      )
    }
    price[priceNames[name as keyof typeof priceNames]] = dollars
  }
  const { input, output } = price
  if (input === undefined || output === undefined) throw new InvalidArgumentError('Give both in= and out=.')
  return { ...price, input, output }
}
