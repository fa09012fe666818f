// Type tests: `tsc` checks this file; every @ts-expect-error must be an error.
import { z } from 'zod'
import { environment } from './environment.ts'
import type { HarnessContext } from './harness.ts'

class Counter {
  count = 0
  reply(text: unknown) {
    this.count += String(text).length
    return { content: 'ok', done: 'counted' }
  }
  finish() {
    return { count: this.count, solved: this.count > 3 }
  }
}

export const flowing = environment({
  options: z.object({ maxGuesses: z.number().int().default(6) }),
  tasks: [{ id: 'a', prompt: 'go', data: { hint: 'x' }, secret: { word: 'crane' } }],
  limits: ({ options }) => ({ turns: options.maxGuesses, wall: '2m' }),
  world: async (task, { options, rng }) => {
    const seen: [string, string, number, number] = [
      task.secret.word,
      task.data.hint,
      options.maxGuesses,
      rng.next(),
    ]
    return seen.length > 0 ? new Counter() : new Counter()
  },
  rewards: {
    solved: ({ state }) => Number(state.solved),
    shaped: { weight: 0.5, reward: ({ state, task }) => state.count / task.secret.word.length },
  },
  metrics: { guesses: ({ state }) => state.count },
  success: ({ rewards, metrics }) => rewards.solved === 1 && (metrics.guesses ?? 0) > 0,
  *oracle({ task }) {
    const seen = yield task.secret.word
    seen.text.toUpperCase()
  },
  policies: {
    *short({ task, observation }) {
      yield task.data.hint + observation.text
      // @ts-expect-error a policy sees no secret
      yield task.secret.word
    },
  },
})

environment({
  tasks: [{ id: 'a', secret: { word: 'x' } }],
  world: () => new Counter(),
  // @ts-expect-error a reward that returns a string
  rewards: { solved: ({ state }) => `${state.count}` },
})

environment({
  tasks: [{ id: 'a' }],
  rewards: { one: () => 1 },
  // @ts-expect-error a misspelt field
  metrcs: {},
})

environment({
  options: z.object({ maxGuesses: z.number() }),
  tasks: [{ id: 'a' }],
  // @ts-expect-error a misspelt option
  limits: ({ options }) => ({ turns: options.maxGueses }),
  rewards: { one: () => 1 },
})

environment({
  tasks: [{ id: 'a' }],
  world: () => new Counter(),
  // @ts-expect-error the state has no such field
  rewards: { one: ({ state }) => state.nothing },
})

export function readsSecret(context: HarnessContext<{ hint: string }>) {
  // @ts-expect-error a harness sees no secret
  return context.task.secret
}
