import type { Model } from '../core/index.ts'

const known = new WeakMap<Model, ProviderHealth>()

/** When the endpoint behind a model last answered anybody. */
export class ProviderHealth {
  static of(model: Model): ProviderHealth {
    let health = known.get(model)
    if (health === undefined) {
      health = new ProviderHealth()
      known.set(model, health)
    }
    return health
  }

  private answeredAt = Number.NEGATIVE_INFINITY
  private asking: Promise<void> | undefined

  /** It has answered just now. */
  answered(): void {
    this.answeredAt = performance.now()
  }

  /** Whether it has answered since a moment of `performance.now()`; asks it where nobody else has. */
  async answersSince(at: number, ask: () => Promise<unknown>): Promise<boolean> {
    if (this.answeredAt > at) return true
    this.asking ??= ask()
      .then(
        () => this.answered(),
        () => {},
      )
      .finally(() => {
        this.asking = undefined
      })
    await this.asking
    return this.answeredAt > at
  }
}
