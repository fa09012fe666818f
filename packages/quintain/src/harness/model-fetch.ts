import type { ModelAddress } from '../core/index.ts'

/** A host that no name server knows (RFC 2606): only a `fetch` of ours takes it anywhere. */
const host = 'quintain.invalid'

/** Base URL for clients with `rolloutFetch`, as OpenAI's SDKs take it. */
export const rolloutBaseURL = `http://${host}/v1`
/** The same as Anthropic's SDKs take it. */
export const anthropicRolloutBaseURL = `http://${host}`

type FetchInput = Parameters<typeof globalThis.fetch>[0]

/** Whether a request is for the model of a rollout: by our host, or by a path alone. */
export function isRolloutAddress(input: FetchInput): boolean {
  const url = urlOf(input)
  return url.startsWith('/') || URL.parse(url)?.hostname === host
}

/**
 * A `fetch` that takes requests for the host above to a model's address, with its credential. The address is opened at
 * the first request.
 */
export function modelFetch(address: () => Promise<ModelAddress>): typeof globalThis.fetch {
  return async (input, init) => {
    const { fetch, baseURL, path, apiKey } = await address()
    const asked = new URL(urlOf(input), rolloutBaseURL)
    const below = asked.pathname.replace(/^\/v1(?=\/|$)/, '')
    const url = new URL(`${path}${below}${asked.search}`, baseURL)
    const request = new Request(input instanceof Request ? new Request(url, input) : url, init)
    // Whatever key the client was made with: this one says whose call it is.
    request.headers.delete('x-api-key')
    request.headers.set('authorization', `Bearer ${apiKey}`)
    return fetch(request)
  }
}

function urlOf(input: FetchInput): string {
  return typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
}
