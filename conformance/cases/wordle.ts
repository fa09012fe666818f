import wordle, { feedback, profiles, WordleGame } from '../../environments/wordle/src/index.ts'

type Input = Record<string, unknown>
interface WordleTask {
  secret: { word: string }
}

/** The games that one seed deals, in order; each call starts the next one in a fresh world. */
function dealer(seed: unknown): () => { word: string; seen: unknown } {
  const given = wordle.definition.options!['~standard'].validate({ seed })
  if (given instanceof Promise || given.issues !== undefined) throw new Error(`no seed: ${seed}`)
  const tasks = (wordle.definition.tasks as (context: { options: unknown }) => WordleTask[])({
    options: given.value,
  })
  let next = 0
  return () => {
    const { word } = tasks[next++ % tasks.length]!.secret
    const game = new WordleGame(word, { maxGuesses: 6, profile: profiles.default })
    return { word, seen: [game.reply('[crane]'), game.reply(`[${word}]`)] }
  }
}

/** What an environment with this seed deals first, after each of so many resets. */
function reset({ seed, repeats }: Input) {
  const first = Array.from({ length: Number(repeats) }, () => dealer(seed)().word)
  return { secrets: first, distinct_secrets: new Set(first).size }
}

/** Several environments, drawn from in the given order: each must deal what it deals when it is alone. */
function interleaved({ envs, seeds, order }: Input) {
  const given = Array.isArray(seeds) ? (seeds as unknown[]) : []
  const count = Math.max(Number(envs ?? 0), given.length, 1)
  const seedOf = (env: number) => given[env % Math.max(given.length, 1)] ?? env
  const together = Array.from({ length: count }, (_, env) => dealer(seedOf(env)))
  const dealt = together.map((): unknown[] => [])
  const names = [...new Set((order as unknown[] | undefined)?.map(String) ?? [])]
  for (const step of (order as unknown[] | undefined) ?? dealt.keys()) {
    // A step names its environment: by a number, or by a word of its own.
    const env = (Number(/\d+/.exec(String(step))?.[0] ?? names.indexOf(String(step))) || 0) % count
    dealt[env]!.push(together[env]!())
  }
  const alone = dealt.map((games, env) => {
    const deal = dealer(seedOf(env))
    return games.map(() => deal())
  })
  return { independent: JSON.stringify(dealt) === JSON.stringify(alone) }
}

function play({ secret, guesses, profile, max_guesses }: Input) {
  const chosen = profiles[(profile ?? 'default') as keyof typeof profiles]
  const game = new WordleGame(String(secret), { maxGuesses: Number(max_guesses ?? 6), profile: chosen })
  const messages: string[] = []
  let reason: string | undefined
  for (const guess of guesses as string[]) {
    const message = chosen.say(guess.toLowerCase())
    messages.push(message)
    reason = game.reply(message).done
    if (reason !== undefined) break
  }
  // A case knows a win and no win: what a lost game is worth in training is the environment's option.
  const word = String(secret).toLowerCase()
  const reward = chosen.reward({ game: game.finish(), secret: word, messages, partial: 0 })
  return { reward, done: reason !== undefined, reason: reason ?? null }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'wordle.feedback': ({ guess, secret }) => ({ feedback: feedback(String(guess), String(secret)) }),
  'wordle.play': play,
  'env.reset.seed': reset,
  'env.reset.seed.interleaved': interleaved,
}
