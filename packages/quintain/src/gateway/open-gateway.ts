import type { IncomingMessage, ServerResponse } from 'node:http'
import { getHeapStatistics } from 'node:v8'
import { stackOf } from '../core/index.ts'
import { dialects } from '../models/dialects/index.ts'
import { Ticker } from '../models/ticker.ts'
import { breathed } from './breathe.ts'
import { Credentials, sameText } from './credential.ts'
import type { Gateway, GatewayOptions, Lease, LeaseOptions } from './gateway.ts'
import { GatewayLease, type LeaseShared } from './gateway-lease.ts'
import { HeldBodies } from './held-bodies.ts'
import { isForeign } from './host-guard.ts'
import { inProcessFetch } from './in-process-fetch.ts'
import { listen } from './listen.ts'
import { NodeExchange } from './node-exchange.ts'
import { sendError } from './recipient.ts'
import { type Served, serve } from './serve.ts'

/**
 * Opens a run's gateway: HTTP on loopback and on a Unix socket, where the programs of thousands of attempts reach their
 * models in OpenAI's and Anthropic's dialects. Throws `usage` for a port that cannot be had.
 *
 * @example
 * const gateway = await openGateway()
 * const { baseURL, apiKey } = gateway.open({ seat, signal })
 */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { maxBodyBytes = 64 * 1024 * 1024, bodyMs = 120_000, log = () => {} } = options
  const patience = {
    graceMs: options.graceMs ?? 2_000,
    keepMs: options.keepMs ?? 60_000,
    faultMs: options.faultMs ?? 10_000,
    stallMs: options.stallMs ?? 120_000,
    keepAliveMs: options.keepAliveMs ?? 15_000,
  }
  const shortest = Math.min(...Object.values(patience))
  const shared: LeaseShared = {
    patience,
    ticker: new Ticker(Math.min(1_000, Math.max(5, shortest / 10))),
    maxBodyBytes,
    bodies: new HeldBodies(getHeapStatistics().heap_size_limit / 3),
    log,
  }
  const credentials = new Credentials()
  const leases = new Map<string, GatewayLease>()
  const served: Served = {
    dialects,
    maxBodyBytes,
    leaseOf(apiKey) {
      if (apiKey === undefined) return undefined
      const lease = leases.get(credentials.handleIn(apiKey))
      if (lease !== undefined) return sameText(apiKey, lease.apiKey) ? lease : undefined
      return credentials.issued(apiKey) ? 'over' : undefined
    },
    log: (thrown) => log(`gateway: ${stackOf(thrown)}`),
  }
  const names = new Set((options.hosts ?? []).map((name) => name.toLowerCase()))

  function answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    breathed()
    void serve(new NodeExchange(request, response, expectsContinue), served)
  }

  const server = await listen(
    {
      tcp(request, response, expectsContinue) {
        if (!isForeign(request.headers, names)) answer(request, response, expectsContinue)
        else sendError(new NodeExchange(request, response), dialects.chat, foreign)
      },
      // No page reaches it.
      socket: answer,
    },
    {
      port: options.port ?? 0,
      bodyMs,
      onError: ({ message }) => log(`gateway: a connection could not be taken: ${message}`),
      malformed: (status) => JSON.stringify(dialects.chat.errorBody({ ...malformed, status })),
    },
  )
  const origin = `http://127.0.0.1:${server.port}`

  function open(leased: LeaseOptions): Lease {
    const issued = credentials.issue()
    const { handle, apiKey } = issued
    const lease = new GatewayLease(issued, leased, shared)
    leases.set(handle, lease)
    const close = (): void => {
      leased.signal?.removeEventListener('abort', close)
      leases.delete(handle)
      lease.close()
    }
    leased.signal?.addEventListener('abort', close, { once: true })
    if (leased.signal?.aborted === true) close()
    return {
      baseURL: `${origin}/r/${handle}/v1`,
      anthropicBaseURL: `${origin}/r/${handle}`,
      apiKey,
      model: lease.model,
      socketPath: server.socketPath,
      path: `/r/${handle}/v1`,
      fetch: inProcessFetch((exchange) => serve(exchange, served, lease)),
      close,
    }
  }

  return {
    port: server.port,
    socketPath: server.socketPath,
    open,
    async close() {
      for (const lease of leases.values()) lease.close()
      leases.clear()
      await server.close()
    },
  }
}

const foreign = {
  status: 403,
  code: 'forbidden',
  message:
    'The Host or Origin header names another machine; the gateway is for programs of this one (option hosts).',
}

const malformed = { code: 'invalid_request', message: 'This is no HTTP request that can be read to its end.' }
