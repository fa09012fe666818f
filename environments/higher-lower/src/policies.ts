import type { Observation, Rng, Script } from 'quintain'
import { digits, type Range } from './game.ts'

interface Player {
  range: Range
  rng: Rng
}

/** A script that says texts, and can be played step by step. */
type Texts = Generator<string, void, Observation>

/** Says numbers that `choose` picks of those that are left. */
function* narrowing({ range, rng }: Player, choose: (left: Range, rng: Rng) => number): Texts {
  let left = range
  while (left.low <= left.high) {
    const number = choose(left, rng)
    const { text } = yield digits(number)
    if (text === 'higher') left = { low: Math.max(left.low, number + 1), high: left.high }
    else if (text === 'lower') left = { low: left.low, high: Math.min(left.high, number - 1) }
  }
}

const uniformly = ({ low, high }: Range, rng: Rng) => low + rng.int(high - low + 1)

/** Says any two digits, whatever it is told. */
export function* random({ rng }: Player): Script {
  for (;;) yield digits(rng.int(100))
}

/** A player with a bad habit: it counts up, from one of the lowest five of what is left; one guess in five is any of them. */
export function counting(player: Player): Texts {
  return narrowing(player, ({ low, high }, rng) =>
    rng.int(5) === 0 ? uniformly({ low, high }, rng) : uniformly({ low, high: Math.min(high, low + 4) }, rng),
  )
}

/** Guesses any number that is left. */
export function uniform(player: Player): Script {
  return narrowing(player, uniformly)
}

/** Guesses the middle of what is left: the fewest guesses that are enough for every number of a range. */
export function bisection(player: Player): Script {
  return narrowing(player, ({ low, high }) => (low + high) >> 1)
}
