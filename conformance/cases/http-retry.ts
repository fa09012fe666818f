import { ModelFault } from '../../packages/quintain/src/core/index.ts'
import {
  type FakeBehaviour,
  refusingUrl,
  startFakeModel,
} from '../../packages/quintain/src/models/fake-server.ts'
import {
  classifyFailure,
  createChatModel,
  createLimiter,
  isRetryableStatus,
  readProviderError,
  retryDelay,
  withRetry,
} from '../../packages/quintain/src/models/index.ts'

type Input = Record<string, unknown>

function delay({ headers, attempt, base_ms, now, max_wait_ms }: Input) {
  const { delayMs, aboveCap } = retryDelay({
    attempt: Number(attempt ?? 0),
    headers: (headers ?? {}) as Record<string, string>,
    ...(base_ms === undefined ? {} : { baseMs: Number(base_ms) }),
    ...(max_wait_ms === undefined ? {} : { maxWaitMs: Number(max_wait_ms) }),
    ...(now === undefined ? {} : { now: Date.parse(String(now)) || Number(now) }),
  })
  return { delay_ms: delayMs, slept_ms: aboveCap ? 0 : delayMs, above_cap: aboveCap }
}

async function run({ max_retries, statuses }: Input) {
  const script = statuses as number[]
  let attempts = 0
  try {
    await withRetry(
      async (number) => {
        attempts++
        const status = script[number] ?? script.at(-1) ?? 200
        if (status < 400) return
        const { code, retryable } = classifyFailure(status, { message: '' })
        throw new ModelFault({ owner: 'provider', stage: 'model', code, message: '', retryable }, { status })
      },
      { maxRetries: Number(max_retries), sleep: async () => {} },
    )
    return { attempts, result: 'ok' }
  } catch (thrown) {
    if (!(thrown instanceof ModelFault)) throw thrown
    return { attempts, result: `error_${thrown.status}` }
  }
}

/** Long deadlines are kept short; what a call takes beyond its deadline is measured and added to the asked one. */
async function deadline({ tcp, timeout_ms }: Input) {
  const asked = Number(timeout_ms)
  const limit = Math.min(asked, 300)
  const words = String(tcp)
  const behaviour: FakeBehaviour = /half|partial|body|mid|after/.test(words)
    ? { kind: 'hang_body' }
    : { kind: 'hang' }
  const fake = await startFakeModel({ otherwise: behaviour })
  const model = createChatModel({
    model: 'fake',
    baseUrl: /refus/.test(words) ? await refusingUrl() : fake.url,
    deadlines: { firstByteMs: limit, idleMs: limit, totalMs: limit * 10 },
    retry: { maxRetries: 1, baseMs: 1 },
  })
  try {
    await model.generate({ messages: [] }, { signal: new AbortController().signal })
    return { error: null }
  } catch (thrown) {
    if (!(thrown instanceof ModelFault)) throw thrown
    // Of both tries, since a machine that is busy lets timers wait.
    const took = Math.min(...thrown.retries.map(({ tookMs }) => tookMs))
    return {
      error: thrown.fault.code.startsWith('timeout_') ? 'timeout' : thrown.fault.code,
      code: thrown.fault.code,
      within_ms: asked + Math.max(0, took - limit),
      counted_as_retry: thrown.retries.length === 2,
    }
  } finally {
    await model.close?.()
    await fake.close()
  }
}

/** Each event is the status of a call, or its latency in milliseconds; as many calls run as the limit allows. */
async function limit({ events, limit: initial }: Input) {
  const list = events as number[]
  const start = Number(initial ?? 64)
  const limiter = createLimiter({ initial: start, max: Math.max(1024, start) })
  const areStatuses = list.every((event) => Number.isInteger(event) && event >= 100 && event <= 599)
  const permits = await Promise.all(Array.from({ length: start }, () => limiter.acquire()))
  for (const event of list) {
    permits.shift()?.release(areStatuses ? { status: event } : { status: 200, latencyMs: event })
    while (limiter.inFlight < limiter.limit) permits.push(await limiter.acquire())
  }
  return { limit: limiter.limit }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'error.classify': ({ status, body }) => {
    const { outcome, code, retryable } = classifyFailure(Number(status), readProviderError(body))
    return { outcome: outcome ?? 'provider_fault', code, retryable }
  },
  'limiter.update': limit,
  'request.deadline': deadline,
  'retry.classify': ({ statuses }) => ({
    retry: (statuses as number[]).filter(isRetryableStatus),
    no_retry: (statuses as number[]).filter((status) => !isRetryableStatus(status)),
  }),
  'retry.delay': delay,
  'retry.run': run,
}
