import type { Observation, Rng, Script } from 'quintain'
import { feedback, type Guess } from './game.ts'
import { habitsOf } from './habits.ts'
import type { Words } from './words.ts'

interface Player {
  words: Words
  /** Writes a guess as the environment wants it. */
  say(word: string): string
}

/** The marks that the environment's last message shows, in a row or after the letters; undefined when it shows none. */
export function marksIn(observation: string): string | undefined {
  const rows = observation.match(/^(?:[GYX](?: [GYX])+|(?:[a-z][GYX])+)$/gm)
  return rows?.at(-1)?.replace(/[^GYX]/g, '')
}

/** Guesses any legal word, whatever the marks say. */
export function* random({ words, rng, say }: Player & { rng: Rng }): Script {
  for (;;) yield say(rng.pick(words.legal))
}

/**
 * A player with a bad habit. It keeps greens where they are and leaves out letters that were only ever grey, and is otherwise
 * random: yellow marks it never looks at, a grey square of a letter that was coloured elsewhere it may fill with it again,
 * and it may make a guess twice.
 */
export function* greens({ words, rng, say }: Player & { rng: Rng }): Generator<string, never, Observation> {
  const guesses: Guess[] = []
  for (;;) {
    const green = new Map<number, string>()
    const coloured = new Set<string>()
    const grey = new Set<string>()
    for (const { word, marks } of guesses) {
      for (const [at, letter] of [...word].entries()) {
        if (marks[at] === 'G') green.set(at, letter)
        if (marks[at] === 'X') grey.add(letter)
        else coloured.add(letter)
      }
    }
    const fits = (word: string) =>
      [...green].every(([at, letter]) => word[at] === letter) &&
      [...word].every((letter) => !grey.has(letter) || coloured.has(letter))
    const word = rng.pick(guesses.length === 0 ? words.legal : words.legal.filter(fits))
    const marks = marksIn((yield say(word)).text)
    if (marks !== undefined) guesses.push({ word, marks })
  }
}

/** `greens` without its slips: no letter stands twice where it was grey, and no guess is made twice. Yellow it never looks at. */
export function* greys({ words, rng, say }: Player & { rng: Rng }): Script {
  const guesses: Guess[] = []
  let possible = words.legal
  while (possible.length > 0) {
    const word = rng.pick(possible)
    const marks = marksIn((yield say(word)).text)
    if (marks !== undefined) guesses.push({ word, marks })
    const green = [...(marks ?? '')].flatMap((mark, at) => (mark === 'G' ? [at] : []))
    possible = possible.filter((next) => {
      const habit = habitsOf([...guesses, { word: next, marks: '' }]).at(-1)
      return next !== word && green.every((at) => next[at] === word[at]) && habit?.greyReused !== true
    })
  }
}

/** Guesses any legal word that agrees with all marks so far. It does not know which words are common. */
export function* filter({ words, rng, say }: Player & { rng: Rng }): Script {
  let possible = words.legal
  while (possible.length > 0) {
    const guess = rng.pick(possible)
    const marks = marksIn((yield say(guess)).text)
    possible = possible.filter((word) =>
      marks === undefined ? word !== guess : feedback(guess, word) === marks,
    )
  }
}

/**
 * Guesses the secret word that is expected to tell most: the one whose marks split what is still possible with the
 * greatest entropy (Shannon information; the usual greedy solver). It knows the list of secrets, as a person who has
 * played for a while does.
 */
export function* solver({ words, say }: Player): Script {
  const table = tableOf(words)
  let possible: readonly number[] = table.words.map((_, i) => i)
  let history = ''
  while (possible.length > 0) {
    const guess = table.best(history, possible)
    const marks = marksIn((yield say(table.words[guess]!)).text)
    const seen = marks === undefined ? undefined : codeOf(marks)
    possible = possible.filter((i) =>
      seen === undefined ? i !== guess : table.code(guess, i) === seen && i !== guess,
    )
    history += `/${seen ?? '-'}`
  }
}

/** Marks as a number to base 3. */
function codeOf(marks: string): number {
  let code = 0
  for (const mark of marks) code = 3 * code + 'XYG'.indexOf(mark)
  return code
}

interface Table {
  words: readonly string[]
  /** The marks that guess `guess` gets when the secret is `secret`. */
  code(guess: number, secret: number): number
  /** The guess to make after a history of marks, which decides what is possible. */
  best(history: string, possible: readonly number[]): number
}

const tables = new WeakMap<Words, Table>()

/** The marks of every secret against every other, and the guesses found so far. Made once per process. */
function tableOf(list: Words): Table {
  const found = tables.get(list)
  if (found !== undefined) return found
  const words = list.secrets
  const size = words.length
  const codes = new Uint16Array(size * size)
  for (let guess = 0; guess < size; guess++) {
    for (let secret = 0; secret < size; secret++) {
      codes[guess * size + secret] = codeOf(feedback(words[guess]!, words[secret]!))
    }
  }
  const counts = new Uint16Array(3 ** (words[0]?.length ?? 0))
  /** Sum of n·log2(n) over the groups into which a guess splits `possible`: the information that it leaves open. */
  const open = (guess: number, possible: readonly number[]): number => {
    const row = guess * size
    for (const secret of possible) counts[codes[row + secret]!]!++
    let bits = 0
    for (const secret of possible) {
      const group = counts[codes[row + secret]!]!
      counts[codes[row + secret]!] = 0
      if (group > 1) bits += group * Math.log2(group)
    }
    return bits
  }
  // A game is a path in one tree of guesses, the same for every game, so each node is worked out once.
  const chosen = new Map<string, number>()
  const table: Table = {
    words,
    code: (guess, secret) => codes[guess * size + secret]!,
    best(history, possible) {
      const known = chosen.get(history)
      if (known !== undefined) return known
      // Of two guesses that tell as much, the one that can be right comes first.
      let best = possible[0]!
      let least = open(best, possible)
      for (const guess of possible) {
        const bits = open(guess, possible)
        if (bits < least) [best, least] = [guess, bits]
      }
      for (let guess = 0; guess < size && possible.length > 2; guess++) {
        const bits = open(guess, possible)
        if (bits < least) [best, least] = [guess, bits]
      }
      chosen.set(history, best)
      return best
    },
  }
  tables.set(list, table)
  return table
}
