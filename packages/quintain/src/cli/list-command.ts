import { stat } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import {
  type Folded,
  foldRun,
  listRuns,
  messageOf,
  playerName,
  QuintainError,
  readManifest,
} from '../core/index.ts'
import { countText, formatTable, printableLine, scoreText, shareText, styleFor } from '../report/index.ts'
import { isTraining } from '../train/training-folder.ts'
import type { CliIo } from './io.ts'
import { runsFolder } from './run-path.ts'

interface RunLine {
  run: string
  created: string | null
  environment: string
  player: string
  policy: string
  orders: number
  scored: number
  unfinished: number
  success: number | null
  reward: number | null
  /** Its rollouts are by weights that changed from step to step. */
  training: boolean
  problem: string | null
}

async function lineOf(dir: string): Promise<Omit<RunLine, 'run'>> {
  const fold = await foldRun<Folded>(dir, ({ verdict, fault, outcome }) => ({ verdict, fault, outcome }))
  const { environment, seats } = fold.manifest
  let scored = 0
  // What was ordered and can no longer be read is open.
  let unfinished = fold.lost
  let successes = 0
  let reward = 0
  for (const { status, chosen } of fold.states) {
    if (status === 'pending' || status === 'cancelled') unfinished++
    if (status !== 'scored') continue
    scored++
    reward += chosen?.verdict?.reward ?? 0
    successes += Number(chosen?.verdict?.success === true)
  }
  const orders = fold.states.length + fold.lost
  const whole = orders > 0 && scored === orders
  return {
    created: fold.manifest.created,
    environment: `${environment.name} ${environment.version}`,
    player: seats.agent === undefined ? '' : playerName(seats.agent),
    policy: seats.agent?.policy ?? '',
    orders,
    scored,
    unfinished,
    success: whole && environment.success ? successes / orders : null,
    reward: whole ? reward / orders : null,
    training: await isTraining(dir),
    problem: null,
  }
}

/** Throws `usage` for a folder that was named and is none, or is a run itself. The default one need not be there yet. */
async function checkFolder(root: string, named: string | undefined): Promise<void> {
  const shown = printableLine(named ?? runsFolder)
  const found = await stat(root).catch(() => undefined)
  if (found === undefined && named === undefined) return
  if (!found?.isDirectory()) {
    throw new QuintainError('usage', `${shown} is ${found === undefined ? 'not there' : 'no folder'}.`, {
      facts: { folder: root },
    })
  }
  const manifest = await readManifest(root).catch(() => undefined)
  if (manifest !== undefined) {
    throw new QuintainError(
      'usage',
      `${shown} is itself a run: \`npx quintain report ${shown}\` says what is in it, \`npx quintain show ${shown}\` lists its orders.`,
      { facts: { folder: root } },
    )
  }
}

/** Lists the runs under a folder, newest first. Numbers are shown of runs that are scored as a whole. */
export async function listCommand(
  folder: string | undefined,
  { json, limit = 50 }: { json?: boolean; limit?: number },
  io: CliIo,
): Promise<void> {
  const root = resolve(io.cwd, folder ?? runsFolder)
  await checkFolder(root, folder)
  const found = await listRuns(root)
  const lines: RunLine[] = []
  for (const { dir, problem } of found.slice(0, limit)) {
    const run = relative(io.cwd, dir) || '.'
    const broken = (why: string): RunLine => ({
      run,
      created: null,
      environment: '',
      player: '',
      policy: '',
      orders: 0,
      scored: 0,
      unfinished: 0,
      success: null,
      reward: null,
      training: false,
      problem: why,
    })
    if (problem !== undefined) {
      lines.push(broken(problem))
      continue
    }
    try {
      lines.push({ run, ...(await lineOf(dir)) })
    } catch (error) {
      lines.push(broken(messageOf(error)))
    }
  }
  if (json) {
    io.stdout.write(`${JSON.stringify(lines, null, 2)}\n`)
    return
  }
  if (lines.length === 0) {
    io.stdout.write(
      `No runs in ${printableLine(root)}. Make one: npx quintain eval ENV --policy script:oracle\n`,
    )
    return
  }
  const rows = lines.map((line) =>
    [
      line.run,
      line.created === null ? '' : line.created.slice(0, 16).replace('T', ' '),
      line.environment,
      line.problem ?? line.player,
      countText(line.orders),
      shareText(line.orders === 0 ? null : line.scored / line.orders),
      line.success === null ? '' : scoreText(line.success),
      line.reward === null ? '' : scoreText(line.reward),
      [
        ...(line.training ? ['training'] : []),
        ...(line.unfinished > 0 ? [`${countText(line.unfinished)} to go`] : []),
      ].join(', '),
    ].map((cell) => printableLine(cell, 80)),
  )
  io.stdout.write(
    formatTable(
      ['run', 'made (UTC)', 'environment', 'player', 'orders', 'coverage', 'success', 'reward', ''],
      rows,
      styleFor(io.stdout, io.env),
    ),
  )
  if (found.length > lines.length) io.stdout.write(`… and ${found.length - lines.length} older ones\n`)
}
