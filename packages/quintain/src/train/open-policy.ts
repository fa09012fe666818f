import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalJson, QuintainError } from '../core/index.ts'
import { checkpointDigest, checkpointFiles, invalid, readRenderer } from './checkpoint.ts'
import { loadEmbedded } from './embedded/index.ts'
import type { Learner } from './engine.ts'
import { newestCheckpoint, pathOf, stepOfPath } from './loop/checkpoints.ts'
import type { Renderer } from './renderer.ts'
import { historyOf, isTraining, readTraining, trainingFiles } from './training-folder.ts'

/** Weights that were taken up: where from, what they are, and the optimiser steps that made them. */
export interface OpenedCheckpoint {
  folder: string
  /** As `checkpointDigest` has it. */
  digest: string
  version: number
}

/** A policy that was read from a checkpoint. */
export interface OpenPolicy extends OpenedCheckpoint {
  learner: Learner
  renderer: Renderer
  /**
   * Takes up the weights of another checkpoint; samplers that are open keep theirs. Throws `checkpoint_invalid` for one that
   * is torn, of another shape or of another renderer, and then everything is as it was.
   */
  load(path: string): Promise<OpenedCheckpoint>
  close(): Promise<void>
}

/**
 * Opens the policy of a checkpoint, or of a training: its best checkpoint, or the newest where none was chosen yet. Without
 * the optimiser's state: to sample and to measure, or to train from anew. Throws `checkpoint_invalid`, and `run_corrupt` for
 * a training that names a checkpoint elsewhere.
 *
 * @example
 * const { learner, renderer, close } = await openPolicy('runs/wordle-grpo')
 * const model = policyModel({ sampler: await learner.sampler(), renderer })
 */
export async function openPolicy(path: string, options: { threads?: number } = {}): Promise<OpenPolicy> {
  const folder = await checkpointIn(path)
  const [renderer, digest] = await Promise.all([readRenderer(folder), checkpointDigest(folder)])
  const learner = await loadEmbedded(folder, { ...options, optimiser: false })
  if (learner.capabilities.vocabulary < renderer.vocabulary) {
    await learner.close()
    throw invalid(
      folder,
      `its renderer has ${renderer.vocabulary} tokens and its weights have ${learner.capabilities.vocabulary}`,
    )
  }
  return {
    folder,
    digest,
    version: learner.version,
    learner,
    renderer,
    load: (other) => takeUp(other, learner, renderer),
    close: () => learner.close(),
  }
}

async function takeUp(path: string, learner: Learner, renderer: Renderer): Promise<OpenedCheckpoint> {
  const folder = await checkpointIn(path)
  const [other, digest] = await Promise.all([readRenderer(folder), checkpointDigest(folder)])
  if (canonicalJson(other.describe()) !== canonicalJson(renderer.describe()))
    throw invalid(folder, 'its renderer is another: the vocabulary or what it leaves out differs')
  await learner.load(folder, { optimiser: false })
  return { folder, digest, version: learner.version }
}

/** The checkpoint that a path means. Throws `checkpoint_invalid` where there is none, and `run_corrupt` as `openPolicy`. */
export async function checkpointIn(path: string): Promise<string> {
  if (!(await isTraining(path))) {
    if (await isFile(join(path, checkpointFiles.model))) return path
    throw new QuintainError(
      'checkpoint_invalid',
      `${path} is neither a checkpoint (it has no ${checkpointFiles.model}) nor a training. Name a folder of ${trainingFiles.checkpoints}/, or what \`quintain sft\` or \`quintain train\` gave as --out.`,
      { facts: { folder: path } },
    )
  }
  const { lines } = await readTraining(path)
  const end = historyOf(lines).findLast(({ kind }) => kind === 'end')
  if (end?.kind === 'end' && end.best !== null) return checkpointOf(path, end.best)
  const newest = await newestCheckpoint(path)
  if (newest !== undefined) return join(path, newest)
  throw new QuintainError(
    'checkpoint_invalid',
    `The training ${path} has no checkpoint yet. Wait for its first one, or name another folder.`,
    { facts: { folder: path } },
  )
}

/** The folder of a checkpoint that a training names. It is of the training itself, whatever its records say. */
async function checkpointOf(path: string, named: string): Promise<string> {
  const step = stepOfPath(named)
  const folder = join(path, named)
  const real = (of: string) => realpath(of).catch(() => undefined)
  const [root, led] = [await real(path), await real(folder)]
  const isOwn = step !== undefined && named === pathOf(step)
  // One that is missing is told of when it is read.
  if (isOwn && (root === undefined || led === undefined || led === join(root, named))) return folder
  throw new QuintainError(
    'run_corrupt',
    `The training ${path} says that its best checkpoint is ${JSON.stringify(named.slice(0, 200))}, which is not one of its own. Name a folder of ${trainingFiles.checkpoints}/ instead.`,
    { facts: { folder: path } },
  )
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
