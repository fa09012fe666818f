import { expect, test } from 'vitest'
import { mostNesting } from '../core/json-depth.ts'
import { nestsDeep } from './nesting.ts'

const json = (depth: number) =>
  JSON.parse(`${'{"a":[1,'.repeat(depth / 2)}0${']}'.repeat(depth / 2)}`) as unknown

test('what a model may send can be said again; what outgrows a stack is told without one', () => {
  expect(nestsDeep(json(mostNesting + 20))).toBe(false)
  expect(nestsDeep(json(200_000))).toBe(true)
  expect(nestsDeep(Array.from({ length: 100_000 }, () => ({})))).toBe(false)
  expect([5, null, 'text', [], {}].map(nestsDeep)).toEqual([false, false, false, false, false])
})
