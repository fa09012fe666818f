import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codesOf } from './codes.ts'
import { feedback, type Guess } from './game.ts'
import { type Habit, habitsOf } from './habits.ts'
import { options } from './options.ts'
import { tasksOf } from './tasks.ts'
import { codeGames } from './teacher-games.ts'

const file = readFileSync(new URL('../training/code-games.jsonl', import.meta.url), 'utf8')
const games = file
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { messages: { role: string; content: string }[]; reward: number })

/** The codes that could be the secret of a game, by what it shows: the last guess of a won one, else all that agree. */
function possible({ messages, reward }: (typeof games)[number]): string[] {
  const said = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)
  if (reward > 0) return said.slice(-1)
  const shown = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  return codesOf(4).secrets.filter((code) =>
    said.every((word, i) => {
      const marks = shown[i + 1]?.replace(/[a-f]/g, '')
      return marks === undefined ? word !== code : feedback(word, code) === marks
    }),
  )
}

test('the file is what the script writes, byte for byte', () => {
  expect(`${codeGames(options.parse({ game: 'code' })).join('\n')}\n`).toBe(file)
})

test('no secret of the validation or the test split is played', () => {
  const train = new Set<string>()
  for (const { split, secret } of tasksOf(options.parse({ game: 'code' }))) {
    if (split === 'train') train.add(secret.word)
  }
  expect(train.size).toBe(649)
  for (const game of games) expect(possible(game).some((code) => train.has(code))).toBe(true)
  for (const game of games.filter(({ reward }) => reward > 0)) expect(train).toContain(possible(game)[0])
})

test('the teacher is as good and as bad as it is said to be', () => {
  const wins = games.filter(({ reward }) => reward > 0).length / games.length
  expect(wins).toBeGreaterThan(0.35)
  expect(wins).toBeLessThan(0.42)
  const habits = games.flatMap(({ messages }) => {
    const said = messages.filter(({ role }) => role === 'assistant')
    const shown = messages.filter(({ role }) => role === 'user').slice(1)
    const guesses: Guess[] = said.map(({ content }, i) => ({
      word: content,
      marks: shown[i]?.content.replace(/[a-f]/g, '') ?? '',
    }))
    return habitsOf(guesses)
  })
  const share = (habit: keyof Habit) => habits.filter((one) => one[habit]).length / habits.length
  expect(share('yellowIgnored')).toBeGreaterThan(0.5)
  expect(share('repeated')).toBeGreaterThan(0.05)
})
