import { createHash } from 'node:crypto'
import { QuintainError } from '../core/errors.ts'
import {
  type Model,
  type ModelContext,
  ModelFault,
  type ModelRequest,
  type ModelResponse,
} from '../core/model.ts'
import type { RetryEntry } from '../core/records.ts'

export interface ReplicaOptions {
  /** How long a replica that failed is left alone, in milliseconds; doubled at each failure in a row. 1,000 when absent. */
  downMs?: number
  /** The longest that it is left alone; 60,000 when absent. */
  maxDownMs?: number
  /** Milliseconds since some moment; for tests. */
  now?: () => number
}

/** Where attempts are is remembered for the latest of them; the rank of the replicas says it again for any other. */
const mostRemembered = 10_000

/** Failures that say that nobody is there, or nobody who can answer; others say something of the request. */
const absences =
  /^(connection_refused|closed_early|dns_failed|tls_failed|timeout_|http_5|not_http|stream_incomplete)/

interface Replica {
  model: Model
  /** Salt of its rank among the replicas. */
  name: string
  failures: number
  downUntil: number
}

/**
 * Several endpoints of one policy as one model. An attempt stays with one replica, whose cache holds its prompt (highest
 * random weight of attempt and replica, so that the attempts of a lost replica spread over the others and no other
 * attempt moves). It moves only when its replica is down, within the call that finds it so, and stays where it went; the
 * reply of that call carries the flag `replica_moved`. A replica is down for a while after a failure that says that nobody
 * is there; then the next call tries it. Where all are down, the attempt's own is asked.
 *
 * Each model's own retries come first: give it few (`retry: { maxRetries: 1 }`), since another replica is at hand.
 *
 * Throws `options_invalid` for no models, and for models of different ids.
 *
 * @example
 * const model = createReplicas(urls.map((baseUrl) => createChatModel({ model: 'policy', baseUrl, server: 'vllm' })))
 */
export function createReplicas(models: readonly Model[], options: ReplicaOptions = {}): Model {
  const { downMs = 1_000, maxDownMs = 60_000, now = () => performance.now() } = options
  const [first] = models
  const other = models.find(({ id }) => id !== first?.id)
  if (first === undefined || other !== undefined)
    throw new QuintainError(
      'options_invalid',
      first === undefined
        ? 'There are no replicas; give at least one model.'
        : `${first.id} and ${other?.id} are no replicas of one policy; give models of one id.`,
      { facts: { option: 'models' } },
    )
  const replicas = models.map(
    (model, index): Replica => ({
      model,
      name: `${model.endpoint ?? ''} ${index}`,
      failures: 0,
      downUntil: 0,
    }),
  )
  const endpoints = new Set(models.flatMap(({ endpoint }) => (endpoint === undefined ? [] : [endpoint])))
  const placed = new Map<string, Replica>()
  let unnamed = 0

  /** Replicas to ask, in order: the one where the attempt is, then by rank; those that are down are left out. */
  function ranked(attempt: string): Replica[] {
    const at = now()
    const own = placed.get(attempt)
    const rest = replicas
      .filter((replica) => replica !== own)
      .map((replica) => ({ replica, rank: rankOf(replica.name, attempt) }))
      .sort((a, b) => (a.rank < b.rank ? 1 : -1))
      .map(({ replica }) => replica)
    const order = own === undefined ? rest : [own, ...rest]
    const up = order.filter(({ downUntil }) => downUntil <= at)
    // Where all are down, the attempt's own is as good as any.
    return up.length === 0 ? order.slice(0, 1) : up
  }

  function place(attempt: string, replica: Replica): void {
    placed.delete(attempt)
    placed.set(attempt, replica)
    const [oldest] = placed.keys()
    if (placed.size > mostRemembered && oldest !== undefined) placed.delete(oldest)
  }

  /** Calls that fail together are one failure. */
  function failed(replica: Replica): void {
    if (replica.downUntil > now()) return
    replica.downUntil = now() + Math.min(maxDownMs, downMs * 2 ** Math.min(replica.failures, 30))
    replica.failures++
  }

  async function generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse> {
    const attempt = context.attempt ?? `call ${unnamed++}`
    const ledger: RetryEntry[] = []
    let told = false
    const { onDelta } = context
    const watched: ModelContext =
      onDelta === undefined
        ? context
        : {
            ...context,
            onDelta: (delta) => {
              told = true
              return onDelta(delta)
            },
          }
    const candidates = ranked(attempt)
    for (const [index, replica] of candidates.entries()) {
      try {
        const response = await replica.model.generate(request, watched)
        replica.failures = 0
        replica.downUntil = 0
        const from = placed.get(attempt)
        const moved = (from ?? candidates[0]) !== replica
        if (context.attempt !== undefined) place(attempt, replica)
        return {
          ...response,
          ...(moved ? { flags: [...(response.flags ?? []), 'replica_moved'] } : {}),
          ...withLedger(response, ledger),
        }
      } catch (thrown) {
        if (!(thrown instanceof ModelFault)) throw thrown
        ledger.push(...thrown.retries)
        const absent = thrown.fault.owner === 'provider' && absences.test(thrown.fault.code)
        if (absent) failed(replica)
        // What was told cannot be taken back, and what another replica would refuse too is not asked again.
        if (!absent || told || index === candidates.length - 1 || context.signal.aborted)
          throw ledgered(thrown, ledger)
      }
    }
    throw new QuintainError('internal', 'No replica was asked.')
  }

  return {
    id: first.id,
    ...(endpoints.size === 0 ? {} : { endpoint: [...endpoints].join(' ') }),
    ...(first.server === undefined ? {} : { server: first.server }),
    priced: models.every(({ priced }) => priced !== false),
    costOf: (usage) => first.costOf?.(usage) ?? null,
    generate,
    async countTokens(request, context) {
      return ranked(context.attempt ?? '')[0]?.model.countTokens?.(request, context)
    },
    async close() {
      await Promise.all(models.map((model) => model.close?.()))
    },
  }
}

/** Rank of a replica for an attempt, the same in every process; the highest goes first. */
function rankOf(replica: string, attempt: string): string {
  return createHash('sha1').update(`${replica}\n${attempt}`).digest('hex')
}

function withLedger(response: ModelResponse, ledger: readonly RetryEntry[]): Partial<ModelResponse> {
  if (ledger.length === 0) return {}
  const lost = ledger.reduce((sum, { tookMs, waitedMs }) => sum + tookMs + waitedMs, 0)
  const { timing } = response
  return {
    retries: [...ledger, ...(response.retries ?? [])],
    ...(timing === undefined
      ? {}
      : { timing: { ...timing, totalMs: timing.totalMs + lost, waitMs: timing.waitMs + lost } }),
  }
}

function ledgered(thrown: ModelFault, retries: RetryEntry[]): ModelFault {
  const { fault, outcome, status, retryAfterMs, rejected, cause } = thrown
  return new ModelFault(fault, { outcome, status, retryAfterMs, retries, rejected, cause })
}
