import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalJson, QuintainError } from '../../core/index.ts'
import { checkpointFiles, readRenderer, writeCheckpoint } from '../checkpoint.ts'
import type { Learner } from '../engine.ts'
import type { Renderer } from '../renderer.ts'
import { trainingFiles } from '../training-folder.ts'

interface CheckpointsOptions {
  /** Of the training. */
  dir: string
  learner: Learner
  renderer: Renderer
  keep: 'best_and_last' | 'all'
}

/** Paths of the checkpoints of a training, from its folder, the last first. */
export async function checkpointPaths(dir: string): Promise<string[]> {
  const names = await readdir(join(dir, trainingFiles.checkpoints)).catch(() => [])
  const steps = names.map(stepOf).filter((step) => !Number.isNaN(step))
  return steps.sort((a, b) => b - a).map(pathOf)
}

/** Path of the last checkpoint of a training, from its folder; undefined where there is none. */
export async function newestCheckpoint(dir: string): Promise<string | undefined> {
  return (await checkpointPaths(dir))[0]
}

const nameOf = (step: number): string => `step-${String(step).padStart(6, '0')}`

/** The step of a checkpoint by the name of its folder; NaN for any other. */
const stepOf = (name: string): number => Number(/^step-(\d+)$/.exec(name)?.[1] ?? Number.NaN)

/** Path of the checkpoint of a step, from the folder of the training. */
export function pathOf(step: number): string {
  return `${trainingFiles.checkpoints}/${nameOf(step)}`
}

/** The step of a checkpoint by that path; undefined for another. */
export function stepOfPath(path: string): number | undefined {
  const step = stepOf(path.slice(path.lastIndexOf('/') + 1))
  return Number.isNaN(step) ? undefined : step
}

/** The checkpoints of a training, by the step after which they were written. */
export class Checkpoints {
  private readonly options: CheckpointsOptions
  private readonly root: string
  private readonly steps = new Set<number>()

  private constructor(options: CheckpointsOptions) {
    this.options = options
    this.root = join(options.dir, trainingFiles.checkpoints)
  }

  /** Finds what is there; what was not written to its end is removed. */
  static async open(options: CheckpointsOptions): Promise<Checkpoints> {
    const found = new Checkpoints(options)
    for (const name of await readdir(found.root).catch(() => [])) {
      const step = stepOf(name)
      if (!Number.isNaN(step)) found.steps.add(step)
      else if (name.startsWith('.')) await rm(join(found.root, name), { recursive: true, force: true })
    }
    return found
  }

  has(step: number): boolean {
    return this.steps.has(step)
  }

  /** From the last to the first. */
  get newestFirst(): number[] {
    return [...this.steps].sort((a, b) => b - a)
  }

  /** Writes the learner as it is, whole or not at all. Throws `disk_full` and `output_io`; the earlier ones are as they were. */
  async save(step: number): Promise<void> {
    if (this.has(step)) return
    await writeCheckpoint(join(this.root, nameOf(step)), this.options)
    this.steps.add(step)
  }

  /**
   * Takes a checkpoint up, and gives undefined; or why it cannot be read. Then it counts as not there, and is written anew when
   * its step is come to again. Throws `training_mismatch` for one of another renderer.
   */
  async tryLoad(step: number): Promise<QuintainError | undefined> {
    try {
      await this.load(step)
      return undefined
    } catch (error) {
      if (!QuintainError.isInstance(error) || error.code !== 'checkpoint_invalid') throw error
      this.steps.delete(step)
      return error
    }
  }

  private async load(step: number): Promise<void> {
    const folder = join(this.root, nameOf(step))
    const { renderer, learner } = this.options
    const written = await readRenderer(folder)
    if (canonicalJson(written.describe()) !== canonicalJson(renderer.describe())) {
      throw new QuintainError(
        'training_mismatch',
        `The checkpoint ${folder} was trained with another renderer than the one that was given: vocabulary or template differ. Go on with its own ${checkpointFiles.renderer}.`,
        { facts: { folder } },
      )
    }
    await learner.load(folder)
  }

  /** Removes all but these, unless all are kept. */
  async prune(wanted: ReadonlySet<number>): Promise<void> {
    if (this.options.keep === 'all') return
    for (const step of this.steps) {
      if (wanted.has(step)) continue
      await rm(join(this.root, nameOf(step)), { recursive: true, force: true }).catch(() => {})
      this.steps.delete(step)
    }
  }
}
