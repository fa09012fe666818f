import { readFileSync } from 'node:fs'
import { createRng, type Observation, type Script } from 'quintain'
import { describe, expect, test } from 'vitest'
import { HigherLowerGame } from './game.ts'
import higherLower from './index.ts'
import { bisection, counting, random, uniform } from './policies.ts'
import { tasksOf } from './tasks.ts'
import { teacherGames } from './teacher-games.ts'

const tasks = tasksOf({ draws: 4, seed: 0 })
const game = (secret: number) => new HigherLowerGame({ secret, range: { low: 20, high: 75 }, maxGuesses: 6 })

function play(policy: (player: Parameters<typeof uniform>[0]) => Script, task: (typeof tasks)[number]) {
  const played = new HigherLowerGame({ secret: task.secret.number, range: task.data, maxGuesses: 6 })
  const script = policy({ range: task.data, rng: createRng(task.id) })
  let seen: Observation = { text: played.open(), messages: [], results: [] }
  for (;;) {
    const step = script.next(seen)
    if (step instanceof Promise || step.done === true) break
    const turn = played.reply(String(step.value))
    seen = { ...seen, text: String(turn.content) }
    if (turn.done !== undefined) break
  }
  return played.finish()
}

describe('a game', () => {
  test('shows the range, answers higher and lower, and is won by the number', () => {
    const played = game(33)
    expect(played.open()).toBe('20-75')
    expect(['25', ' 40 ', '33'].map((said) => played.reply(said))).toEqual([
      { content: 'higher' },
      { content: 'lower' },
      { content: 'right', done: 'won' },
    ])
    expect(played.finish().guesses).toEqual([
      { number: 25, low: 20, high: 75 },
      { number: 40, low: 26, high: 75 },
      { number: 33, low: 26, high: 39 },
    ])
  })

  test.each(['', '7', '033', '3 3', 'thirty', '-5', '３３'])(
    '%j is not two digits, and uses up a guess',
    (said) => {
      const played = game(33)
      for (let i = 0; i < 5; i++) expect(played.reply(said)).toEqual({ content: '?' })
      expect(played.reply(said)).toEqual({ content: '?', done: 'lost' })
    },
  )

  test('a guess outside of what is left is answered, and does not make it wider', () => {
    const played = game(33)
    expect(['10', '99', '50', '60'].map((said) => played.reply(said).content)).toEqual([
      'higher',
      'lower',
      'lower',
      'lower',
    ])
    played.reply('33')
    expect(played.finish().guesses.at(-1)).toEqual({ number: 33, low: 20, high: 49 })
  })

  test('a lost game does not tell the number', () => {
    const played = game(33)
    const said = Array.from({ length: 6 }, () => played.reply('32').content)
    expect(said.join(' ')).not.toContain('33')
    expect(played.finish().end).toBe('lost')
  })
})

describe('tasks', () => {
  test('each range is of one split, every range is at least forty numbers, and the number is one of them', () => {
    const splits = new Map<string, Set<string>>()
    for (const { split, data, secret } of tasks) {
      expect(data.high - data.low).toBeGreaterThanOrEqual(39)
      expect(secret.number).toBeGreaterThanOrEqual(data.low)
      expect(secret.number).toBeLessThanOrEqual(data.high)
      const name = `${data.low}-${data.high}`
      splits.set(name, (splits.get(name) ?? new Set()).add(split))
    }
    expect(splits.size).toBe(1891)
    expect([...splits.values()].every((of) => of.size === 1)).toBe(true)
    const inTest = [...splits.values()].filter((of) => of.has('test')).length
    expect(inTest / splits.size).toBeCloseTo(0.25, 2)
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length)
  })

  test('the first tasks of a split are ranges apart, and every number comes up', () => {
    const first = tasks.filter(({ split }) => split === 'test').slice(0, 400)
    expect(new Set(first.map(({ data }) => `${data.low}-${data.high}`)).size).toBe(400)
    expect(new Set(tasks.map(({ secret }) => secret.number)).size).toBe(100)
  })

  test('an id names the same number for good, and another seed asks for others in the same split', () => {
    const named = new Map(tasks.map((task) => [task.id, task]))
    expect(named.get('test-0-0000')).toMatchInlineSnapshot(`
      {
        "data": {
          "high": 87,
          "low": 36,
        },
        "id": "test-0-0000",
        "secret": {
          "number": 85,
        },
        "split": "test",
      }
    `)
    const other = tasksOf({ draws: 4, seed: 7 })
    expect(other.map(({ split, data }) => [split, data])).toEqual(
      tasks.map(({ split, data }) => [split, data]),
    )
    expect(other.map(({ secret }) => secret)).not.toEqual(tasks.map(({ secret }) => secret))
  })
})

test('the players stand in the order of what they look at', () => {
  const some = tasks.filter(({ split }) => split === 'test').slice(0, 400)
  const wins = (policy: typeof uniform) =>
    some.filter((task) => play(policy, task).end === 'won').length / some.length
  expect(wins(bisection)).toBeGreaterThan(0.88)
  expect(wins(uniform)).toBeGreaterThan(0.42)
  expect(wins(uniform)).toBeLessThan(0.57)
  expect(wins(counting)).toBeGreaterThan(0.22)
  expect(wins(counting)).toBeLessThan(0.35)
  expect(wins(random)).toBeLessThan(0.1)
})

describe('rewards', () => {
  const { rewards, metrics } = higherLower.definition
  const context = (state: unknown) => ({ state, options: { maxGuesses: 6, bonus: 0.1 } })
  const reward = rewards['game'] as (context: unknown) => number
  const after = (...said: string[]) => {
    const played = game(33)
    for (const one of said) played.reply(one)
    return context(played.finish())
  }

  test('a win pays a tenth for each guess that was not needed, anything else nothing', () => {
    expect(reward(after('33'))).toBeCloseTo(1.5, 12)
    expect(reward(after('40', 'x', '33'))).toBeCloseTo(1.3, 12)
    expect(reward(after('40', '41', '42', '43', '44', '33'))).toBe(1)
    expect(reward(after('40', '32'))).toBe(0)
    expect(reward(after())).toBe(0)
  })

  test('guesses outside are counted, and the distance from the middle is of those inside', () => {
    const value = (name: string, of: unknown) => (metrics![name] as (context: unknown) => number | null)(of)
    // 20 to 75: the middle is 47.5 of 56 numbers; 10 is outside.
    expect(value('outside', after('48', '10'))).toBe(0.5)
    expect(value('fromMiddle', after('48', '10'))).toBeCloseTo(0.5 / 56, 12)
    expect(value('fromMiddle', after())).toBeNull()
  })
})

describe('the file of games', () => {
  const file = readFileSync(new URL('../training/games.jsonl', import.meta.url), 'utf8')

  test('is what the script writes, byte for byte', () => {
    expect(`${teacherGames({ games: 1_000, seed: 'games' }).join('\n')}\n`).toBe(file)
  })

  test('is of ranges of training alone', () => {
    const train = new Set(
      tasks.filter(({ split }) => split === 'train').map(({ data }) => `${data.low}-${data.high}`),
    )
    for (const line of file.trimEnd().split('\n')) {
      const { messages } = JSON.parse(line) as { messages: { content: string }[] }
      const [low, high] = messages[0]!.content.split('-').map(Number)
      expect(train).toContain(`${low}-${high}`)
    }
  })
})
