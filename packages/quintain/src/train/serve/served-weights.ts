import { QuintainError } from '../../core/index.ts'
import type { Sampler } from '../engine.ts'

/** Weights that sample, by the name under which replies tell of them. */
export interface Weights {
  sampler: Sampler
  version: string
  /** Where they were loaded from, for whoever runs the server; no client is told. */
  from?: { path: string; digest: string }
}

/** Weights that one reply holds to, from its beginning to its end. */
export interface WeightsLease {
  readonly sampler: Sampler
  readonly version: string
  release(): void
}

/** As the version of weights may be called: it stands in headers and in lists, so it has no spaces, commas or quotes. */
const versionForm = /^[\w.:@+/-]{1,128}$/

/** Throws `options_invalid` for a version that cannot be sent with replies. */
export function checkVersion(version: string): void {
  if (versionForm.test(version)) return
  throw new QuintainError(
    'options_invalid',
    'A version of weights has 1 to 128 characters, letters and digits of ASCII and . _ - : @ + /, since it stands in the header of each reply.',
  )
}

/** Versions whose weights are remembered; the earliest is forgotten for one more. */
const mostRemembered = 10_000

interface Served extends Weights {
  leases: number
  replaced: boolean
}

/**
 * The weights that are served. A reply keeps those with which it began; the next takes those that are there then. Weights
 * that were replaced are closed when the last reply that holds them is over.
 */
export class ServedWeights {
  private current: Served
  private readonly older = new Set<Served>()
  /** What replies of a version came from, as digests; undefined of weights that have none. */
  private readonly known = new Map<string, string | undefined>()

  /** Throws `options_invalid` for a version that cannot be sent with replies. */
  constructor(weights: Weights) {
    checkVersion(weights.version)
    this.current = served(weights)
    this.remember(weights)
  }

  get version(): string {
    return this.current.version
  }

  get from(): Weights['from'] {
    return this.current.from
  }

  /** Most tokens of a prompt and its reply together. */
  get context(): number {
    return this.current.sampler.capabilities.context
  }

  get vocabulary(): number {
    return this.current.sampler.capabilities.vocabulary
  }

  /** Replies that are under way, by the version of their weights; the newest last. */
  get inFlight(): { version: string; replies: number }[] {
    return [...this.older, this.current].map(({ version, leases }) => ({ version, replies: leases }))
  }

  lease(): WeightsLease {
    const held = this.current
    held.leases += 1
    let over = false
    return {
      sampler: held.sampler,
      version: held.version,
      release: () => {
        if (over) return
        over = true
        held.leases -= 1
        this.closeUnused(held)
      },
    }
  }

  /**
   * Serves other weights from now on. Throws `checkpoint_invalid` for those of another vocabulary or context,
   * `options_invalid` for a version that cannot be sent, and `version_mismatch` for one that other weights have or had, or may
   * have had where these or those have no digest: clients tell weights apart by it. Then nothing is changed.
   */
  swap(weights: Weights): void {
    checkVersion(weights.version)
    const { context, vocabulary } = this.current.sampler.capabilities
    const next = weights.sampler.capabilities
    if (next.vocabulary !== vocabulary || next.context !== context) {
      throw new QuintainError(
        'checkpoint_invalid',
        `These weights have a vocabulary of ${next.vocabulary} and a context of ${next.context}; those that are served have ${vocabulary} and ${context}. Serve them at an address of their own.`,
        { facts: { vocabulary: next.vocabulary, context: next.context } },
      )
    }
    if ([...this.older, this.current].some(({ version }) => version === weights.version)) {
      throw new QuintainError(
        'version_mismatch',
        `Version ${weights.version} is served already, and replies are told apart by their versions. Give these weights another: "version".`,
        { facts: { version: weights.version } },
      )
    }
    const digest = weights.from?.digest
    if (
      this.known.has(weights.version) &&
      (digest === undefined || this.known.get(weights.version) !== digest)
    ) {
      throw new QuintainError(
        'version_mismatch',
        `Version ${weights.version} was that of other weights, and replies are told apart by their versions. Give these weights another: "version".`,
        { facts: { version: weights.version } },
      )
    }
    this.remember(weights)
    const replaced = this.current
    this.current = served(weights)
    replaced.replaced = true
    this.older.add(replaced)
    this.closeUnused(replaced)
  }

  /** A conversation is over, of which the sampler may keep something. */
  forget(session: string): void {
    for (const { sampler } of [...this.older, this.current]) sampler.forget(session)
  }

  /** Closes everything; replies that are under way fail. */
  async close(): Promise<void> {
    const all = [...this.older, this.current]
    await Promise.all(all.map(({ sampler }) => sampler.close()))
  }

  private remember({ version, from }: Weights): void {
    this.known.set(version, from?.digest)
    for (const earliest of this.known.keys()) {
      if (this.known.size <= mostRemembered) return
      this.known.delete(earliest)
    }
  }

  private closeUnused(held: Served): void {
    if (!held.replaced || held.leases > 0 || !this.older.delete(held)) return
    void held.sampler.close()
  }
}

function served(weights: Weights): Served {
  return { ...weights, leases: 0, replaced: false }
}
