import { QuintainError } from '../core/errors.ts'
import { setTimeout } from '../core/own-time.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { ChannelMaker } from './connection.ts'
import { GuardedTransport } from './guarded-transport.ts'
import { loadClient } from './sdk.ts'

/** An MCP server at an address. */
export interface HttpServer {
  url: string | URL
  /** Sent with every request, such as a bearer token. */
  headers?: Readonly<Record<string, string>>
  /** `sse`: the transport of revision 2024-11-05, which servers of that time speak and nothing else. Default `http`. */
  transport?: 'http' | 'sse'
}

/** How long the server has to take note of the end of the session. */
const farewellMs = 1_000

/** Throws `usage` for an address that is none. */
export function httpChannel(server: HttpServer, maxMessageBytes: number): ChannelMaker {
  const url = addressOf(server.url)
  const sse = server.transport === 'sse'
  return {
    // The rest of an address does not belong into messages: keys stand in paths and queries.
    name: `MCP server ${url.origin}`,
    era: sse ? 'legacy' : undefined,
    connected() {},
    lastWords: () => '',
    stderr: () => '',
    skippedLines: () => 0,
    pid: () => undefined,
    async open() {
      const { StreamableHTTPClientTransport, SSEClientTransport } = await loadClient()
      let guard: GuardedTransport | undefined
      const options = {
        requestInit: { headers: { ...server.headers } },
        fetch: boundedFetch({
          maxBytes: maxMessageBytes,
          onTooLarge: (id) =>
            guard?.answerFor(id, 'result_too_large', `the answer has more than ${maxMessageBytes} bytes`),
        }),
      }
      if (sse) {
        guard = new GuardedTransport(new SSEClientTransport(url, options))
        return { guard }
      }
      const transport = new StreamableHTTPClientTransport(url, options)
      guard = new GuardedTransport(transport)
      const endSession = async () => {
        if (transport.sessionId === undefined) return
        const late = new Promise<void>((resolve) => {
          setTimeout(resolve, farewellMs).unref()
        })
        await Promise.race([transport.terminateSession(), late])
      }
      return { guard, endSession }
    },
  }
}

function addressOf(given: string | URL): URL {
  const url = URL.parse(String(given))
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new QuintainError('usage', 'mcpTools({ url }): url is no http or https address.')
  return url
}
