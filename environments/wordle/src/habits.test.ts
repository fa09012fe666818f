import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codesOf } from './codes.ts'
import { feedback } from './game.ts'
import { habitsOf, shareOf } from './habits.ts'

const played = (secret: string, ...words: string[]) =>
  words.map((word) => ({ word, marks: feedback(word, secret) }))
const last = (secret: string, ...words: string[]) => habitsOf(played(secret, ...words)).at(-1)

describe('habits', () => {
  test('a yellow letter that is dropped, or played where it was yellow, is ignored', () => {
    // Of abcd against dabb: a and b are yellow, d too.
    expect(last('dabb', 'abcd', 'ceff')?.yellowIgnored).toBe(true)
    expect(last('dabb', 'abcd', 'adbe')?.yellowIgnored).toBe(true)
    expect(last('dabb', 'abcd', 'dabe')?.yellowIgnored).toBe(false)
  })

  test('a grey letter is reused where it was grey, or anywhere if it was never coloured', () => {
    // Of aabe against cdac: the second a, the b and the e are grey.
    expect(last('cdac', 'aabe', 'dabd')?.greyReused).toBe(true)
    expect(last('cdac', 'aabe', 'eddd')?.greyReused).toBe(true)
    expect(last('cdac', 'aabe', 'ddda')?.greyReused).toBe(false)
  })

  test('the first guess has no habits, and a game without a second one no share', () => {
    expect(habitsOf(played('abca', 'aabb'))).toEqual([])
    expect(shareOf(played('abca', 'abca'), 'repeated')).toBeNull()
    expect(shareOf(played('abca', 'aabb', 'aabb', 'bbbb'), 'repeated')).toBe(0.5)
  })

  test('a guess that could be the secret ignores nothing, and repeats nothing', () => {
    const code = fc.constantFrom(...codesOf(4).secrets)
    fc.assert(
      fc.property(code, fc.array(code, { minLength: 2, maxLength: 5 }), (secret, words) => {
        const before = words.filter((word) => word !== secret)
        for (const habit of habitsOf(played(secret, ...before, secret))) {
          if (habit.consistent) {
            expect(habit).toEqual({
              consistent: true,
              yellowIgnored: false,
              greyReused: false,
              repeated: false,
            })
          }
        }
        if (before.length > 0) expect(last(secret, ...before, secret)?.consistent).toBe(true)
      }),
    )
  })
})
