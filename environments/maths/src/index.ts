import { resolve } from 'node:path'
import { environment, type RewardContext } from 'quintain'
import { extractAnswer, type MathReason, scoreMath } from 'quintain/scoring'
import { z } from 'zod'
import { problemsOf } from './files.ts'
import { workedOut } from './form.ts'
import { type GeneratorName, generatorNames } from './generators.ts'
import { family, type MathsData, type MathsSecret } from './tasks.ts'

export { type GeneratorName, generatorNames, generators } from './generators.ts'
export { mutants, rewritings, type Variant } from './mutations.ts'
export type { Generator, Level, Problem } from './problem.ts'
export { problemOf } from './tasks.ts'

const options = z.object({
  /** Which generators take turns. All of them when absent. */
  generators: z
    .array(z.enum(generatorNames as [GeneratorName, ...GeneratorName[]]))
    .min(1)
    .default([...generatorNames]),
  /** 1 is easy; `mixed` goes through the three in turn. */
  level: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal('mixed')]).default('mixed'),
  /** Another seed makes other tasks, with other ids. */
  seed: z.int().default(0),
  /** How many generated tasks there are. */
  size: z.int().min(1).max(10_000_000).default(1_600),
  /** A file of problems, in place of the generators. */
  file: z.string().min(1).optional(),
})
type Options = z.infer<typeof options>
type Context = RewardContext<Options, MathsData, MathsSecret, unknown>

interface Ruling {
  value: 0 | 1
  extracted: string | null
  reason?: MathReason | string
}

/** What the boxed answer is worth. A gold answer of a file that cannot be read as mathematics is compared as text. */
function ruling({ task, transcript }: Context): Ruling | null {
  const { answer: gold, form } = task.secret
  const found = extractAnswer(transcript.answer, { kind: 'boxed' })
  if (found.answer === null) return { value: 0, extracted: null, reason: found.reason }
  const extracted = found.answer
  const scored = scoreMath({ gold, answer: extracted })
  if (scored.score === null) return null
  if (scored.score === 0) return { value: 0, extracted, reason: scored.reason }
  if (form === 'worked_out' && !workedOut(gold, extracted))
    return { value: 0, extracted, reason: 'not_worked_out' }
  return { value: 1, extracted }
}

const boxed = (answer: string) => `\\boxed{${answer}}`

export default environment({
  options,
  system:
    'Solve the problem. Think step by step, work the answer out exactly and in simplest form, and write it in LaTeX as ' +
    '\\boxed{answer} at the end.',
  tasks: ({ options: { file, ...generated } }) => (file === undefined ? family(generated) : problemsOf(file)),
  needs: [],
  permissions: ({ options: { file } }) => (file === undefined ? {} : { read: [resolve(file)] }),

  rewards: {
    correct: (context) => {
      const found = ruling(context)
      if (found === null) throw new Error(`the gold answer of task ${context.task.id} cannot be read`)
      const { value, ...explain } = found
      return { value, explain }
    },
  },
  metrics: {
    /** 1 where a complete box was found. */
    format: ({ transcript }) => Number(extractAnswer(transcript.answer, { kind: 'boxed' }).answer !== null),
  },
  success: ({ rewards }) => rewards.correct === 1,

  *oracle({ task }) {
    yield boxed(task.secret.answer)
  },
  policies: {
    *zero() {
      yield boxed('0')
    },
    *one() {
      yield boxed('1')
    },
    /** Says the first formula of the question again: it often has the value that is asked for. */
    *echo({ task }) {
      const text = typeof task.prompt === 'string' ? task.prompt : ''
      yield boxed(/\$([^$]+)\$/.exec(text)?.[1] ?? '')
    },
  },
  floor: ['noop', 'zero', 'one', 'echo'],
})
