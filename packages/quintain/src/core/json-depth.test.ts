import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostNesting, nestsTooDeep } from './json-depth.ts'

const nested = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels)

test('counts what is open at once, and nothing in strings', () => {
  expect(nestsTooDeep(nested(mostNesting))).toBe(false)
  expect(nestsTooDeep(nested(mostNesting + 1))).toBe(true)
  expect(nestsTooDeep(`${'{"a":'.repeat(mostNesting + 1)}1${'}'.repeat(mostNesting + 1)}`)).toBe(true)
  expect(nestsTooDeep(nested(1_000_000))).toBe(true)
  expect(nestsTooDeep(`[${'[],'.repeat(5_000)}1]`)).toBe(false)
  expect(nestsTooDeep(JSON.stringify(['['.repeat(5_000), '\\', '"[', '\\"']))).toBe(false)
})

test('says of no ordinary value that it is too deep', () => {
  fc.assert(fc.property(fc.json(), (json) => !nestsTooDeep(json)))
})
