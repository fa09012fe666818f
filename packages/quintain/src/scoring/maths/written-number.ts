import { rational } from './rational.ts'
import type { Node } from './syntax.ts'
import { Unreadable } from './unreadable.ts'

/** A decimal as it is written, such as `12`, `.5` and `1e3`; undefined for what is none, or too long. */
export function decimal(text: string): Node | undefined {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole === '' && fraction === '') return undefined
  const shift = Number(exponent) - fraction.length
  if (Math.abs(shift) > 5_000) return undefined
  const digits = BigInt(whole + fraction)
  const power = 10n ** BigInt(Math.abs(shift))
  return { kind: 'number', value: shift >= 0 ? rational(digits * power) : rational(digits, power) }
}

/** 0.1\overline{6}. */
export function repeating(text: string, period: string): Node {
  const [, whole = '0', fixed = ''] = /^(\d*)\.(\d*)$/.exec(text) ?? []
  if (!/^\d{1,200}$/.test(period)) throw new Unreadable()
  const nines = 10n ** BigInt(period.length) - 1n
  const scale = 10n ** BigInt(fixed.length)
  const start = BigInt(`${whole || '0'}${fixed}`)
  return { kind: 'number', value: rational(start * nines + BigInt(period), scale * nines) }
}
