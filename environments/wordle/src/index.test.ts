import { createRng, type ErasedDefinition, type Message, noSandbox, textOf, virtualClock } from 'quintain'
import { describe, expect, test } from 'vitest'
import wordle, { type GameState, profiles } from './index.ts'
import { marksIn } from './policies.ts'
import { wordsOf } from './words.ts'

interface TaskOf {
  id: string
  split: string
  secret: { word: string }
}

async function optionsOf(given: Record<string, unknown> = {}) {
  const result = await wordle.definition.options!['~standard'].validate(given)
  if (result.issues !== undefined) throw new Error(result.issues[0]!.message)
  return result.value as Record<string, never>
}

async function tasksOf(given: Record<string, unknown> = {}): Promise<TaskOf[]> {
  const tasks = wordle.definition.tasks as (context: { options: unknown }) => TaskOf[]
  return tasks({ options: await optionsOf(given) })
}

/** Plays a script against a fresh world, as the chat harness does. */
async function play(policy: string, task: TaskOf, given: Record<string, unknown> = {}) {
  const definition: ErasedDefinition = wordle.definition
  const options = await optionsOf(given)
  const rng = createRng(task.id)
  const context = {
    options,
    rng,
    clock: virtualClock(),
    sandbox: noSandbox,
    signal: new AbortController().signal,
  }
  const world = await definition.world!({ ...task, data: undefined }, context)
  const messages: Message[] = []
  const observe = (content: string) => {
    messages.push({ role: 'user', content })
    return { text: content, messages, results: [] }
  }
  let observation = observe(textOf(await world.open!('agent')))
  const { secret, ...seen } = task
  const script =
    policy === 'oracle'
      ? definition.oracle!({
          task: { ...seen, secret, data: undefined },
          options,
          rng,
          observation,
          tools: [],
        })
      : definition.policies![policy]!({
          task: { ...seen, data: undefined },
          options,
          rng,
          observation,
          tools: [],
        })
  let step = await script.next(observation)
  let done: string | undefined
  while (step.done !== true && done === undefined) {
    messages.push({ role: 'assistant', content: step.value as string })
    const turn = await world.reply!(step.value as string, 'agent')
    done = turn.done
    observation = observe(textOf(turn.content))
    if (done === undefined) step = await script.next(observation)
  }
  const state = (await world.finish()) as GameState
  const game = definition.rewards['game'] as (context: unknown) => number
  const reward = game({ task, state, options, transcript: { messages } })
  return { reward, state, done, messages }
}

