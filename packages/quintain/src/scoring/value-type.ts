import { types } from 'node:util'
import { canonicalDateTime, dateOfText } from './calendar.ts'

/**
 * How a value is to be read before it is compared. A value that is no such thing is compared as what it is.
 *
 * - `datetime`: RFC 3339 text, or a Date; two spellings of one instant are equal. Without an offset it is a local time, equal to no instant.
 * - `date`: a calendar day, as `2026-03-01` or as people write it.
 * - `decimal`: a number, or text that is one: `"10.50"` is 10.5. For columns that hold exact decimals as text.
 */
export type ValueType = 'datetime' | 'date' | 'decimal'

export const valueTypes: readonly ValueType[] = ['datetime', 'date', 'decimal']

/** One form for all spellings of a value; undefined for a value that is no such thing. */
export function canonicalValue(type: ValueType, value: unknown): string | undefined {
  if (type === 'decimal') return canonicalDecimal(value)
  if (type === 'date') return typeof value === 'string' ? dateOfText(value) : undefined
  if (types.isDate(value))
    return Number.isNaN(value.getTime()) ? undefined : canonicalDateTime(value.toISOString())
  return typeof value === 'string' ? canonicalDateTime(value) : undefined
}

const decimalText = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,6}))?\s*$/i

/**
 * The exact value of a number or of decimal text as `-1234.5`: no exponent, no zeros that say nothing. Undefined for
 * what is neither. Digits are kept, so `"0.1"` and `"0.10000000000000000001"` differ.
 */
export function canonicalDecimal(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? canonicalDecimal(String(value)) : undefined
  if (typeof value !== 'string') return undefined
  const [whole, sign, before = '', after = '', exponent = '0'] = decimalText.exec(value) ?? []
  if (whole === undefined || before + after === '') return undefined
  const shift = Number(exponent)
  // A number that would take a page to write is left as its author wrote it.
  if (Math.abs(shift) > 400) return undefined
  const digits = before + after
  const point = before.length + shift
  const padded = digits.padStart(digits.length + Math.max(0, -point), '0').padEnd(Math.max(point, 0), '0')
  const cut = Math.max(point, 0)
  const integer = padded.slice(0, cut).replace(/^0+/, '') || '0'
  const fraction = padded.slice(cut).replace(/0+$/, '')
  const text = fraction === '' ? integer : `${integer}.${fraction}`
  return sign === '-' && text !== '0' ? `-${text}` : text
}
