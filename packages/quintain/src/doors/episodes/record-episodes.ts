import { resolve } from 'node:path'
import { QuintainError } from '../../core/index.ts'
import { previewRun, type RunOptions, startRun } from '../../engine/index.ts'
import { type RecordedRun, readEpisodes } from './read-episodes.ts'

export interface RecordOptions
  extends Pick<
    RunOptions,
    | 'env'
    | 'options'
    | 'seed'
    | 'limits'
    | 'split'
    | 'judges'
    | 'workers'
    | 'boxes'
    | 'sandbox'
    | 'openSandbox'
    | 'openRecordings'
    | 'isolation'
    | 'cwd'
    | 'signal'
  > {
  /** Who plays the agent, one run each; those of `usualPlayers` that the environment has when absent. */
  policies?: readonly string[]
  /** So many tasks, the first ones. */
  tasks: number
  /** Who plays other seats. */
  seats?: RunOptions['seats']
  /** Folder that is there, for a run folder of each player. */
  folder: string
  /** Told what is begun. */
  say?(what: string): void
}

/** Those that every environment can be played by, and the one that knows the answers. */
export const usualPlayers: readonly string[] = ['script:oracle', 'script:random', 'script:noop']

/** Plays the first tasks in the engine, once by each player, and reads what was recorded. Throws as a run does. */
export async function recordEpisodes(
  options: RecordOptions,
): Promise<{ runs: RecordedRun[]; notes: string[] }> {
  const { policies = usualPlayers, folder, seats, tasks, say, ...shared } = options
  const runs: RecordedRun[] = []
  const notes: string[] = []
  for (const [place, policy] of policies.entries()) {
    const run: RunOptions = { ...shared, tasks, seats: { ...seats, agent: { policy } }, maxTries: 1 }
    if (options.policies === undefined) {
      const why = await cannotPlay(run)
      if (why !== undefined) {
        notes.push(`${policy} does not play here: ${why}`)
        continue
      }
    }
    say?.(`recording ${policy}`)
    const { dir } = await startRun({ ...run, dir: resolve(folder, `${place}`) })
    options.signal?.throwIfAborted()
    runs.push(await readEpisodes(dir))
  }
  return { runs, notes }
}

/** Why a player that nobody asked for by name cannot play; undefined where it can. */
async function cannotPlay(run: RunOptions): Promise<string | undefined> {
  try {
    await previewRun(run)
    return undefined
  } catch (thrown) {
    if (QuintainError.isInstance(thrown) && thrown.code === 'policy_unknown') return thrown.message
    throw thrown
  }
}
