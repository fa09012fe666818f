import { randomUUID } from 'node:crypto'
import { type HttpAnswer, type HttpCall, type HttpPort, openHttp } from '../../core/http-port.ts'
import { QuintainError } from '../../core/index.ts'
import type { Renderer } from '../renderer.ts'
import { Admission } from './admission.ts'
import { Control, type LoadWeights } from './control.ts'
import { Conversations } from './conversations.ts'
import { type Routed, route } from './model-routes.ts'
import { broken, problemBody, problemOf } from './problem.ts'
import { TokenTexts } from './reply-form.ts'
import { ServedWeights, type Weights } from './served-weights.ts'

export interface ServeModelOptions {
  /** What is served first. The server closes its sampler. */
  weights: Weights
  renderer: Renderer
  /** The name by which clients ask for the model. */
  name: string
  /** 127.0.0.1 when absent; elsewhere a token is needed. */
  host?: string
  /** 0, or absent: any that is free. */
  port?: number
  /** Clients must show it. */
  token?: string
  /** Names of this machine by which requests may call it, beside those of loopback. */
  names?: ReadonlySet<string>
  /** The address at which weights are swapped, on loopback, with a token of its own. Absent: there is none. */
  control?: { port: number; token: string; load: LoadWeights }
  limits?: Partial<ModelServerLimits>
  log(line: string): void
}

export interface ModelServerLimits {
  /** Sequences that are sampled at a time. 256. */
  inFlight: number
  /** Sequences that may wait; beyond, requests are refused with 429. 1,024. */
  waiting: number
  /** Sequences of one request; it is refused with 400 for more, and for more than are sampled and wait together. 256. */
  perRequest: number
  /** Tokens that are remembered of conversations, so that one that goes on is not encoded again. 4 million: 16 MB. */
  remembered: number
  /** A reader that takes nothing of a stream for so long is hung up on, in milliseconds. 60,000. */
  stallMs: number
}

/** A model that is served. */
export interface ModelServer {
  /** Base URL for clients, with `/v1`. */
  readonly url: string
  readonly controlUrl: string | undefined
  readonly weights: ServedWeights
  /** Sequences that are sampled, and that wait. */
  readonly load: { inFlight: number; waiting: number }
  /**
   * Takes no more requests and waits for those that are answered: at most `graceMs`, or until `hardSignal`. Then everything
   * ends. Gives how many sequences were cut off.
   */
  drain(options: { graceMs: number; hardSignal?: AbortSignal }): Promise<{ cut: number }>
}

/** Bytes of a request: a hundred prompts of the longest context, as ids. More would be read and encoded for nothing. */
const mostBytes = 4 * 2 ** 20

const defaults: ModelServerLimits = {
  inFlight: 256,
  waiting: 1_024,
  perRequest: 256,
  remembered: 4_000_000,
  stallMs: 60_000,
}

/**
 * Serves a policy as OpenAI's endpoints are served: chat completions and completions, streamed or whole, with log-probabilities,
 * and with vLLM's token ids and the version of the weights, by which replies are recorded exactly. A reply keeps the weights
 * with which it began. Throws `usage` for an address that cannot be had or that needs a token, and for a control token that
 * clients have too; `options_invalid` for limits that are none, and for a version that no header carries.
 *
 * @example
 * const sampler = await learner.sampler()
 * const server = await serveModel({ weights: { sampler, version: '0' }, renderer, name: 'policy', log: console.error })
 * // quintain eval ENV -m policy --base-url http://127.0.0.1:PORT/v1 --server vllm
 */
export async function serveModel(options: ServeModelOptions): Promise<ModelServer> {
  const { renderer, name, host = '127.0.0.1', control, log } = options
  if (control !== undefined && control.token === options.token) {
    throw new QuintainError(
      'usage',
      'Clients and whoever swaps weights must not have the same token: give each one of its own.',
    )
  }
  const limits = checkedLimits({ ...defaults, ...options.limits })
  const weights = new ServedWeights(options.weights)
  const admission = new Admission(limits)
  const ended = new AbortController()
  let draining = false
  const routed: Routed = {
    weights,
    admission,
    mostSequences: Math.min(limits.perRequest, limits.inFlight + limits.waiting),
    renderer,
    name,
    stallMs: limits.stallMs,
    ended: ended.signal,
    nonce: randomUUID(),
    conversations: new Conversations(renderer, limits.remembered, (session) => weights.forget(session)),
    texts: new TokenTexts(renderer),
    since: Math.floor(Date.now() / 1_000),
    get draining() {
      return draining
    },
    log,
  }
  const handlerOf = (handle: (call: HttpCall) => Promise<HttpAnswer | undefined>) => ({
    handle: async (call: HttpCall) => {
      try {
        return await handle(call)
      } catch (thrown) {
        // Nobody is there to be told.
        if (call.response.destroyed) return undefined
        const problem = problemOf(thrown)
        if (problem === undefined) throw thrown
        const { status, headers } = problem
        return { status, headers, json: problemBody(problem) }
      }
    },
    problem: (status: number, message: string) => problemBody(status === 500 ? broken : { status, message }),
    log,
  })
  const opened: HttpPort[] = []
  try {
    const port = await openHttp({
      host,
      port: options.port ?? 0,
      ...(options.token === undefined ? {} : { token: options.token }),
      ...(options.names === undefined ? {} : { names: options.names }),
      open: new Set(['/health']),
      maxBodyBytes: mostBytes,
      ...handlerOf((call) => route(call, routed)),
    })
    opened.push(port)
    let controlUrl: string | undefined
    if (control !== undefined) {
      const swaps = new Control(weights, control.load)
      const { port: at, token } = control
      const operations = await openHttp({
        host: '127.0.0.1',
        port: at,
        token,
        ...handlerOf((call) => swaps.answer(call)),
      })
      opened.push(operations)
      controlUrl = operations.url
    }
    return {
      url: `${port.url}/v1`,
      controlUrl,
      weights,
      get load() {
        return { inFlight: admission.inFlight, waiting: admission.waiting }
      },
      async drain({ graceMs, hardSignal }) {
        draining = true
        admission.close()
        await admission.empty(graceMs, hardSignal)
        const cut = admission.inFlight + admission.waiting
        ended.abort(new QuintainError('sampler_closed', 'The server has ended.'))
        await Promise.all(opened.map((address) => address.close()))
        await weights.close()
        return { cut }
      },
    }
  } catch (thrown) {
    await Promise.all(opened.map((address) => address.close()))
    await weights.close()
    throw thrown
  }
}

/** What limits may be, from and to. */
const bounds: Readonly<Record<keyof ModelServerLimits, readonly [number, number]>> = {
  inFlight: [1, 65_536],
  waiting: [0, 2 ** 20],
  perRequest: [1, 65_536],
  remembered: [0, 2 ** 30],
  stallMs: [1, 2 ** 31 - 1],
}

function checkedLimits(limits: ModelServerLimits): ModelServerLimits {
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const limit = new Map(Object.entries(limits)).get(name)
    if (Number.isInteger(limit) && limit >= least && limit <= most) continue
    throw new QuintainError(
      'options_invalid',
      `The limit ${name} of a server of models is ${limit}; give a whole number from ${least} to ${most}.`,
      { facts: { limit: name } },
    )
  }
  return limits
}
