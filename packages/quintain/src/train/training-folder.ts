import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { jsonProblem, messageOf, QuintainError } from '../core/index.ts'
import { checkVersion, type RunIssue, recordsOf } from '../core/run-folder.ts'
import { type StepLine, stepLine, type TrainingRecord, trainingRecord } from './records.ts'

/** Files of a training, beside those of the run that it is. */
export const trainingFiles = {
  training: 'train.json',
  steps: 'steps.jsonl',
  checkpoints: 'checkpoints',
  evals: 'evals',
} as const

/** A training as its folder says it. */
export interface TrainingFold {
  dir: string
  record: TrainingRecord
  /** Lines of `steps.jsonl` in the order in which they were written. */
  lines: StepLine[]
  /** What a reader met and did not stop at. */
  issues: RunIssue[]
}

/** Whether a folder is that of a training. */
export async function isTraining(dir: string): Promise<boolean> {
  return stat(join(dir, trainingFiles.training)).then(
    (found) => found.isFile(),
    () => false,
  )
}

/**
 * Reads `train.json`. Throws `run_not_found` for a folder that is no training, `run_corrupt` for a file that is no such record,
 * `run_too_new` and `journal_io`.
 */
export async function readTrainingRecord(dir: string): Promise<TrainingRecord> {
  const path = join(dir, trainingFiles.training)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new QuintainError(
        'run_not_found',
        `${dir} is no folder of a training: it has no ${trainingFiles.training}. Name what \`quintain train\` gave as --out.`,
        { cause, facts: { dir } },
      )
    throw new QuintainError('journal_io', `Reading ${path} failed: ${messageOf(cause)}`, {
      cause,
      facts: { path },
    })
  }
  let problem = ''
  try {
    const value: unknown = JSON.parse(text)
    checkVersion(value, trainingFiles.training)
    const found = trainingRecord.safeParse(value)
    if (found.success) return found.data
    const [issue] = found.error.issues
    problem = `${issue?.path.join('.')}: ${issue?.message}`
  } catch (error) {
    if (QuintainError.isInstance(error)) throw error
    problem = jsonProblem(error)
  }
  throw new QuintainError(
    'run_corrupt',
    `${path} is no record of a training (${problem}). Its checkpoints may be whole: name one (${trainingFiles.checkpoints}/…) to begin from.`,
    { facts: { path } },
  )
}

/**
 * Reads what a training wrote down of itself. A torn last line is an issue, not an error. Throws what `readTrainingRecord`
 * throws.
 */
export async function readTraining(dir: string): Promise<TrainingFold> {
  const record = await readTrainingRecord(dir)
  const lines: StepLine[] = []
  const issues: RunIssue[] = []
  const report = (what: RunIssue['what'], detail: string) =>
    issues.push({ file: trainingFiles.steps, what, detail })
  const path = join(dir, trainingFiles.steps)
  for await (const { value, line } of recordsOf(path, {
    onIssue: ({ kind, line, message }) =>
      report(
        kind === 'torn' ? 'torn_tail' : kind === 'nul_padding' ? 'nul_padding' : 'bad_line',
        `line ${line + 1}: ${message}`,
      ),
  })) {
    checkVersion(value, trainingFiles.steps)
    const found = stepLine.safeParse(value)
    if (found.success) lines.push(found.data)
    else report('bad_line', `line ${line + 1}: no record of a step, an evaluation or an end`)
  }
  return { dir, record, lines, issues }
}

/** Steps that a training is to make in all: those that it began with, or that it was last gone on with for. */
export function plannedSteps({ steps }: TrainingRecord, lines: readonly StepLine[]): number {
  const ends = lines.flatMap((line) => (line.kind === 'end' ? (line.steps ?? steps) : []))
  return ends.at(-1) ?? steps
}

/**
 * What stands of the lines: a step or evaluation that was written again by a resumed training counts once, as it was written
 * last, and an end that was gone on from is none.
 */
export function historyOf(lines: readonly StepLine[]): StepLine[] {
  const keyOf = (line: StepLine) =>
    line.kind === 'evaluation'
      ? `${line.role} ${line.split} ${line.step} ${line.temperature}`
      : line.kind === 'step'
        ? `step ${line.step}`
        : 'end'
  const standing = new Map<string, StepLine>()
  for (const line of lines) {
    if (line.kind !== 'end') standing.delete('end')
    standing.set(keyOf(line), line)
  }
  return [...standing.values()]
}
