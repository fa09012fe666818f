import { resolve } from 'node:path'
import { type Model, QuintainError } from '../core/index.ts'
import { openPolicy } from '../train/open-policy.ts'
import { policyModel } from '../train/policy-model.ts'

/** Digits of a checkpoint's digest that its name in records has. */
const digits = 12

/**
 * The policy of `checkpoint:PATH` as a model. Its id names the weights, `checkpoint:PATH@DIGEST`; a path that is given with a
 * digest must have those weights, so that a run is gone on with by the policy that began it. Throws `checkpoint_invalid`, and
 * `run_mismatch` for other weights.
 */
export async function openCheckpointModel(name: string, cwd: string): Promise<Model> {
  const [, path = '', wanted] = /^checkpoint:(.*?)(?:@([0-9a-f]{12}))?$/s.exec(name) ?? []
  if (path === '')
    throw new QuintainError(
      'usage',
      'Name the checkpoint: -m checkpoint:FOLDER, or a training, whose best one is meant.',
    )
  const policy = await openPolicy(resolve(cwd, path))
  try {
    const digest = policy.digest.slice(0, digits)
    if (wanted !== undefined && wanted !== digest)
      throw new QuintainError(
        'run_mismatch',
        `The checkpoint ${path} has other weights (${digest}) than the ones that are wanted (${wanted}). Put those back, or begin a new run.`,
        { facts: { path, digest, wanted } },
      )
    const sampler = await policy.learner.sampler()
    const model = policyModel({ sampler, renderer: policy.renderer, id: `checkpoint:${path}@${digest}` })
    const closeModel = model.close?.bind(model)
    model.close = async () => {
      await closeModel?.()
      await sampler.close()
      await policy.close()
    }
    return model
  } catch (error) {
    await policy.close()
    throw error
  }
}
