import { describe, expect, test } from 'vitest'
import { createTableLearner } from './__fixtures__/table-engine.ts'
import { chatRenderer } from './chat-renderer.ts'
import { demonstrationOf } from './demonstrations.ts'
import type { Learner } from './engine.ts'
import { type Example, examplesOf, examplesOfPreferences, withReference } from './examples.ts'
import { type ImitateOptions, type ImitationStep, imitate } from './imitate.ts'
import { preferenceOf } from './preferences.ts'
import { recipe } from './recipes.ts'

const renderer = chatRenderer({ vocabulary: ['a', 'b', 'c'] })
const context = 32
const learnerOf = () => createTableLearner({ vocabulary: renderer.vocabulary, context })

/** Answers `b` to `a` and `c` to `b`. */
const pairs = [
  ['a', 'b'],
  ['b', 'c'],
] as const
const chat = (asked: string, said: string) => [
  { role: 'user', content: asked },
  { role: 'assistant', content: said },
]
const { examples } = examplesOf(
  Array.from({ length: 10 }, (_, i) => {
    const [asked, said] = pairs[i % 2]!
    return demonstrationOf({ messages: chat(asked, said) }, `games.jsonl:${i + 1}`)
  }),
  renderer,
  { context },
)
const algorithm = recipe('sft', { groups: 4, adam: { learningRate: 0.3 } })

/** The likeliest answer. */
async function answer(learner: Learner, asked: string): Promise<string> {
  const sampler = await learner.sampler()
  const prompt = renderer.render([{ role: 'user', content: asked }])
  const { ids } = await sampler.sample({
    prompt,
    maxTokens: 4,
    temperature: 0,
    stop: renderer.stop,
    seed: '0',
  })
  const { message } = renderer.parse(ids)
  return typeof message.content === 'string' ? message.content : ''
}

async function imitated(more: Partial<ImitateOptions> = {}) {
  const learner = learnerOf()
  const steps: ImitationStep[] = []
  const end = await imitate({
    learner,
    algorithm,
    examples,
    epochs: 20,
    onStep: (one) => steps.push(one),
    ...more,
  })
  return { learner, steps, end }
}

