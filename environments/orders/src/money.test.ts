import fc from 'fast-check'
import { expect, test } from 'vitest'
import { centsOf, euros, percentOf, refundOf } from './money.ts'

test('amounts are written with two decimals and grouped', () => {
  expect([0, 5, 2480, 125_000, 123_456_789, -4_964].map(euros)).toEqual([
    '0.00 EUR',
    '0.05 EUR',
    '24.80 EUR',
    '1,250.00 EUR',
    '1,234,567.89 EUR',
    '-49.64 EUR',
  ])
})

test('an amount in euros is whole cents, or none', () => {
  fc.assert(fc.property(fc.nat({ max: 10_000_000 }), (cents) => centsOf(cents / 100) === cents))
  expect([0.001, 49.645, Number.NaN, Infinity, 1e300].map(centsOf)).toEqual(Array(5).fill(undefined))
})

test('halves go up, and an opened item loses 15 %', () => {
  expect([percentOf(50, 15), percentOf(58_40, 15), percentOf(10, 15)]).toEqual([8, 8_76, 2])
  expect([refundOf(58_40, true), refundOf(58_40, false)]).toEqual([49_64, 58_40])
})
