import { daysIn, numbersIn, onlyValue } from 'quintain/scoring'

/** What a customer can want to be told, and the right answer. */
export interface Tell {
  kind: 'money' | 'day' | 'count' | 'rule' | 'order' | 'ticket'
  /** How the customer asks for it. */
  ask: string
  /** Cents, a day, a number of things, a rule, an order; for a ticket its number is only known once it was opened. */
  value?: string
}

const readers: Record<Tell['kind'], (text: string) => string[]> = {
  money(text) {
    const numbers = numbersIn(text).filter(({ percent }) => !percent)
    const amounts = numbers.filter(({ money }) => money)
    // "42" is an amount where nothing else in the message is one.
    return (amounts.length > 0 ? amounts : numbers).map(({ value }) =>
      String(Math.round(Number(value) * 100)),
    )
  },
  day: (text) => daysIn(text).map(({ date }) => date.slice(-5)),
  count: (text) =>
    numbersIn(text)
      .filter(({ percent, money }) => !percent && !money)
      .map(({ value }) => value),
  rule: (text) => Array.from(text.matchAll(/\b(?:R|rules?\s+R?)\s?(\d{1,2})\b/gi), (match) => `R${match[1]}`),
  order: (text) => Array.from(text.matchAll(/\bA-\d{4}\b/gi), (match) => match[0].toUpperCase()),
  ticket: (text) => Array.from(text.matchAll(/\bT-\d{5}\b/gi), (match) => match[0].toUpperCase()),
}

/** What a message says of a kind: nothing, one thing, or several. */
export function valuesIn(kind: Tell['kind'], text: string): { none: boolean; only: string | undefined } {
  const values = readers[kind](text)
  return { none: values.length === 0, only: onlyValue(values) }
}

/**
 * Whether the customer was told: the last message that names anything of the kind names the right thing, and nothing
 * else of the kind. Who lists every figure has told none of them.
 */
export function wasTold(tell: Tell, messages: readonly string[], ticket: string | undefined): boolean {
  const right = tell.kind === 'ticket' ? ticket : tell.kind === 'day' ? tell.value?.slice(-5) : tell.value
  const last = messages.findLast((text) => !valuesIn(tell.kind, text).none)
  return right !== undefined && last !== undefined && valuesIn(tell.kind, last).only === right
}
