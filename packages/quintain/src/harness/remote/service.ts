import { messageOf } from '../../core/index.ts'
import { platformFault } from '../fault-stop.ts'
import type { RemotePlan } from './options.ts'
import { RemoteFailure } from './remote-failure.ts'

/** `init` must answer at once: the rollout goes on behind it. */
const initMs = 30_000
const statusMs = 15_000
const cancelMs = 2_000
const mostBytes = 4 * 2 ** 20

/** What a service says of a rollout. */
export interface RolloutStatus {
  over: boolean
  /** Its answer, where it reports one. */
  answer?: string
  /** It failed, and this is what it says of that. */
  error?: string
}

/** What a service replied: its status code, and the JSON of its body where that is some. */
interface Reply {
  status: number
  json: unknown
  text: string
}

/**
 * A service that is an agent, in the contract of Fireworks' remote rollouts (npm `eval-protocol` 0.1.13): `POST /init`
 * starts a rollout, `GET /status?rollout_id=` gives `{ terminated, info? }`. `POST /cancel` is ours; a service without
 * it answers 404.
 */
export class Service {
  private readonly plan: RemotePlan

  constructor(plan: RemotePlan) {
    this.plan = plan
  }

  /** Starts a rollout. Throws a fault when the service cannot be reached or does not take it, and its failure for a reply without end. */
  async init(body: unknown, signal: AbortSignal): Promise<RolloutStatus> {
    const { waits } = this.plan
    let reply: Reply
    try {
      reply = await this.request('/init', signal, waits === 'init' ? undefined : initMs, body)
    } catch (thrown) {
      signal.throwIfAborted()
      if (thrown instanceof RemoteFailure) throw thrown
      throw platformFault(
        'agent_unreachable',
        `the agent at ${this.plan.url} cannot be reached: ${reason(thrown)}`,
        true,
      )
    }
    const { status, text } = reply
    if (status >= 200 && status < 300) {
      const said = statusIn(reply.json)
      return waits === 'init' ? { ...said, over: true } : said
    }
    const what = `POST /init of the agent at ${this.plan.url} answered ${status}: ${messageOf(text, 200)}`
    if (status >= 500 || status === 429 || status === 408)
      throw platformFault('agent_unreachable', what, true)
    throw platformFault('agent_refused', what, false)
  }

  /** Undefined when it gave none within `ms`. Throws a fault for a service that has none to give. */
  async status(id: string, signal: AbortSignal, ms: number): Promise<RolloutStatus | undefined> {
    let reply: Reply
    try {
      reply = await this.request(
        `/status?rollout_id=${encodeURIComponent(id)}`,
        signal,
        Math.min(ms, statusMs),
      )
    } catch (thrown) {
      signal.throwIfAborted()
      if (thrown instanceof RemoteFailure) throw thrown
      return undefined
    }
    if (reply.status === 404 || reply.status === 405)
      throw platformFault(
        'agent_status_missing',
        `the agent at ${this.plan.url} knows no GET /status of this rollout; give it one, or say waits: 'init' if it answers POST /init when the rollout is over`,
        false,
      )
    if (reply.status < 200 || reply.status >= 300 || !isStatus(reply.json)) return undefined
    return statusIn(reply.json)
  }

  /** Tells it that nobody waits any more. Whether it hears it is its own affair. */
  async cancel(id: string): Promise<void> {
    await this.request('/cancel', new AbortController().signal, cancelMs, { rollout_id: id }).catch(() => {})
  }

  private async request(
    path: string,
    signal: AbortSignal,
    ms: number | undefined,
    body?: unknown,
  ): Promise<Reply> {
    const response = await fetch(`${this.plan.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.plan.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: ms === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(ms)]),
    })
    const text = await bodyOf(response)
    return { status: response.status, json: parsed(text), text }
  }
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > mostBytes)
      throw new RemoteFailure(`the agent's service gave a reply of more than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Codes of the kit's `Status` that are no failure: OK, FINISHED, RUNNING. */
const goodCodes = [0, 100]
const runningCode = 101

/**
 * What a status says: `{ terminated, info? }`, or one with a status of the kit (`{ code, message }`) in it. An error is
 * `info.error`, or a status that is neither good nor running.
 */
export function statusIn(json: unknown): RolloutStatus {
  const body = fields(json)
  const info = fields(body['info'])
  const status = fields(body['status'] ?? info['status'])
  const code = status['code']
  const failed = typeof code === 'number' && !goodCodes.includes(code) && code !== runningCode
  const over = body['terminated'] === true || code === 100 || failed
  const error =
    info['error'] ?? body['error'] ?? (failed ? (status['message'] ?? `status ${code}`) : undefined)
  const answer = info['answer'] ?? body['answer']
  return {
    over,
    ...(typeof answer === 'string' ? { answer } : {}),
    ...(over && typeof error === 'string' && error !== '' ? { error } : {}),
  }
}

/** Whether a service says anything of a rollout: what it says besides is no status. */
function isStatus(json: unknown): boolean {
  const { terminated, status, info } = fields(json)
  const code = fields(status ?? fields(info)['status'])['code']
  return typeof terminated === 'boolean' || typeof code === 'number'
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The reason of a failed `fetch` is in its cause. */
function reason(thrown: unknown): string {
  return thrown instanceof Error && thrown.cause !== undefined
    ? messageOf(thrown.cause, 200)
    : messageOf(thrown, 200)
}
