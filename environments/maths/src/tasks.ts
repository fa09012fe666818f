import { createRng, type IndexedTasks } from 'quintain'
import { type GeneratorName, generatorNames, generators } from './generators.ts'
import type { Level, Problem } from './problem.ts'

/** What an agent may know of where a task comes from. */
export interface MathsData {
  /** `generated`, or the start of the digest of the file. */
  source: string
}

export interface MathsSecret {
  /** Gold answer in LaTeX. */
  answer: string
  /** How far the answer may be from being worked out; null where nothing is asked of its form. */
  form: 'worked_out' | null
}

/** Which tasks of the family: each name is one problem for good. */
export interface Family {
  generators: readonly GeneratorName[]
  level: Level | 'mixed'
  seed: number
  size: number
}

const levels = [1, 2, 3] as const

/** Nine of ten tasks are for training; the others are the split `test`. */
const splitAt = (index: number) => (index % 10 === 9 ? 'test' : 'train')

/** Tasks made on demand. The id says generator, level, seed and number, and these alone decide what the problem is. */
export function family({
  generators: names,
  level,
  seed,
  size,
}: Family): IndexedTasks<MathsData, MathsSecret> {
  return {
    size,
    at(index) {
      const generator = names[index % names.length]!
      const turn = Math.floor(index / names.length)
      const own = level === 'mixed' ? levels[turn % levels.length]! : level
      const { question, answer } = problemOf({ generator, level: own, seed, turn })
      return {
        id: `${generator}-${own}-${seed}-${String(turn).padStart(5, '0')}`,
        split: splitAt(turn + generatorNames.indexOf(generator)),
        prompt: question,
        data: { source: 'generated' },
        secret: { answer, form: 'worked_out' },
        tags: [generator, `level-${own}`],
        licence: 'Apache-2.0',
      }
    },
  }
}

/** The problem that a place in the family has. */
export function problemOf({
  generator,
  level,
  seed,
  turn,
}: {
  generator: GeneratorName
  level: Level
  seed: number
  turn: number
}): Problem {
  return generators[generator](createRng(`maths/${generator}/${level}/${seed}/${turn}`), level)
}
