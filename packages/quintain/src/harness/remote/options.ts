import { QuintainError } from '../../core/index.ts'

/** A service that is an agent, and how it is asked. */
export interface RemoteOptions {
  /** Sent with every request to it, such as its credential. */
  headers?: Readonly<Record<string, string>>
  /**
   * Where it reaches the run's gateway, when it is on another machine: an address that leads to the gateway's port here.
   * Null says that it brings its own model. The gateway itself listens on this machine only.
   */
  publicUrl?: string | null
  /**
   * How it tells that a rollout is over: by its `status` (the default), or by the reply to `init`, which it then gives
   * only when the rollout is over.
   */
  waits?: 'status' | 'init'
  /** Goes into `completion_params`, beside the model. */
  completionParams?: Readonly<Record<string, unknown>>
  /** Longest pause between two questions after its status, in milliseconds. Default 2,000. */
  pollMs?: number
  /** It is lost when it has given no status for so many milliseconds. Default 30,000. */
  lostAfterMs?: number
  /** For a rollout that a tool has ended: milliseconds in which it may still say so. Default 2,000. */
  graceMs?: number
  /** For the records. */
  name?: string
}

/** Options after their checks, with the defaults in. */
export interface RemotePlan extends Required<Omit<RemoteOptions, 'publicUrl' | 'name'>> {
  /** Without a slash at its end. */
  url: string
  /** Undefined on this machine. */
  publicUrl: string | null | undefined
  name: string
}

/** Throws `usage` for an address that is none, and for one elsewhere that could not reach the gateway. */
export function planRemote(given: string, options: RemoteOptions): RemotePlan {
  const url = httpUrl(given, 'its address')
  const { publicUrl } = options
  const here = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (!here && publicUrl === undefined)
    throw refused(
      `${url.hostname} is another machine, and the gateway listens on this one; give publicUrl, an address there that leads here, or null for an agent that brings its own model`,
    )
  return {
    headers: {},
    waits: 'status',
    completionParams: {},
    pollMs: 2_000,
    lostAfterMs: 30_000,
    graceMs: 2_000,
    ...options,
    name: options.name ?? '',
    url: withoutSlash(url),
    publicUrl: typeof publicUrl === 'string' ? withoutSlash(httpUrl(publicUrl, 'publicUrl')) : publicUrl,
  }
}

function httpUrl(text: string, what: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw refused(`${what} is ${JSON.stringify(text)}; give one that begins with http:// or https://`)
  return url
}

function withoutSlash(url: URL): string {
  return url.href.replace(/\/+$/, '')
}

function refused(what: string): QuintainError {
  return new QuintainError('usage', `remote: ${what}.`)
}
