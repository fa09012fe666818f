import { randomUUID } from 'node:crypto'
import type {
  McpHttpHandler,
  Server,
  ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { FaultError } from '../core/fault-error.ts'
import { now, setTimeout } from '../core/own-time.ts'
import { quintainVersion } from '../core/version.ts'
import { loadServer } from './sdk.ts'
import { CallRefused, ServedCalls, type ServedCallsOptions, startProgress } from './served-calls.ts'

export interface AttemptEndpointOptions extends ServedCallsOptions {
  instructions?: string | undefined
  /** Sessions of the legacy era that may be open at once; the one that was idle longest gives way. */
  maxSessions: number
  progressMs: number
}

/** How long an answer has to leave before its stream is closed. */
const flushMs = 10

interface LegacySession {
  server: Server
  transport: WebStandardStreamableHTTPServerTransport
  used: number
}

/**
 * The MCP endpoint of one attempt, of both eras. A request of 2026 and later stands for itself; one of before belongs
 * to a session, which holds nothing but the stream for notifications: state is in the world.
 */
export class AttemptEndpoint {
  private readonly options: AttemptEndpointOptions
  private readonly calls: ServedCalls
  private readonly sessions = new Map<string, LegacySession>()
  private readonly inFlight = new Set<Promise<unknown>>()
  private modern: McpHttpHandler | undefined
  private closed = false

  constructor(options: AttemptEndpointOptions) {
    this.options = options
    this.calls = new ServedCalls(options)
  }

  /** The environment's word for the end of the episode, once a tool's turn has said it. */
  get over(): string | undefined {
    return this.calls.over
  }

  /** The first failure of the world's tools. */
  get failure(): FaultError | undefined {
    return this.calls.failure
  }

  /** Calls that were carried out. */
  get count(): number {
    return this.calls.count
  }

  get openSessions(): number {
    return this.sessions.size
  }

  async fetch(request: Request): Promise<Response> {
    if (this.closed) return Response.json({ error: 'not found' }, { status: 404 })
    const { createMcpHandler, isLegacyRequest } = await loadServer()
    if (await isLegacyRequest(request)) return this.legacy(request)
    this.modern ??= createMcpHandler(() => this.server(), { legacy: 'reject', maxSubscriptions: 16 })
    return this.modern.fetch(request)
  }

  /** Tells every client that listens that the tool list is another. */
  toolsChanged(): void {
    this.modern?.notify.toolsChanged()
    for (const { server } of this.sessions.values()) server.sendToolListChanged().catch(() => {})
  }

  async close(): Promise<void> {
    this.closed = true
    this.calls.close()
    // Calls in flight are answered, with an error, before their streams are closed: clients of the legacy era wait
    // for an answer for as long as they wait for any.
    if (this.inFlight.size > 0) {
      await Promise.allSettled(this.inFlight)
      await new Promise((done) => setTimeout(done, flushMs))
    }
    await this.modern?.close()
    await Promise.all([...this.sessions.keys()].map((id) => this.drop(id)))
  }

  private async legacy(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const session = this.sessions.get(id)
      // Clients open a new session at 404, and at nothing else.
      if (session === undefined) return rpcError(404, -32001, 'Session not found')
      session.used = now()
      return session.transport.handleRequest(request)
    }
    const { WebStandardStreamableHTTPServerTransport } = await loadServer()
    const server = await this.server()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (opened) => {
        this.sessions.set(opened, { server, transport, used: now() })
        this.makeRoom()
      },
      onsessionclosed: (ended) => {
        void this.drop(ended)
      },
    })
    await server.connect(transport)
    // A request without a session that opens none is refused by the transport, and nothing is kept of it.
    return transport.handleRequest(request)
  }

  private makeRoom(): void {
    while (this.sessions.size > this.options.maxSessions) {
      const oldest = [...this.sessions].reduce((a, b) => (b[1].used < a[1].used ? b : a))
      void this.drop(oldest[0])
    }
  }

  private async drop(id: string): Promise<void> {
    const session = this.sessions.get(id)
    this.sessions.delete(id)
    await session?.server.close().catch(() => {})
  }

  private async server(): Promise<Server> {
    const { Server, ProtocolError } = await loadServer()
    const { instructions } = this.options
    const server = new Server(
      { name: 'quintain', version: quintainVersion },
      {
        capabilities: { tools: { listChanged: true } },
        ...(instructions === undefined ? {} : { instructions }),
      },
    )
    server.onerror = () => {}
    const refused = (thrown: unknown) =>
      thrown instanceof CallRefused ? new ProtocolError(thrown.code, thrown.message) : thrown
    server.setRequestHandler('tools/list', async () => {
      const tools = await this.calls.tools().catch((thrown: unknown) => {
        throw refused(thrown)
      })
      return {
        tools: tools.map(({ spec: { name, description, parameters } }) => ({
          name,
          description,
          inputSchema: { ...parameters, type: 'object' as const },
        })),
      }
    })
    server.setRequestHandler('tools/call', async (request, context) => {
      const { name, arguments: given } = request.params
      const progress = this.progressOf(context)
      const call = this.calls.call(
        { name, arguments: given },
        { signal: context.mcpReq.signal, ...(progress === undefined ? {} : { progress: progress.tell }) },
      )
      this.inFlight.add(call)
      try {
        return await call
      } catch (thrown) {
        throw refused(thrown)
      } finally {
        this.inFlight.delete(call)
        progress?.stop()
      }
    })
    return server
  }

  private progressOf(context: ServerContext): ReturnType<typeof startProgress> | undefined {
    const progressToken = context.mcpReq._meta?.progressToken
    if (progressToken === undefined) return undefined
    return startProgress((told) => {
      context.mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, ...told } })
        .catch(() => {})
    }, this.options.progressMs)
  }
}

function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
