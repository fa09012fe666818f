import { relative } from 'node:path'
import { type AttemptRecord, foldRun, QuintainError } from '../core/index.ts'
import {
  formatAttempt,
  formatCall,
  formatOrders,
  type OrderLine,
  pickOrders,
  plural,
  printableLine,
  readAttempt,
  styleFor,
} from '../report/index.ts'
import { isTraining } from '../train/training-folder.ts'
import { checkpointReport, isCheckpoint } from './checkpoint-report.ts'
import type { CliIo } from './io.ts'
import { findOneRun } from './run-path.ts'

/** Shows one trajectory, or the orders of a run when none is named. */
export async function showCommand(
  run: string,
  name: string | undefined,
  options: {
    worst?: boolean
    failed?: boolean
    private?: boolean
    full?: boolean
    json?: boolean
    /** One model call of the trajectory, by its number. */
    call?: number
  },
  io: CliIo,
): Promise<void> {
  const dir = await findOneRun(run, io.cwd)
  if (!(await isTraining(dir)) && (await isCheckpoint(dir))) {
    await checkpointReport({ dir, name: relative(io.cwd, dir) || '.' }, options, io)
    return
  }
  const style = styleFor(io.stdout, io.env)
  const { worst = false, failed = false } = options
  if (options.call !== undefined && name === undefined && !worst && !failed)
    throw new QuintainError('usage', 'Say whose call: npx quintain show RUN TASK#REPEAT --call N.')
  // Small things of every attempt first: the whole record of the one that is shown is read afterwards.
  const fold = await foldRun<OrderLine>(dir, ({ verdict, fault, outcome, timing }) => ({
    verdict,
    fault,
    outcome,
    wallMs: timing.wallMs,
  }))
  const picked = pickOrders(fold, { ...(name === undefined ? {} : { name }), worst, failed })
  if (name === undefined && !worst && !failed) {
    io.stdout.write(formatOrders(picked, { style }))
    io.stderr.write(
      `\nOne of them: npx quintain show ${printableLine(run)} TASK#REPEAT, or --worst, or --failed\n`,
    )
    return
  }
  const first = picked[0]
  if (first === undefined) {
    io.stdout.write(failed ? 'No order failed.\n' : 'No order has an attempt yet.\n')
    return
  }
  const whole = await foldRun<AttemptRecord>(dir, (attempt) =>
    attempt.order === first.order.id ? attempt : slim(attempt),
  )
  const state = whole.states.find(({ order }) => order.id === first.order.id)
  if (state === undefined) return
  const parts = await readAttempt(dir, state, { withPrivate: options.private === true })
  if (options.json) io.stdout.write(`${JSON.stringify(parts, null, 2)}\n`)
  else if (options.call !== undefined)
    io.stdout.write(formatCall(parts, options.call, { style, full: options.full === true }))
  else io.stdout.write(formatAttempt(parts, { style, full: options.full === true }))
  if (picked.length > 1) {
    const others = picked.slice(1, 6).map(({ order }) => order.id)
    const more = picked.length > 6 ? ', …' : ''
    io.stderr.write(
      `${plural(picked.length - 1, 'more order matches', 'more orders match')}: ${printableLine(others.join(', '), 300)}${more}\n`,
    )
  }
}

/** An attempt that is only counted: its line without what a big run cannot hold a hundred thousand times. */
function slim(attempt: AttemptRecord): AttemptRecord {
  return {
    ...attempt,
    verdict: attempt.verdict && { ...attempt.verdict, rewards: {}, metrics: {} },
    usage: empty.usage,
    costUsd: empty.costUsd,
    counts: empty.counts,
  }
}

const empty = {
  usage: { agent: { fresh: 0, cacheRead: 0, cacheWrite: 0, output: 0 } },
  costUsd: { agent: null },
  counts: { turns: 0, toolCalls: 0, modelRetries: 0 },
} as const
