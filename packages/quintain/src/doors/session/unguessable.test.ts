import { expect, test } from 'vitest'
import { unguessable } from './unguessable.ts'

test('every name is 192 bits, and another than all before it, also where the entropy is fetched anew', () => {
  const names = Array.from({ length: 1_000 }, unguessable)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[\w-]{32}$/)
  // No name is what the pool was wiped with, nor shares its beginning with the one before.
  expect(new Set(names.map((name) => name.slice(0, 8))).size).toBe(names.length)
})
