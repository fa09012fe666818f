import type { Finish, Outcome, ResolvedLimits, Sampling, Usage } from '../core/index.ts'
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
 * limit on turns and none on tokens. One that does not say how many tokens it may take is given all that are left, once
 * nothing else holds any, so that such calls follow each other. What calls under way cost is known once they are answered.
 */
export class SeatBudget {
  private readonly limits: Pick<ResolvedLimits, 'turns' | 'tokens' | 'costUsd'>
  private readonly inFlight = new CallsInFlight()

  constructor(limits: Pick<ResolvedLimits, 'turns' | 'tokens' | 'costUsd'>) {
    this.limits = limits
  }

  /** The limit that is used up. */
  reached({ turns, usage, costUsd }: SeatUse): Exclude<Outcome, 'cancelled'> | undefined {
    const { limits } = this
    if (turns >= (limits.turns ?? Infinity)) return 'turn_limit'
    if (usage.output >= (limits.tokens ?? Infinity)) return 'token_limit'
    return (costUsd ?? 0) >= (limits.costUsd ?? Infinity) ? 'cost_limit' : undefined
  }

  /** Takes a place for a call; undefined when what is under way must settle first. No limit is used up. */
  take(asked: Sampling, use: SeatUse): Place | undefined {
    const { limits, inFlight } = this
    if (use.turns + inFlight.count >= (limits.turns ?? Infinity)) return undefined
    const sampling: Sampling = { ...asked }
    let tokens = 0
    if (limits.tokens !== undefined) {
      const left = limits.tokens - use.usage.output - inFlight.tokens
      if (inFlight.tokens > 0 && left < (sampling.maxTokens ?? Infinity)) return undefined
      tokens = Math.min(sampling.maxTokens ?? left, left)
      sampling.maxTokens = tokens
    }
    inFlight.begin(tokens)
    return { sampling, tokens }
  }

  give(place: Place): void {
    this.inFlight.end(place.tokens)
  }

  /** Whether more tokens were used than there are, or the last of them went into a reply that was cut for it. */
  spentBy(finish: Finish | undefined, usage: Usage): boolean {
    const { tokens = Infinity } = this.limits
    return usage.output > tokens || (usage.output === tokens && finish === 'length')
  }

  /** Resolves when a call under way has settled, or the signal is aborted. */
  change(signal: AbortSignal): Promise<void> {
    return this.inFlight.change(signal)
  }
}