describe('tasks', () => {
  test('every common word is one task, no word is in both splits, and each can be guessed', async () => {
    const tasks = await tasksOf()
    const words = (split: string) =>
      tasks.filter((task) => task.split === split).map((task) => task.secret.word)
    expect(words('test').length).toBeGreaterThan(200)
    expect(words('train').length).toBeGreaterThan(200)
    expect(new Set(tasks.map((task) => task.secret.word)).size).toBe(tasks.length)
    expect(new Set(tasks.map((task) => task.id)).size).toBe(tasks.length)
    for (const { secret } of tasks) expect(wordsOf(5).isLegal(secret.word)).toBe(true)
  })

  test('an id names the same word for good', async () => {
    const tasks = new Map((await tasksOf()).map((task) => [task.id, task.secret.word]))
    expect(['test-0-000', 'test-0-001', 'train-0-000'].map((id) => tasks.get(id))).toMatchInlineSnapshot(`
      [
        "basis",
        "event",
        "mayor",
      ]
    `)
    expect(await tasksOf()).toEqual(await tasksOf())
  })

  test('another seed deals the same words to other tasks, and moves none to the other split', async () => {
    const [zero, seven] = [await tasksOf(), await tasksOf({ seed: 7 })]
    const words = (tasks: TaskOf[], split: string) =>
      tasks.filter((task) => task.split === split).map((task) => task.secret.word)
    expect(words(seven, 'test')).not.toEqual(words(zero, 'test'))
    expect(words(seven, 'test').sort()).toEqual(words(zero, 'test').sort())
  })

  test.each([4, 5, 6])(
    'nothing public tells a word of %d letters: not the task, not its place, not what is said first',
    async (wordLength) => {
      const definition = wordle.definition
      const tasks = await tasksOf({ wordLength })
      const system = definition.system as (context: { options: unknown }) => string
      const every = Object.keys(profiles).map((profile) => optionsOf({ wordLength, profile }))
      const systems = (await Promise.all(every)).map((options) => system({ options })).join(' ')
      const options = await optionsOf({ wordLength })
      let inOrder = 0
      for (const [i, { secret, ...seen }] of tasks.entries()) {
        const context = {
          options,
          rng: createRng('x'),
          clock: virtualClock(),
          sandbox: noSandbox,
          signal: AbortSignal.any([]),
        }
        const world = await definition.world!({ ...seen, secret, data: undefined }, context)
        const said = [...Object.values(seen), textOf(await world.open!('agent')), systems].join(' ')
        expect(said.toLowerCase().match(/[a-z]+/g)).not.toContain(secret.word)
        if (i > 0 && secret.word > tasks[i - 1]!.secret.word) inOrder++
      }
      // About half of the neighbours of a shuffled list are in order; of a sorted one, all.
      expect(inOrder / tasks.length).toBeGreaterThan(0.4)
      expect(inOrder / tasks.length).toBeLessThan(0.6)
    },
  )

  test('a lost game does not tell the word either', async () => {
    for (const task of (await tasksOf()).slice(0, 50)) {
      const { state, messages } = await play('random', task)
      if (state.end === 'won') continue
      const said = messages.map((message) => textOf(message.content)).join('\n')
      expect(said.toLowerCase().replaceAll(' ', '')).not.toContain(task.secret.word)
    }
  })

  test.each([4, 6, 7, 8])('words of %d letters can be played too', async (wordLength) => {
    const tasks = await tasksOf({ wordLength })
    expect(tasks.length).toBeGreaterThan(100)
    for (const task of tasks.slice(0, 5)) {
      expect((await play('oracle', task, { wordLength })).reward).toBe(1)
      expect((await play('solver', task, { wordLength })).state.invalid).toBe(0)
    }
  })
})

test.each([{ profile: 'v0' }, { partial: 1 }, { maxGuesses: 0 }, { wordLength: 5.5 }])(
  'options %j are refused',
  async (given) => {
    await expect(optionsOf(given)).rejects.toThrow()
  },
)

