import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecretRuns } from './secret-runs.ts'

test('however a text is cut, no secret is told whole, and nothing else is taken out', () => {
  // Few letters, so that beginnings of secrets overlap with themselves and each other.
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 30 })
  const secrets = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 3, maxLength: 6 }), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(secrets, fc.array(letters, { maxLength: 8 }), (given, pieces) => {
      const runs = createSecretRuns(given)()
      const told = pieces.map((piece) => runs.clean('place', piece)).join('')
      for (const secret of given) expect(told).not.toContain(secret)
      if (!given.some((secret) => pieces.join('').includes(secret))) expect(told).toBe(pieces.join(''))
    }),
    { numRuns: 1000 },
  )
})

test('places are apart', () => {
  const runs = createSecretRuns(['secret'])()
  expect(runs.clean('one', 'sec')).toBe('sec')
  expect(runs.clean('two', 'ret')).toBe('ret')
  expect(runs.clean('one', 'ret!')).toBe('***!')
})
