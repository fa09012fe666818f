import { resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import type { Learner, Sampler } from '../train/engine.ts'
import { openPolicy } from '../train/open-policy.ts'
import type { Algorithm } from '../train/records.ts'

export interface TutorFlags {
  /** Checkpoint against which the KL is taken; the policy as it begins when absent. */
  reference?: string
  /** Checkpoint that says what it would have said. */
  teacher?: string
  threads?: number
}

/** Policies beside the one that is trained, as the loop takes them. */
export interface Tutors {
  options: {
    reference?: Sampler
    referenceFrom?: { path: string; digest: string }
    teacher?: Sampler
    teacherFrom?: { path: string; digest: string }
  }
  close(): Promise<void>
}

/**
 * Opens the reference and the teacher that an algorithm wants. Throws `checkpoint_invalid`.
 */
export async function openTutors(
  flags: TutorFlags,
  { learner, algorithm, cwd }: { learner: Learner; algorithm: Algorithm; cwd: string },
): Promise<Tutors> {
  const options: Tutors['options'] = {}
  const closing: (() => Promise<void>)[] = []
  const close = async () => {
    for (const one of closing.splice(0).reverse()) await one()
  }
  const open = async (path: string) => {
    const policy = await openPolicy(
      resolve(cwd, path),
      flags.threads === undefined ? {} : { threads: flags.threads },
    )
    closing.push(() => policy.close())
    const sampler = await policy.learner.sampler()
    closing.push(() => sampler.close())
    return { sampler, from: { path, digest: policy.digest } }
  }
  try {
    if (flags.reference !== undefined) {
      const { sampler, from } = await open(flags.reference)
      Object.assign(options, { reference: sampler, referenceFrom: from })
    } else if (algorithm.kl !== undefined) {
      const sampler = await learner.sampler()
      closing.push(() => sampler.close())
      options.reference = sampler
    }
    if (flags.teacher !== undefined) {
      const { sampler, from } = await open(flags.teacher)
      Object.assign(options, { teacher: sampler, teacherFrom: from })
    }
    return { options, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Throws `usage` for a reference or a teacher that an algorithm does not want, and for a teacher that is missing. */
export function checkTutors(
  { reference, teacher }: TutorFlags,
  { kl, teacher: taught, recipe }: Algorithm,
): void {
  const refuse = (message: string): never => {
    throw new QuintainError('usage', message)
  }
  if (reference !== undefined && kl === undefined)
    refuse(`--reference is what a KL term is taken against, and there is none: give --kl COEFFICIENT too.`)
  if (teacher !== undefined && taught === undefined)
    refuse(`--teacher is of --recipe distill; ${recipe} learns from rewards alone.`)
  if (teacher === undefined && taught !== undefined)
    refuse(`The recipe ${recipe} learns from a teacher: give --teacher CHECKPOINT.`)
}
