import type { Outcome, ResolvedLimits, Sampling, Usage } from '../core/index.ts'
import { CallsInFlight } from './calls-in-flight.ts'

/** What a seat has used up so far. */
export interface SeatUse {
  turns: number
  usage: Usage
  costUsd: number | null
}

/** A call that may be made: how it is sampled, and what it may take until it has settled. */
export interface Place {
  sampling: Sampling
  tokens: number
}

/**
 * The limits of a seat, held against what was used and what the calls under way may still take: parallel calls pass no
 * limit on turns, and none on tokens as far as they say how many they may take. One that does not say is told how many
 * are left, and parallel ones are told the same; what calls under way cost is known once they are answered.
 */
export class SeatBudget {
  private readonly limits: Pick<ResolvedLimits, 'turns' | 'tokens' | 'costUsd'>
  private readonly inFlight = new CallsInFlight()
  /** Tokens of replies whose reader left before the provider said how many there were. */
  private leftTokens = 0

  constructor(limits: Pick<ResolvedLimits, 'turns' | 'tokens' | 'costUsd'>) {
    this.limits = limits
  }

  /** The limit that is used up. */
  reached({ turns, usage, costUsd }: SeatUse): Exclude<Outcome, 'cancelled'> | undefined {
    const { limits } = this
    if (turns >= (limits.turns ?? Infinity)) return 'turn_limit'
    if (usage.output + this.leftTokens >= (limits.tokens ?? Infinity)) return 'token_limit'
    return (costUsd ?? 0) >= (limits.costUsd ?? Infinity) ? 'cost_limit' : undefined
  }

  /** Takes a place for a call; undefined when what is under way must settle first. No limit is used up. */
  take(asked: Sampling, use: SeatUse): Place | undefined {
    const { limits, inFlight } = this
    if (use.turns + inFlight.count >= (limits.turns ?? Infinity)) return undefined
    const sampling: Sampling = { ...asked }
    let tokens = 0
    if (limits.tokens !== undefined) {
      const left = limits.tokens - use.usage.output - this.leftTokens - inFlight.tokens
      if (inFlight.tokens > 0 && left < (sampling.maxTokens ?? 1)) return undefined
      if (sampling.maxTokens !== undefined) tokens = Math.min(sampling.maxTokens, left)
      sampling.maxTokens = Math.min(sampling.maxTokens ?? left, left)
    }
    inFlight.begin(tokens)
    return { sampling, tokens }
  }

  give(place: Place): void {
    this.inFlight.end(place.tokens)
  }

  /** Counts what a reader saw of a reply before it left. */
  leave(tokens: number): void {
    this.leftTokens += tokens
  }

  /** Resolves when a call under way has settled, or the signal is aborted. */
  change(signal: AbortSignal): Promise<void> {
    return this.inFlight.change(signal)
  }
}
