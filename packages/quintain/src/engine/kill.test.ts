import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AttemptRecord, createRng, foldRun, partsIntact, recordsOf, runFiles } from '../core/index.ts'
import { pause, temporaryFolder } from './__fixtures__/recorded.ts'
import type { RunOptions } from './run-options.ts'

/*
 * Runs whose main process is killed with SIGKILL, at a random moment, again and again: twenty times in all.
 */

const program = join(import.meta.dirname, '__fixtures__', 'run-main.ts')
const slow = join(import.meta.dirname, '__fixtures__', 'slow-environment')
const wordle = join(import.meta.dirname, '..', '..', '..', '..', 'environments', 'wordle')

class Life {
  readonly child: ChildProcess
  readonly end: Promise<number | null>
  private text = ''

  constructor(options: Omit<Partial<RunOptions>, 'env'> & { env: string; dir: string }) {
    this.child = spawn(process.execPath, [program, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.text += text
      })
    }
    this.end = new Promise((resolve) => this.child.once('close', (code) => resolve(code)))
  }

  get over(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  /** What it printed; nothing, unless it failed. */
  get printed(): string {
    return this.text
  }

  /** Processes that it started. */
  workers(): number[] {
    try {
      const { pid } = this.child
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean)
        .map(Number)
    } catch {
      return []
    }
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }
}

/** Gone, or waiting only for somebody to ask how it ended. */
function isGone(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return true
  }
}

async function allGone(pids: readonly number[]): Promise<void> {
  while (!pids.every(isGone)) await pause(20)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The whole lines of a file. */
function wholeLines(path: string): string {
  if (sizeOf(path) === 0) return ''
  const text = readFileSync(path, 'utf8')
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

async function killAgainAndAgain(options: {
  run: Omit<Partial<RunOptions>, 'env' | 'dir'> & { env: string }
  kills: number
  orders: number
  /** Bytes of attempts.jsonl that a life may add before it is killed, at most. */
  growth: number
  seed: string
}): Promise<void> {
  const dir = join(await temporaryFolder(), 'run')
  const rng = createRng(options.seed)
  const attempts = join(dir, runFiles.attempts)
  let killed = 0
  let grew = 0
  while (killed < options.kills) {
    const before = wholeLines(attempts)
    const life = new Life({ ...options.run, dir })
    if (rng.int(4) === 0) await pause(rng.int(1_000))
    else {
      const wanted = before.length + rng.int(options.growth)
      while (!life.over && sizeOf(attempts) <= wanted) await pause(2)
      await pause(rng.int(30))
    }
    const seen = wholeLines(attempts)
    const workers = life.workers()
    if (life.over) throw new Error(`ended by itself (${await life.end}): ${life.printed}`)
    life.kill()
    await life.end
    killed++
    // Nothing that was there is changed, by the kill or by the life before it.
    const after = wholeLines(attempts)
    expect(seen.startsWith(before)).toBe(true)
    expect(after.startsWith(seen)).toBe(true)
    if (after.length > before.length) grew++
    const { states } = await foldRun(dir).catch(() => ({ states: [] }))
    for (const { tries } of states) expect(tries).toBeLessThanOrEqual(1)
    await allGone(workers)
  }
  // Most lives got something done, or the kills prove little.
  expect(grew).toBeGreaterThanOrEqual(options.kills / 2)
  const recorded = wholeLines(attempts)

  const last = new Life({ ...options.run, dir })
  expect(await last.end, last.printed).toBe(0)
  expect(wholeLines(attempts).startsWith(recorded)).toBe(true)
  for (const file of [runFiles.orders, runFiles.attempts]) {
    const issues: unknown[] = []
    for await (const _ of recordsOf(join(dir, file), { onIssue: (issue) => issues.push(issue) }));
    expect(issues, file).toEqual([])
  }
  const { states, issues } = await foldRun(dir)
  expect(issues).toEqual([])
  expect(states).toHaveLength(options.orders)
  const lines = new Map<string, AttemptRecord[]>()
  for await (const { value } of recordsOf(attempts)) {
    const attempt = value as AttemptRecord
    lines.set(attempt.order, [...(lines.get(attempt.order) ?? []), attempt])
  }
  for (const { order, status, chosen } of states) {
    expect([order.id, status]).toEqual([order.id, 'scored'])
    const own = lines.get(order.id)!
    expect(own.filter(({ schema, final }) => schema === 'quintain.attempt' && final)).toHaveLength(1)
    expect(own).toHaveLength(1)
    expect(await partsIntact(dir, chosen!)).toBe(true)
  }
}

const linux = test.skipIf(process.platform !== 'linux')

linux('Wordle, killed ten times', { timeout: 0 }, async () => {
  await killAgainAndAgain({
    run: {
      env: wordle,
      seats: { agent: { policy: 'script:filter' } },
      tasks: 400,
      repeats: 3,
      workers: 2,
      concurrency: 32,
    },
    kills: 10,
    orders: 1_200,
    growth: 60_000,
    seed: 'wordle',
  })
})

linux('an environment that takes its time, killed ten times', { timeout: 0 }, async () => {
  await killAgainAndAgain({
    run: {
      env: slow,
      seats: { agent: { policy: 'script:oracle' } },
      split: 'slow',
      workers: 2,
      concurrency: 4,
    },
    kills: 10,
    orders: 120,
    growth: 6_000,
    seed: 'slow',
  })
})

linux('a worker that is blocked for good does not outlive its main process', { timeout: 0 }, async () => {
  const dir = join(await temporaryFolder(), 'run')
  const life = new Life({
    env: slow,
    seats: { agent: { policy: 'script:oracle' } },
    split: 'stuck',
    workers: 1,
    dir,
  })
  const busy = (pid: number): number => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[11])
  }
  while (sizeOf(join(dir, runFiles.orders)) === 0 || life.workers().length === 0) await pause(20)
  const [worker] = life.workers()
  // Two seconds of its own time, in hundredths: it turns in circles by now.
  const start = busy(worker!)
  while (busy(worker!) - start < 200) await pause(50)
  life.kill()
  await life.end
  await allGone([worker!])
})