describe('codes', () => {
  const given = { game: 'code' }

  test('every combination is one task, and two fifths are kept for the test', async () => {
    const tasks = await tasksOf(given)
    const count = (split: string) => tasks.filter((task) => task.split === split).length
    expect(new Set(tasks.map((task) => task.secret.word)).size).toBe(1296)
    expect({ test: count('test'), validation: count('validation'), train: count('train') }).toEqual({
      test: 518,
      validation: 129,
      train: 649,
    })
    const words = (of: TaskOf[]) => of.filter((task) => task.split === 'test').map((task) => task.secret.word)
    expect(words(await tasksOf({ ...given, seed: 7 })).sort()).toEqual(words(tasks).sort())
  })

  test('nothing that is said first holds a code', async () => {
    const system = wordle.definition.system as (context: { options: unknown }) => string
    const said = `${system({ options: await optionsOf(given) })} Guess.`.toLowerCase()
    for (const { secret } of await tasksOf(given)) expect(said).not.toContain(secret.word)
  })

  test('the players stand in the order of what they look at', async () => {
    const tasks = (await tasksOf(given)).slice(0, 250)
    const wins: Record<string, number> = {}
    for (const policy of ['oracle', 'solver', 'filter', 'greys', 'greens', 'random']) {
      const games = await Promise.all(tasks.map((task) => play(policy, task, given)))
      expect(games.filter(({ done }) => done === undefined)).toEqual([])
      expect(games.reduce((sum, { state }) => sum + state.invalid, 0)).toBe(0)
      wins[policy] = games.filter(({ state }) => state.end === 'won').length / tasks.length
    }
    expect(wins['oracle']).toBe(1)
    expect(wins['solver']).toBeGreaterThan(0.99)
    expect(wins['filter']).toBeGreaterThan(0.95)
    expect(wins['greys']).toBeGreaterThan(0.6)
    expect(wins['greys']).toBeLessThan(0.77)
    expect(wins['greens']).toBeGreaterThan(0.3)
    expect(wins['greens']).toBeLessThan(0.46)
    expect(wins['random']).toBeLessThan(0.03)
  })

  test('what is not asked for has the usual numbers of its game', async () => {
    expect(await optionsOf(given)).toMatchObject({ wordLength: 4, maxGuesses: 5, partial: 0, bonus: 0.1 })
    expect(await optionsOf()).toMatchObject({ wordLength: 5, maxGuesses: 6, partial: 0.2, bonus: 0 })
    expect(await optionsOf(await optionsOf({ ...given, maxGuesses: 8 }))).toMatchObject({ maxGuesses: 8 })
  })

  test.each([
    [{ profile: 'textarena' }, /published word games/],
    [{ wordLength: 6 }, /4 or 5 letters/],
    [{ terse: false }, /always answered tersely/],
  ])('%j is of words only', async (other, says) => {
    await expect(optionsOf({ ...given, ...other })).rejects.toThrow(says)
  })
})

describe('policies', () => {
  test.each(Object.keys(profiles))('the oracle wins with its first guess under %s', async (profile) => {
    for (const task of (await tasksOf()).slice(0, 30)) {
      const { reward, state } = await play('oracle', task, { profile })
      expect(state).toMatchObject({ end: 'won', guesses: [{ word: task.secret.word, marks: 'GGGGG' }] })
      expect(reward).toBeGreaterThanOrEqual(1)
    }
  })

  test.each(Object.keys(profiles))('under %s solver beats filter beats random', async (profile) => {
    const tasks = (await tasksOf()).slice(0, 100)
    const wins: Record<string, number> = {}
    for (const policy of ['solver', 'filter', 'random']) {
      const games = await Promise.all(tasks.map((task) => play(policy, task, { profile })))
      expect(games.filter((game) => game.done === undefined)).toEqual([])
      expect(games.reduce((sum, { state }) => sum + state.invalid, 0)).toBeLessThan(5)
      wins[policy] = games.filter((game) => game.state.end === 'won').length
    }
    expect(wins['solver']).toBeGreaterThanOrEqual(99)
    expect(wins['filter']).toBeGreaterThan(60)
    expect(wins['filter']).toBeLessThan(99)
    expect(wins['random']).toBeLessThan(10)
  })

  test('a policy plays a task the same way every time', async () => {
    const [task] = await tasksOf()
    for (const policy of ['random', 'filter', 'solver']) {
      expect(await play(policy, task!)).toEqual(await play(policy, task!))
    }
  })

  test('a solver that meets a word outside its list stops, and does not guess for ever', async () => {
    const task = { id: 'x', split: 'test', secret: { word: 'zesty' } }
    expect(wordsOf(5).secrets).not.toContain('zesty')
    const { state } = await play('solver', task, { maxGuesses: 20 })
    expect(state.end).not.toBe('won')
    expect(state.guesses.length).toBeLessThan(20)
  })

  test('marks are read from the last row that has any', () => {
    expect(marksIn('S L A T E\nX X G X G\nYou have 5 guesses left.')).toBe('XXGXG')
    expect(marksIn('aXfYaGdY')).toBe('XYGY')
    expect(marksIn('Not a valid guess.')).toBeUndefined()
    expect(marksIn('?')).toBeUndefined()
  })
})
