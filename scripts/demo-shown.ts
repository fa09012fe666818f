// What the demo shows of a training beside what the commands print: its curve, games, habits.
import { join } from 'node:path'
import { foldRun, readTrajectory, textOf } from '../packages/quintain/src/core/index.ts'
import { summarize } from '../packages/quintain/src/report/index.ts'
import type { EvaluationRecord } from '../packages/quintain/src/train/records.ts'
import { historyOf, readTraining } from '../packages/quintain/src/train/training-folder.ts'

/** The measurements of a training on some split at temperature 1, in the order of its steps. */
async function measurementsOf(dir: string, role: EvaluationRecord['role']): Promise<EvaluationRecord[]> {
  const { lines } = await readTraining(dir)
  return historyOf(lines).filter(
    (line): line is EvaluationRecord =>
      line.kind === 'evaluation' && line.role === role && line.temperature === 1,
  )
}

/** Success on the tasks that choose the checkpoint, a bar for each measurement, with its interval. */
export async function curveLines(dir: string): Promise<string[]> {
  const width = 50
  const measured = await measurementsOf(dir, 'validation')
  return measured.map(({ step, elapsedS, success, interval }) => {
    const full = '█'.repeat(Math.round((success ?? 0) * width))
    const [low = 0, high = 0] = interval ?? []
    const percent = (share: number) => `${Math.round(100 * share)}`.padStart(3)
    return (
      `  step ${String(step).padStart(4)} ${elapsedS.toFixed(0).padStart(4)} s  ` +
      `${percent(success ?? 0)} % [${percent(low)}, ${percent(high)}]  ${full}`
    )
  })
}

/** Runs of the test split at temperature 1 before the first step and after the last. */
export async function beforeAndAfter(dir: string): Promise<{ before: string; after: string }> {
  const measured = await measurementsOf(dir, 'test')
  const [first, last] = [measured[0], measured.at(-1)]
  if (first === undefined || last === undefined || first === last)
    throw new Error(`${dir} was not measured before and after`)
  return { before: join(dir, first.run), after: join(dir, last.run) }
}

/** The first games of a run, a line each: every guess with its marks, and how it ended. */
export async function gameLines(dir: string, count: number): Promise<string[]> {
  const { states } = await foldRun(dir)
  const lines: string[] = []
  for (const { order, chosen } of states.slice(0, count)) {
    if (chosen === undefined) continue
    const { nodes } = await readTrajectory(dir, chosen)
    const guesses = nodes.flatMap(({ message }, i) => {
      if (message.role !== 'assistant') return []
      const answer = nodes[i + 1]?.message
      return [answer === undefined ? textOf(message.content) : textOf(answer.content)]
    })
    const won = chosen.verdict?.success === true ? `won with guess ${guesses.length}` : 'lost'
    lines.push(`  ${order.task}  ${guesses.join('  ').padEnd(48)}  ${won}`)
  }
  return lines
}

/** Means of some metrics before and after. */
export async function habitLines(
  { before, after }: { before: string; after: string },
  habits: Readonly<Record<string, string>>,
): Promise<string[]> {
  const [then, now] = [await summarize(before), await summarize(after)]
  const percent = (mean: number | null | undefined) =>
    mean === null || mean === undefined ? '    –' : `${(100 * mean).toFixed(0).padStart(3)} %`
  return Object.entries(habits).map(
    ([name, says]) =>
      `  ${says.padEnd(34)} ${percent(then.metrics[name]?.mean)}  ->  ${percent(now.metrics[name]?.mean)}`,
  )
}
