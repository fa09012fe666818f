import type { DialectName } from '../core/index.ts'
import type { Dialect } from '../models/dialects/dialect.ts'
import type { Exchange } from './exchange.ts'
import type { GatewayLease } from './gateway-lease.ts'
import { modelEntry, modelList } from './model-list.ts'
import { readJson } from './read-body.ts'
import { sendError, sendJson } from './recipient.ts'
import { attemptOver, broken, Refusal } from './refusal.ts'
import { offered, type Route, readTarget } from './routes.ts'

/** What requests are answered from. */
export interface Served {
  dialects: Readonly<Record<DialectName, Dialect>>
  maxBodyBytes: number
  /** The lease that a credential names, or `over` for one that was. */
  leaseOf(apiKey: string | undefined): GatewayLease | 'over' | undefined
  log(thrown: unknown): void
}

/** Answers one request. `own`: the lease of a caller in this process, which needs no credential. Never rejects. */
export async function serve(exchange: Exchange, served: Served, own?: GatewayLease): Promise<void> {
  const address = readTarget(exchange.target)
  const name = address === undefined ? 'chat' : dialectOf(address.route, exchange)
  const dialect = served.dialects[name]
  let lease = own
  try {
    if (address === undefined) throw notFound(exchange)
    lease ??= leaseOf(exchange, served, address.handle)
    if (address.handle !== undefined && address.handle !== lease.handle) throw unauthorized()
    if (lease.over) throw new Refusal(attemptOver)
    checkMethod(exchange, address.route)
    await answer(exchange, { route: address.route, lease, dialect, served })
  } catch (thrown) {
    if (exchange.closed) return
    const error =
      thrown instanceof Refusal ? thrown.error : (lease?.errorOf(thrown, name) ?? unknown(thrown, served))
    sendError(exchange, dialect, error, thrown instanceof Refusal ? thrown.headers : {})
  }
}

async function answer(
  exchange: Exchange,
  { route, lease, dialect, served }: { route: Route; lease: GatewayLease; dialect: Dialect; served: Served },
): Promise<void> {
  const anthropic = dialect.name === 'messages'
  if (route.kind === 'models') return sendJson(exchange, modelList(lease.model, anthropic))
  if (route.kind === 'model') return sendJson(exchange, modelEntry(route.id, anthropic))
  const { maxBodyBytes } = served
  const body = await readJson(exchange, { maxBytes: maxBodyBytes, count: (bytes) => lease.countBytes(bytes) })
  if (route.kind === 'call') lease.answer(exchange, dialect, body)
  else sendJson(exchange, { input_tokens: await lease.countTokens(dialect, body) })
}

function leaseOf(exchange: Exchange, served: Served, handle: string | undefined): GatewayLease {
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(exchange.header('authorization') ?? '')?.[1]
  const byBearer = served.leaseOf(bearer)
  const byKey = served.leaseOf(exchange.header('x-api-key'))
  const lease = byBearer ?? byKey
  // Programs that take both may have a key of elsewhere in one of them; two attempts at once is a mistake.
  if (lease === undefined || (byKey !== undefined && byKey !== lease)) throw unauthorized()
  if (lease === 'over') throw new Refusal(attemptOver)
  if (handle !== undefined && handle !== lease.handle) throw unauthorized()
  return lease
}

/** The form in which a route is answered. Model lists have one path for all: what Anthropic's SDKs send tells them. */
function dialectOf(route: Route, exchange: Exchange): DialectName {
  if (route.kind === 'call') return route.dialect
  if (route.kind === 'count') return 'messages'
  return exchange.header('anthropic-version') === undefined ? 'chat' : 'messages'
}

function checkMethod(exchange: Exchange, route: Route): void {
  const method = route.kind === 'call' || route.kind === 'count' ? 'POST' : 'GET'
  if (exchange.method === method) return
  const message = `${exchange.method.slice(0, 16)} is not known here; this path takes ${method}.`
  throw new Refusal({ status: 405, code: 'method_not_allowed', message }, { allow: method })
}

function notFound({ method }: Exchange): Refusal {
  const message = `There is nothing under this path for ${method.slice(0, 16)}; there is ${offered}.`
  return new Refusal({ status: 404, code: 'not_found', message })
}

function unauthorized(): Refusal {
  const message =
    'No attempt has this credential. Send the key that the attempt was given, as bearer token or as x-api-key.'
  // Whoever has no credential keeps no connection.
  const headers = { 'www-authenticate': 'Bearer', connection: 'close' }
  return new Refusal({ status: 401, code: 'invalid_api_key', message }, headers)
}

function unknown(thrown: unknown, served: Served) {
  served.log(thrown)
  return broken
}
