type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface BoundedFetchOptions {
  /** Bytes that one answer may have; of an event stream, one event. */
  maxBytes: number
  /** An answer was longer and is no longer read. `id` is that of the JSON-RPC request that it belongs to. */
  onTooLarge(id: string | number | undefined): void
}

/** `fetch` whose bodies end with an error when they pass a size. */
export function boundedFetch({ maxBytes, onTooLarge }: BoundedFetchOptions): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.body === null) return response
    const events = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    const count = createCounter(events)
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (count(chunk) <= maxBytes) return controller.enqueue(chunk)
          onTooLarge(requestIdOf(init?.body))
          controller.error(new Error(`the server's answer has more than ${maxBytes} bytes`))
        },
      }),
    )
    const { status, statusText, headers } = response
    return new Response(body, { status, statusText, headers })
  }
}

/** Counts the bytes of a body, or of an event stream those since the last empty line, which ends an event. */
function createCounter(events: boolean): (chunk: Uint8Array) => number {
  let bytes = 0
  let atLineStart = false
  return (chunk) => {
    if (!events) {
      bytes += chunk.length
      return bytes
    }
    let end = -1
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === 13) continue
      if (byte === 10 && atLineStart) end = at
      atLineStart = byte === 10
    }
    bytes = end < 0 ? bytes + chunk.length : chunk.length - end
    return bytes
  }
}

function requestIdOf(body: unknown): string | number | undefined {
  if (typeof body !== 'string') return undefined
  try {
    const { id } = JSON.parse(body) as { id?: unknown }
    return typeof id === 'string' || typeof id === 'number' ? id : undefined
  } catch {
    return undefined
  }
}
