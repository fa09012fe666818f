import type { Learner, Sampler } from '../engine.ts'
import { type PolicyModel, policyModel } from '../policy-model.ts'
import type { Renderer } from '../renderer.ts'

/**
 * The policy that is trained, in the seat of its rollouts: answers with the weights that it was last given. Weights that
 * were in the seat before are let go once the last reply that they began has ended.
 */
export class SeatPolicy {
  readonly model: PolicyModel
  private current: Sampler
  private readonly retiring = new Set<Promise<void>>()

  private constructor(model: PolicyModel, sampler: Sampler) {
    this.model = model
    this.current = sampler
  }

  /** With the learner's weights as they are. */
  static async open(options: { learner: Learner; renderer: Renderer; seed: string }): Promise<SeatPolicy> {
    const { learner, renderer, seed } = options
    const sampler = await learner.sampler()
    return new SeatPolicy(policyModel({ sampler, renderer, id: learner.capabilities.name, seed }), sampler)
  }

  /** What it answers with. */
  get sampler(): Sampler {
    return this.current
  }

  /** Goes on with the learner's weights as they are now; replies in flight keep theirs. */
  async renew(learner: Learner): Promise<void> {
    const earlier = this.current
    this.current = await learner.sampler()
    const retired = this.model
      .use(this.current)
      .then(() => earlier.close())
      .finally(() => this.retiring.delete(retired))
    this.retiring.add(retired)
    // Looked at by `close`.
    retired.catch(() => {})
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.retiring])
    await this.current.close()
    await this.model.close?.()
  }
}
