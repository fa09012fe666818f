import { createRng } from 'quintain'
import { HigherLowerGame } from './game.ts'
import { counting } from './policies.ts'
import { tasksOf } from './tasks.ts'

/**
 * Games as `counting` plays them, a chat line each, on ranges of the split `train` alone: what a policy is warmed up on.
 * Equal seeds give equal bytes. `reward` and `success` are those of the environment.
 *
 * The system message is left out: the renderer of `vocabulary.json` leaves it out too.
 */
export function teacherGames({ games, seed }: { games: number; seed: string }): string[] {
  const rng = createRng(seed)
  const train = tasksOf({ draws: 4, seed: 0 }).filter(({ split }) => split === 'train')
  const order = rng.shuffle(train)
  return Array.from({ length: games }, (_, i) => {
    const { data: range, secret } = order[i % order.length]!
    const game = new HigherLowerGame({ secret: secret.number, range, maxGuesses: 6 })
    const script = counting({ range, rng: rng.fork(i) })
    const messages = [{ role: 'user', content: game.open() }]
    let text = messages[0]!.content
    for (;;) {
      const { value } = script.next({ text, messages: [], results: [] })
      if (value === undefined) throw new Error('the teacher ran out of numbers')
      messages.push({ role: 'assistant', content: value })
      const { content, done } = game.reply(value)
      text = String(content)
      // Nobody answers to the end of a game, so it would teach nothing.
      if (done !== undefined) break
      messages.push({ role: 'user', content: text })
    }
    const { end, guesses } = game.finish()
    const success = end === 'won'
    return JSON.stringify({ messages, reward: success ? 1 + 0.1 * (6 - guesses.length) : 0, success })
  })
}
