import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chatRenderer } from './chat-renderer.ts'
import { demonstrationOf } from './demonstrations.ts'
import { examplesOf } from './examples.ts'
import { distinctOf, holdOut } from './hold-out.ts'

const letters = 'abcdefghijklmnopqrst'
const renderer = chatRenderer({ vocabulary: [...letters] })

/** An example for each: what is said, and on which task. */
function examplesFor(played: readonly { said: number; task?: number | undefined }[]) {
  const demonstrations = played.map(({ said, task }, at) =>
    demonstrationOf(
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: letters[said] },
        ],
        ...(task === undefined ? {} : { task: `task-${task}` }),
      },
      `line ${at}`,
    ),
  )
  return examplesOf(demonstrations, renderer, { context: 16 }).examples
}

const said = ({ data }: ReturnType<typeof examplesFor>[number]) => data[0]!.target.join()

test('no task is on both sides, nor a conversation whose task is not known, whatever the share and the seed', () => {
  const played = fc.record({ said: fc.nat(19), task: fc.option(fc.nat(9), { nil: undefined }) })
  fc.assert(
    fc.property(
      fc.array(played, { minLength: 2, maxLength: 60 }),
      fc.double({ min: 0.01, max: 0.9, noNaN: true }),
      fc.string(),
      (all, share, seed) => {
        const examples = examplesFor(all)
        const own = (one: (typeof examples)[number]) => one.task ?? said(one)
        fc.pre(new Set(examples.map(own)).size > 1)
        const { learned, held, parts } = holdOut(examples, { share, seed })
        expect(learned.length + held.length).toBe(examples.length)
        expect(Math.min(learned.length, held.length)).toBeGreaterThan(0)
        expect(new Set(held.map(own)).size).toBe(parts)
        const learnedOf = new Set(learned.map(own))
        expect(held.filter((one) => learnedOf.has(own(one)))).toEqual([])
      },
    ),
  )
})

test('twenty tasks of four attempts each: one task is held out where nothing is said', () => {
  const examples = examplesFor(Array.from({ length: 80 }, (_, at) => ({ said: at % 3, task: at >> 2 })))
  expect(distinctOf(examples)).toBe(3)
  const { held, parts } = holdOut(examples)
  expect([held.length, parts, new Set(held.map(({ task }) => task)).size]).toEqual([4, 1, 1])
  expect(holdOut(examples, { seed: '1' }).held).not.toEqual(held)
})

test('nothing is held out of few examples or few conversations, unless that is asked for', () => {
  const alike = examplesFor(Array.from({ length: 80 }, (_, at) => ({ said: at % 5 })))
  expect(holdOut(alike)).toMatchObject({ held: [], parts: 0 })
  expect(holdOut(alike, { share: 0.1 })).toMatchObject({ parts: 1 })
  expect(holdOut(alike, { share: 0 })).toMatchObject({ held: [] })
  expect(() => holdOut(examplesFor([{ said: 1 }, { said: 1 }]), { share: 0.5 })).toThrow(
    /all 2 examples are of one task, or the same/,
  )
})
