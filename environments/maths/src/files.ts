import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { QuintainError, readRows, type TaskInput } from 'quintain'
import { extractAnswer } from 'quintain/scoring'
import { z } from 'zod'
import type { MathsData, MathsSecret } from './tasks.ts'

const scalar = z.union([z.string(), z.number()]).transform(String)
const row = z.object({
  id: scalar.optional(),
  problem: z.string().optional(),
  question: z.string().optional(),
  answer: scalar.optional(),
  solution: z.string().optional(),
  level: scalar.optional(),
  type: z.string().optional(),
  subject: z.string().optional(),
})

/**
 * The tasks of a file of problems: JSON lines, a JSON list, or CSV with a header, by the end of its name. A row has
 * `problem` (or `question`) and `answer`, or a `solution` whose last `\boxed{…}` is the answer.
 *
 * Reads when the first task is asked for. Throws `tasks_invalid` with the place and what to do.
 */
export async function* problemsOf(
  path: string,
): AsyncGenerator<TaskInput<MathsData, MathsSecret>, void, undefined> {
  const file = resolve(path)
  const { rows, problems } = await readRows(file)
  const [first] = problems
  if (first !== undefined) throw invalid(`${path}, row ${first.row + 1}: ${first.message}`)
  if (rows.length === 0) throw invalid(`${path} holds no problem.`)
  const source = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12)
  const split = /train/.test(basename(file)) ? 'train' : 'test'
  for (const [index, value] of rows.entries()) {
    const { id, prompt, answer, tags } = problem(value, `${path}, row ${index + 1}`)
    yield {
      id: id ?? `${split}-${String(index).padStart(5, '0')}`,
      split,
      prompt,
      data: { source },
      secret: { answer, form: null },
      ...(tags.length === 0 ? {} : { tags }),
    }
  }
}

function problem(value: unknown, place: string) {
  const shape =
    'expected { "problem": text, "answer": text } or { "problem": text, "solution": text with \\boxed{…} }'
  const parsed = row.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalid(`${place}: ${shape}; ${issue?.path.join('.') || 'the row'}: ${issue?.message}.`)
  }
  const { id, answer: given, solution, level, type, subject } = parsed.data
  const prompt = parsed.data.problem ?? parsed.data.question
  if (prompt === undefined || prompt.trim() === '') throw invalid(`${place}: there is no problem; ${shape}.`)
  const boxed = solution === undefined ? null : extractAnswer(solution, { kind: 'boxed' }).answer
  const answer = given?.trim() || boxed
  if (!answer) throw invalid(`${place}: there is no answer; ${shape}.`)
  const tags = [type ?? subject, level === undefined ? undefined : `level-${level.replace(/^level\s*/i, '')}`]
  return { id, prompt, answer, tags: tags.filter((tag) => tag !== undefined) }
}

function invalid(message: string): QuintainError {
  return new QuintainError('tasks_invalid', message)
}
