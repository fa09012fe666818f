import { createRng } from 'quintain'
import type { Range } from './game.ts'

/** The fewest numbers of a range: six guesses tell 63 apart. */
const narrowest = 40

/** Every range inside 0 to 99 that is wide enough, in one fixed order. */
function everyRange(): Range[] {
  const ranges: Range[] = []
  for (let low = 0; low + narrowest <= 100; low++) {
    for (let high = low + narrowest - 1; high < 100; high++) ranges.push({ low, high })
  }
  return createRng('higher-lower').shuffle(ranges)
}

/**
 * `draws` tasks for each range, each with a number of its own. A range is of one split only, so that a test asks for ranges
 * that nothing was trained on. Within a split every range comes once before any comes again.
 */
export function tasksOf({ draws, seed }: { draws: number; seed: number }) {
  const ranges = everyRange()
  const test = Math.floor(ranges.length / 4)
  const validation = test + Math.floor(ranges.length / 10)
  const splits = {
    test: ranges.slice(0, test),
    validation: ranges.slice(test, validation),
    train: ranges.slice(validation),
  }
  return Object.entries(splits).flatMap(([split, own]) =>
    Array.from({ length: draws }, () => own)
      .flat()
      .map((range, i) => {
        const id = `${split}-${seed}-${String(i).padStart(4, '0')}`
        const number = range.low + createRng(`higher-lower/${id}`).int(range.high - range.low + 1)
        return { id, split, data: range, secret: { number } }
      }),
  )
}
