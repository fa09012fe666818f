import { describe, expect, test } from 'vitest'
import type { Need } from '../../core/index.ts'
import { QuintainError } from '../../core/index.ts'
import type { ServedEnvironment } from '../session/session.ts'
import { plainDoor } from './__fixtures__/plain-door.ts'
import { checkDoor, unmetNeeds } from './check-door.ts'

const allNeeds = [
  'turns',
  'tools',
  'seats',
  'images',
  'groupRewards',
  'sandbox',
] as const satisfies readonly Need[]

function environmentWith(needs: readonly Need[]): ServedEnvironment {
  return {
    name: '@example/shop',
    version: '1.0.0',
    slug: 'shop',
    description: '',
    digest: 'd',
    needs,
    rewards: { done: 1 },
    metrics: [],
    success: true,
  }
}

function subsets<T>(of: readonly T[]): T[][] {
  return Array.from({ length: 2 ** of.length }, (_, bits) => of.filter((__, place) => (bits >> place) & 1))
}

describe('needs of an environment and what a door carries', () => {
  test('every combination is carried, or refused with what to do, or accepted by name', () => {
    const wrong: unknown[] = []
    let refused = 0
    for (const needs of subsets(allNeeds)) {
      for (const lacks of subsets(allNeeds)) {
        const door = plainDoor({ lacks, losses: ['It loses a hat.'] })
        const environment = environmentWith(needs)
        const unmet = needs.filter((need) => lacks.includes(need))
        const strict = outcomeOf(() => checkDoor(door, environment, { lossy: false }))
        const lossy = outcomeOf(() => checkDoor(door, environment, { lossy: true }))
        const facts = { door: 'ors', environment: '@example/shop', needs: unmet }
        const told =
          Array.isArray(lossy) && lossy.length === unmet.length + 1 && lossy.at(-1) === 'It loses a hat.'
        const right =
          unmet.length === 0
            ? JSON.stringify(strict) === '["It loses a hat."]'
            : QuintainError.isInstance(strict) &&
              strict.code === 'needs_unmet' &&
              JSON.stringify(strict.facts) === JSON.stringify(facts)
        if (!told || !right || unmetNeeds(door, environment).join() !== unmet.join())
          wrong.push({ needs, lacks })
        if (unmet.length > 0) refused += 1
      }
    }
    expect(wrong).toEqual([])
    // For each need three of four pairs go together: all but needed and not carried.
    expect(refused).toBe(4 ** 6 - 3 ** 6)
  })

  test('what is lost has a sentence of its own for each need', () => {
    const door = plainDoor({ lacks: allNeeds })
    const sentences = checkDoor(door, environmentWith(allNeeds), { lossy: true })
    expect(new Set(sentences).size).toBe(allNeeds.length)
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z][^\n]+\.$/)
  })

  test('the refusal says which other door carries it, and what --lossy means', () => {
    const door = plainDoor({ name: 'ors', lacks: ['images', 'seats'] })
    const others = [
      door,
      plainDoor({ name: 'openenv' }),
      plainDoor({ name: 'hud', lacks: ['images'] }),
      plainDoor({ name: 'nemo-gym' }),
    ]
    const thrown = thrownBy(() =>
      checkDoor(door, environmentWith(['images', 'tools']), { lossy: false, others }),
    )
    expect(thrown.message).toBe(
      '@example/shop needs images, which the Plain ors door does not carry. Serve it by --door openenv or --door nemo-gym, or with --lossy, which means: images are left out, and a note stands in their place.',
    )
    const alone = thrownBy(() =>
      checkDoor(door, environmentWith(['images', 'seats']), { lossy: false, others: [door] }),
    )
    expect(alone.message).toContain('needs images and other seats than the agent')
    expect(alone.message).toContain('Serve it with --lossy')
  })
})

function outcomeOf(run: () => string[]): string[] | Error {
  try {
    return run()
  } catch (error) {
    return error as Error
  }
}

function thrownBy(run: () => string[]): Error {
  const outcome = outcomeOf(run)
  if (outcome instanceof Error) return outcome
  throw new Error('nothing was refused')
}
