import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ToolSpec } from '../core/model.ts'
import type { Schema } from '../core/standard-schema.ts'
import type { Tool, ToolContext, ToolResult } from '../core/tool.ts'
import { AttemptEndpoint } from './attempt-endpoint.ts'
import { loadServer } from './sdk.ts'
import { BodyTooLarge, sendResponse, webRequest } from './web-request.ts'

/** Tools of one session whose calls are carried out by somebody else, who checks and bounds them. */
export interface SessionToolsOptions {
  tools: readonly ToolSpec[]
  /** Carries out a call, of a tool that is not there too, with its arguments as they came. A `FaultError` that it throws becomes an error of the protocol. */
  run(name: string, given: unknown, context: ToolContext): Promise<ToolResult>
  /** Told to clients as the server's instructions. */
  instructions?: string
  /** Milliseconds after which a call is given up here; `run` has its own, shorter limits. 24 hours when absent. */
  callMs?: number
  /** Calls that may wait behind the one that runs. Default 64. */
  maxWaiting?: number
  /** Sessions of legacy clients at once: some open one for each call. Default 16. */
  maxSessions?: number
  /** Milliseconds between signs of life to a client that asked for progress. Default 5,000. */
  progressMs?: number
}

/** An MCP endpoint that its owner hangs on a server of its own. */
export interface SessionTools {
  /**
   * Answers a request of streamable HTTP, of clients of both eras. Who may ask is checked before: by address, `Host`,
   * `Origin` and credential.
   */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Stops its calls, ends its sessions; every later request is answered with 404. */
  close(): Promise<void>
}

/** Bytes of one request. */
const maxBodyBytes = 4 * 2 ** 20

/** Throws `needs_unmet` when `@modelcontextprotocol/server` is not installed. */
export async function checkSessionTools(): Promise<void> {
  await loadServer()
}

/**
 * Serves the tools of one session over MCP without listening anywhere. `serveTools` is for worlds' own tools, with a port.
 *
 * @example
 * const tools = sessionTools({ tools: opening.tools, run: (name, given) => play(name, given) })
 * createServer((request, response) => void tools.handle(request, response))
 */
export function sessionTools(options: SessionToolsOptions): SessionTools {
  const endpoint = new AttemptEndpoint({
    tools: options.tools.map((spec) => toolOf(spec, options)),
    // A call of a tool that is not there is the agent's mistake, which is on record like any other.
    otherwise: (name) => toolOf({ name, description: '', parameters: {} }, options),
    instructions: options.instructions,
    callMs: options.callMs ?? 24 * 3600 * 1000,
    maxWaiting: options.maxWaiting ?? 64,
    maxSessions: options.maxSessions ?? 16,
    progressMs: options.progressMs ?? 5_000,
    redact: (text) => text,
  })
  return {
    async handle(request, response) {
      const gone = new AbortController()
      response.once('close', () => {
        if (!response.writableFinished) gone.abort(new Error('the caller has gone'))
      })
      // Only the path is the caller's to say; the SDK looks at neither host nor port.
      const url = new URL(request.url?.startsWith('/') === true ? request.url : '/', 'http://127.0.0.1')
      let given: Request
      try {
        given = await webRequest(request, { url, maxBodyBytes, signal: gone.signal })
      } catch (thrown) {
        if (!(thrown instanceof BodyTooLarge)) throw thrown
        // What is left of the body is not read.
        response.setHeader('connection', 'close')
        const error = `the body has more than ${maxBodyBytes} bytes`
        response.writeHead(413, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
        return
      }
      await sendResponse(await endpoint.fetch(given), response)
    },
    close: () => endpoint.close(),
  }
}

/** Whoever carries calls out checks their arguments, so that what is wrong with them is recorded. */
const anything: Schema = {
  '~standard': { version: 1, vendor: 'quintain', validate: (value: unknown) => ({ value }) },
}

function toolOf(spec: ToolSpec, { run }: SessionToolsOptions): Tool {
  return {
    name: spec.name,
    description: spec.description ?? '',
    schema: anything,
    spec,
    run: (input: unknown, context: ToolContext) => run(spec.name, input, context),
  }
}