describe('imitation', () => {
  test('learns what demonstrations say', async () => {
    const { learner, steps, end } = await imitated()
    expect(await answer(learner, 'a')).toBe('b')
    expect(await answer(learner, 'b')).toBe('c')
    expect(end).toMatchObject({ reason: 'done', steps: 50, epochs: 20 })
    expect(end.loss).toBeLessThan(0.2 * (steps[0]?.loss ?? 0))
    expect(steps.at(-1)).toMatchObject({ step: 50, progress: 1 })
  })

  test('the rate falls on a straight line to what the recipe leaves of it', async () => {
    const { steps } = await imitated()
    const rates = steps.map(({ learningRate }) => learningRate ?? 0)
    expect(rates[0]).toBe(0.3)
    expect(rates.at(-1)).toBeCloseTo(0.3 * (1 - 0.9 * (49 / 50)))
    expect(rates).toEqual(rates.toSorted((a, b) => b - a))
  })

  test('the same seed learns the same, another in another order', async () => {
    const losses = async (seed: string) => (await imitated({ seed })).steps.map(({ loss }) => loss)
    expect(await losses('1')).toEqual(await losses('1'))
    expect(await losses('1')).not.toEqual(await losses('2'))
  })

  test('every example comes once before any comes again', async () => {
    const seen: string[] = []
    const marked = examples.map(
      (example, i): Example => ({
        ...example,
        get data() {
          seen.push(String(i))
          return example.data
        },
      }),
    )
    await imitated({ examples: marked, steps: 5, epochs: 2 })
    expect(new Set(seen.slice(0, 10)).size).toBe(10)
  })

  test('measures what is held out, before, on the way and after', async () => {
    const { steps, end } = await imitated({ heldOut: examples.slice(0, 2) })
    const measured = steps.filter(({ heldOut }) => heldOut !== undefined)
    expect(measured[0]?.step).toBe(0)
    expect(measured.at(-1)?.step).toBe(50)
    expect(measured.length).toBe(11)
    // An untrained table is uniform.
    expect(end.heldOut?.before).toBeCloseTo(Math.log(renderer.vocabulary))
    expect(end.heldOut?.after).toBe(measured.at(-1)?.heldOut)
    expect(end.heldOut?.after).toBeLessThan(0.5)
  })

  test('goes on for so many seconds, and says that it was the time', async () => {
    const end = await imitate({ learner: learnerOf(), algorithm, examples, seconds: 0.05 })
    expect(end.reason).toBe('budget')
    expect(end.steps).toBeGreaterThan(0)
  })

  test('stops between steps when it is told to', async () => {
    const stop = new AbortController()
    const { end } = await imitated({
      signal: stop.signal,
      onStep: ({ step }) => step === 3 && stop.abort(),
    })
    expect(end).toMatchObject({ reason: 'cancelled', steps: 3 })
  })

  test('cut short, it measures what is held out with the weights that it leaves', async () => {
    const stop = new AbortController()
    const heldOut = examples.slice(0, 2)
    const { end } = await imitated({
      heldOut,
      signal: stop.signal,
      onStep: ({ step }) => step === 3 && stop.abort(),
    })
    const { end: whole } = await imitated({ heldOut, steps: 50, epochs: 20 })
    expect(end.heldOut?.after).toBeLessThan(end.heldOut!.before)
    expect(end.heldOut?.after).toBeGreaterThan(whole.heldOut!.after!)
  })

  test('told to stop at once, it does not say that it measured', async () => {
    const [soft, hard] = [new AbortController(), new AbortController()]
    const { end } = await imitated({
      heldOut: examples.slice(0, 2),
      signal: soft.signal,
      hardSignal: hard.signal,
      onStep({ step }) {
        if (step !== 3) return
        soft.abort()
        hard.abort()
      },
    })
    expect(end).toMatchObject({ reason: 'cancelled', steps: 3, heldOut: { after: null } })
  })

  test('nothing to imitate is refused', async () => {
    await expect(imitate({ learner: learnerOf(), algorithm, examples: [] })).rejects.toMatchObject({
      code: 'usage',
    })
  })

  test('a loss that is no number keeps the weights of the step before and names the examples', async () => {
    const learner = learnerOf()
    const real = learner.forwardBackward.bind(learner)
    let calls = 0
    learner.forwardBackward = (data, loss, operation) => {
      if (++calls < 3) return real(data, loss, operation)
      return real(
        data,
        () => ({
          loss: Number.NaN,
          gradients: data.map(({ target }) => new Float32Array(target.length)),
          metrics: {},
        }),
        operation,
      )
    }
    const end = await imitate({ learner, algorithm, examples, heldOut: examples.slice(0, 2), epochs: 20 })
    expect(end.heldOut?.after).toBeLessThan(end.heldOut!.before)
    expect(end).toMatchObject({ reason: 'not_finite', steps: 2, error: { code: 'not_finite' } })
    expect(end.says).toMatch(/step 3 .* games\.jsonl:\d+.*weights are those of step 2/)
    expect(learner.version).toBe(2)
  })
})

test('preferences make the better likelier than the worse', async () => {
  const learner = learnerOf()
  const found = examplesOfPreferences(
    Array.from({ length: 8 }, (_, i) =>
      preferenceOf(
        {
          prompt: chat('a', 'b').slice(0, 1),
          chosen: chat('a', 'c').slice(1),
          rejected: chat('a', 'b').slice(1),
        },
        `pairs:${i}`,
      ),
    ),
    renderer,
    { context },
  )
  const reference = await learner.sampler()
  const end = await imitate({
    learner,
    algorithm: recipe('dpo', { groups: 4, adam: { learningRate: 0.1 } }),
    examples: await withReference(found.examples, reference),
    epochs: 10,
  })
  expect(end.loss).toBeLessThan(Math.log(2))
  expect(await answer(learner, 'a')).toBe('c')
})
