import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { runCli } from '../../packages/quintain/src/cli/run-cli.ts'
import { cpuTimes } from '../cpu-time.ts'
import { type Game, imitation, measurement, training, warmStart } from './games.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** How a policy played the test tasks. */
export interface Measured {
  temperature: number
  success: number
  interval: readonly [number, number]
  n: number
  /** Means of the environment's metrics. */
  metrics: Readonly<Record<string, number | null>>
}

/** A policy, by how it came to be, with all that was measured of it. */
export interface Arm {
  /** Seconds that processors worked on it, measurements left out: what else the machine does hardly changes them. */
  processorS: number
  measured: readonly Measured[]
}

export interface SeedArms {
  seed: string
  warm: Arm
  trained: Arm
  /** Imitation of the same file, for the work of warm start and training together. */
  longer: Arm
  /** The same, of the games that the teacher won. */
  winners: Arm
}

const temperatures = [1, 0.7, 0.5, 0]

/** Everything of one seed, one after the other: what ran beside it would take its time. */
export async function seedArms(game: Game, { seed, out }: { seed: string; out: string }): Promise<SeedArms> {
  const folder = (name: string) => join(out, name)
  const warm = await work(folder('warm'), warmStart(game, { seed, out: folder('warm') }))
  // What is reported is measured below, all arms alike.
  const flags = ['--test-split', 'none']
  const trained = await work(
    folder('trained'),
    training(game, { seed, from: folder('warm'), out: folder('trained') }, ...flags),
  )
  const all = warm + trained
  /** Imitation for as much work: what the steps of a guess have cost says how many are to be made. */
  const long = async (name: string, ...more: string[]): Promise<number> => {
    const imitate = (to: string, steps: number) =>
      work(folder(to), imitation(game, { seed, out: folder(to) }, '--steps', String(steps), ...more))
    const guess = Math.ceil((game.warmSteps * all) / warm)
    const used = await imitate(`${name}-guessed`, guess)
    return imitate(name, Math.ceil((guess * all) / used))
  }
  const longer = await long('longer')
  const winners = await long('winners', '--winners-only')
  const arm = async (name: string, processorS: number): Promise<Arm> => {
    const measured: Measured[] = []
    for (const temperature of temperatures) {
      const to = folder(`${name}-at-${temperature}`)
      measured.push(await measure(game, { checkpoint: folder(name), temperature, seed, out: to }))
    }
    return { processorS, measured }
  }
  return {
    seed,
    warm: await arm('warm', warm),
    trained: await arm('trained', warm + trained),
    longer: await arm('longer', longer),
    winners: await arm('winners', winners),
  }
}

/** Seconds of processors that a command took. */
async function work(out: string, argv: readonly string[]): Promise<number> {
  return (await command(argv, out)).processorS
}

async function measure(
  game: Game,
  options: { checkpoint: string; temperature: number; seed: string; out: string },
): Promise<Measured> {
  const { success, metrics } = measured.parse(
    (await command(measurement(game, options), options.out)).printed,
  )
  return {
    temperature: options.temperature,
    success: success.value,
    interval: success.interval,
    n: success.n,
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, { mean }]) => [name, mean])),
  }
}

const measured = z.object({
  success: z.object({
    value: z.number(),
    interval: z.tuple([z.number(), z.number()]),
    n: z.number(),
  }),
  metrics: z.record(z.string(), z.object({ mean: z.number().nullable() })),
})

interface Ran {
  processorS: number
  /** The JSON that it printed. */
  printed: unknown
}

/** Runs what a user would type. What came of it is kept beside `out` when it has ended, so that tables that were broken off go on. */
async function command(argv: readonly string[], out: string): Promise<Ran> {
  const kept = resolve(root, `${out}.json`)
  if (!existsSync(kept)) {
    rmSync(resolve(root, out), { recursive: true, force: true })
    process.stderr.write(`$ npx quintain ${argv.join(' ')}\n`)
    const printed: string[] = []
    const stdout = { write: (text: string) => printed.push(text) }
    const io = { stdout, stderr: process.stderr, env: process.env, cwd: root }
    const before = processorSeconds()
    const code = await runCli([...argv, '--json', '--quiet'], io)
    if (code !== 0) throw new Error(`quintain ${argv[0]} ended with exit code ${code}`)
    const ran: Ran = { processorS: processorSeconds() - before, printed: JSON.parse(printed.join('')) }
    writeFileSync(kept, JSON.stringify(ran))
  }
  return JSON.parse(readFileSync(kept, 'utf8'))
}

/** Of this process and of those that it has started and seen end. */
function processorSeconds(): number {
  const { ownMs, childrenMs } = cpuTimes()
  return (ownMs + childrenMs) / 1000
}
