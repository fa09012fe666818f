import { expect, test } from 'vitest'
import type { Model } from '../core/index.ts'
import { packageOf } from './__fixtures__/package-of.ts'
import { recorded } from './__fixtures__/recorded.ts'

function questions(count: number): Promise<string> {
  return packageOf(`export default environment({
  tasks: Array.from({ length: ${count} }, (_, at) => ({ id: 't' + at, prompt: 'question ' + at })),
  rewards: { right: ({ task, transcript }) => Number(transcript.answer === 'answer to ' + task.prompt) },
})`)
}

test('a model that throws at once, outside any promise, is a fault and does not end the process', async () => {
  const model: Model = {
    id: 'broken',
    generate() {
      throw new TypeError('no such thing')
    },
  }
  const run = await recorded(await questions(2), { model }, { workers: 1, maxTries: 1 })
  expect(run.states.map(({ status }) => status)).toEqual(['faulted', 'faulted'])
  expect(run.states[0]!.chosen!.outcome).toBeNull()
})

test('answers to a burst of calls that take turns find their way back', async () => {
  let open = 0
  let mostOpen = 0
  const model: Model = {
    id: 'late',
    async generate({ messages }) {
      mostOpen = Math.max(mostOpen, ++open)
      // All wait for each other, and the last that came is answered first.
      while (mostOpen < 300) await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, open-- % 7))
      return {
        message: { role: 'assistant', content: `answer to ${String(messages.at(-1)!.content)}` },
        finish: 'stop',
      }
    },
  }
  const run = await recorded(await questions(300), { model }, { workers: 2, concurrency: 300 })
  expect(mostOpen).toBe(300)
  expect(run.states.map(({ chosen }) => chosen?.verdict?.reward)).toEqual(Array(300).fill(1))
})
