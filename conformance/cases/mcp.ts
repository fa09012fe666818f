import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Tool, textOf, tool } from '../../packages/quintain/src/core/index.ts'
import { VirtualTimers } from '../../packages/quintain/src/mcp/__fixtures__/virtual-timers.ts'
import { channelOf } from '../../packages/quintain/src/mcp/connection.ts'
import { cutText } from '../../packages/quintain/src/mcp/cut-text.ts'
import { isErrorObject, parseLine, readMessage } from '../../packages/quintain/src/mcp/json-rpc.ts'
import { LineReader } from '../../packages/quintain/src/mcp/line-reader.ts'
import { serveTools } from '../../packages/quintain/src/mcp/serve-tools.ts'
import { Session, type SessionOptions } from '../../packages/quintain/src/mcp/session.ts'
import { callResult, checkCallResult, contentForModel } from '../../packages/quintain/src/mcp/tool-result.ts'

type Input = Record<string, unknown>
type Rpc = { id?: number; method?: string; params?: Record<string, unknown> }

/** A tool of a world, called by a real client over HTTP. */
async function callServed({ tool: name, arguments: given, handler, declared_tools }: Input) {
  let ran = false
  const numbers: { required?: string[] } & Input = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    ...(declared_tools === undefined ? { required: ['a'] } : {}),
  }
  const thrown = /Error\((['"])(.*)\1\)/.exec(String(handler ?? ''))?.[2]
  const offer = (declared: string): Tool =>
    tool({
      name: declared,
      description: '',
      input: {
        jsonSchema: numbers,
        schema: {
          '~standard': {
            version: 1,
            vendor: 'case',
            validate: (value) =>
              (numbers.required ?? []).every((name) => Object.hasOwn(value as object, name)) &&
              Object.values(value as object).every((one) => typeof one === 'number')
                ? { value }
                : { issues: [{ message: 'must be numbers' }] },
          },
        },
      },
      run: () => {
        ran = true
        if (thrown !== undefined) throw new Error(thrown)
        return 'done'
      },
    })
  const declared = (declared_tools as string[] | undefined) ?? [String(name)]
  const server = await serveTools()
  const mount = server.mount({ tools: declared.map(offer) })
  const client = new Client({ name: 'case', version: '1' })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(mount.url)))
    const result = await client.callTool({
      name: String(name),
      arguments: (given ?? {}) as Record<string, unknown>,
    })
    const shown = contentForModel(result, { maxBytes: 1e6 })
    const text = typeof shown === 'object' && 'toolError' in shown ? shown.message : textOf(shown)
    return {
      result: { isError: result.isError === true, text },
      tool_result: text,
      jsonrpc_error: null,
      handler_ran: ran,
    }
  } catch (error) {
    const { code, message } = error as { code: unknown; message: string }
    return { result: null, tool_result: null, jsonrpc_error: { code, message }, handler_ran: ran }
  } finally {
    await client.close()
    await server.close()
  }
}

/** Our client on a server in memory that does what it is told; `seen` is all that the server was sent. */
async function sessionWith(
  answer: (message: Rpc, say: (message: object) => void) => void,
  options: Partial<SessionOptions> = {},
) {
  const seen: Rpc[] = []
  const open = () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    theirs.onmessage = (message) => {
      const rpc = message as Rpc
      seen.push(rpc)
      // An answer that comes too late finds nobody.
      const say = (said: object) => {
        theirs.send({ jsonrpc: '2.0', ...said } as never).catch(() => {})
      }
      if (rpc.method === 'initialize' && options.startMs === undefined) {
        const { protocolVersion } = rpc.params ?? {}
        const serverInfo = { name: 'case', version: '1' }
        say({ id: rpc.id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } })
      } else if (rpc.method === 'ping') say({ id: rpc.id, result: {} })
      else answer(rpc, say)
    }
    void theirs.start()
    return channelOf(ours)
  }
  const made = {
    name: 'case',
    open,
    era: 'legacy' as const,
    stateful: true,
    startMs: 30_000,
    callMs: 60_000,
    graceMs: 1_000,
    probeMs: 1_000,
    ...options,
  }
  return { seen, session: () => Session.open(made) }
}

const call = { method: 'tools/call', params: { name: 'a', arguments: {} } }

async function timeout({
  timeout_ms,
  max_total_ms,
  progress_at_ms,
  progress_every_ms,
  done_at_ms,
  reset_on_progress,
}: Input) {
  const timers = new VirtualTimers()
  const end = Number(done_at_ms)
  const every = Number(progress_every_ms ?? 0)
  const signs =
    (progress_at_ms as number[] | undefined) ??
    (every > 0 ? Array.from({ length: Math.floor(end / every) }, (_, index) => every * (index + 1)) : [])
  const { session } = await sessionWith(
    (message, say) => {
      if (message.method !== 'tools/call') return
      const progressToken = (message.params?.['_meta'] as Input | undefined)?.['progressToken']
      for (const [index, at] of signs.entries()) {
        timers.set(
          () => say({ method: 'notifications/progress', params: { progressToken, progress: index + 1 } }),
          at,
        )
      }
      timers.set(() => say({ id: message.id, result: { content: [] } }), end)
    },
    {
      timers,
      idleMs: Number(timeout_ms),
      callMs: Number(max_total_ms ?? (reset_on_progress === true ? 1e9 : timeout_ms)),
    },
  )
  const opened = await session()
  let at = -1
  const asked = opened.request(call, callResult).finally(() => {
    at = timers.now()
  })
  await timers.advanceTo(end + 1)
  const answer = await asked
  await opened.close()
  return {
    completed: answer.kind === 'result',
    ...(answer.kind === 'timeout' ? { error: 'timeout' } : {}),
    at_ms: at,
  }
}

async function cancel({ method, timeout_ms, cancel_at_ms, response_at_ms }: Input) {
  const timers = new VirtualTimers()
  const at = Number(cancel_at_ms ?? timeout_ms ?? 100)
  const late = (message: Rpc, say: (message: object) => void) => {
    if (message.id === undefined || message.method !== method) return
    if (response_at_ms !== undefined)
      timers.set(() => say({ id: message.id, result: { content: [] } }), Number(response_at_ms))
  }
  const handshake = method === 'initialize'
  const { seen, session } = await sessionWith(late, {
    timers,
    ...(handshake ? { startMs: at } : { callMs: at }),
  })
  let delivered = false
  const given = new AbortController()
  const errors: Error[] = []
  const run = async () => {
    const opened = await session()
    opened.client.onerror = (error) => errors.push(error)
    if (cancel_at_ms !== undefined) timers.set(() => given.abort(new Error('cancelled')), at)
    const answer = await opened
      .request(call, callResult, { signal: given.signal })
      .catch((): { kind: string } => ({ kind: 'cancelled' }))
    delivered = answer.kind === 'result'
    await timers.advanceTo(Number(response_at_ms ?? at) + 100)
    await opened.close()
  }
  const running = run().catch(() => {})
  await timers.advanceTo(Number(response_at_ms ?? at) + 100)
  await running
  const sent = seen.find((message) => message.method === 'notifications/cancelled')
  return { notification_sent: sent?.method ?? null, delivered, errors_logged: errors.length }
}

/** Our client over HTTP; its server is a list of what it answers to calls. */
async function lostSession(responses: readonly string[], stateful: boolean) {
  const { startScriptedServer } = await import('../mcp/scripted-server.ts')
  const { mcpTools } = await import('../../packages/quintain/src/mcp/mcp-tools.ts')
  // The handshake that follows a lost session is answered as any.
  const server = await startScriptedServer(responses.filter((one) => !/initialize/.test(one)))
  const mcp = await mcpTools({ url: server.url, stateful })
  const handshakes = server.count('initialize')
  let outcome = 'ok'
  try {
    await mcp.call('a')
  } catch (thrown) {
    outcome = (thrown as { fault?: { code: string } }).fault?.code ?? String(thrown)
  }
  const counts = {
    initialize_calls: server.count('initialize') - handshakes,
    retries: server.count('tools/call') - 1,
  }
  await mcp.close()
  await server.close()
  return { outcome, ...counts, loops: counts.retries > 1 || counts.initialize_calls > 1 }
}

async function serverSession({ session }: Input) {
  const server = await serveTools()
  const mount = server.mount({ tools: [] })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { accept: 'text/event-stream', 'mcp-session-id': String(session) }
      httpRequest(mount.url, { headers }, resolve).on('error', reject).end()
    })
    response.resume()
    return {
      http_status: response.statusCode,
      stream_opened: /event-stream/.test(response.headers['content-type'] ?? ''),
    }
  } finally {
    await server.close()
  }
}

/** Clients by hand, each on an attempt of its own, all with the same ids. */
async function concurrent({ clients, request_ids }: Input) {
  const server = await serveTools()
  const ids = request_ids as number[]
  try {
    const each = Array.from({ length: Number(clients) }, async (_, index) => {
      const whose = `of client ${index}`
      const mount = server.mount({
        tools: [
          tool({
            name: 'who',
            description: '',
            input: {
              jsonSchema: { type: 'object' },
              schema: { '~standard': { version: 1, vendor: 'case', validate: (value) => ({ value }) } },
            },
            run: () => whose,
          }),
        ],
      })
      const post = async (body: object, session?: string) => {
        const headers = {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        }
        return fetch(mount.url, {
          method: 'POST',
          headers,
          body: JSON.stringify({ jsonrpc: '2.0', ...body }),
        })
      }
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'case', version: '1' },
      }
      const hello = await post({ id: 1000, method: 'initialize', params })
      await hello.text()
      const session = hello.headers.get('mcp-session-id') ?? ''
      const id = ids[index % ids.length]
      const text = await (
        await post({ id, method: 'tools/call', params: { name: 'who', arguments: {} } }, session)
      ).text()
      return text.includes(whose) && text.includes(`"id":${id}`)
    })
    return { each_gets_own_response: (await Promise.all(each)).every((own) => own) }
  } finally {
    await server.close()
  }
}

function stdio({ chunks, bytes_without_newline, max_message_bytes }: Input) {
  const messages: unknown[] = []
  let skipped = 0
  let tooLong = 0
  const limit = Number(max_message_bytes ?? 16 * 1024 * 1024)
  const reader = new LineReader({
    maxBytes: limit,
    onLine: (line) => {
      if (line.trim() === '') return
      const parsed = parseLine(line)
      if (parsed === undefined) skipped++
      for (const one of parsed ?? []) {
        const read = readMessage(one)
        if ('id' in read) messages.push(read.id)
      }
    },
    onTooLong: () => {
      tooLong++
    },
  })
  let most = 0
  const push = (chunk: Buffer) => {
    reader.push(chunk)
    most = Math.max(most, reader.heldBytes)
  }
  for (const chunk of (chunks ?? []) as string[]) push(Buffer.from(chunk))
  const block = Buffer.alloc(65_536, 'x')
  for (let left = Number(bytes_without_newline ?? 0); left > 0; left -= block.length)
    push(block.subarray(0, Math.min(left, block.length)))
  return { messages, skipped_lines: skipped, too_long: tooLong, memory_bounded: most <= limit }
}

async function validateResult({ outputSchema, result }: Input) {
  const problem = await checkCallResult(callResult.parse(result), outputSchema as Input)
  return problem === undefined
    ? { valid: true }
    : { valid: false, error: problem.error, message: problem.message }
}

function toModel({ result }: Input) {
  const shown = contentForModel(callResult.parse(result), { maxBytes: 1e6 })
  return { model_sees: typeof shown === 'object' && 'toolError' in shown ? shown.message : textOf(shown) }
}

function store({ bytes, model_limit }: Input) {
  const text = 'x'.repeat(Number(bytes))
  let kept: string | undefined
  const shown = contentForModel(
    { content: [{ type: 'text', text }] },
    {
      maxBytes: Number(model_limit),
      onCut: (cut) => {
        kept = cut.text
      },
    },
  )
  const seen = typeof shown === 'string' ? shown : ''
  return {
    model_sees_marker:
      /\[cut: the first \d+ of \d+ bytes are shown]$/.test(seen) && seen.length <= Number(model_limit),
    full_copy_saved: kept === text,
  }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'mcp.call': callServed,
  'mcp.cancel': cancel,
  'mcp.concurrent': concurrent,
  'mcp.error.shape': ({ error }) => ({ accepted: (error as unknown[]).map((one) => isErrorObject(one)) }),
  'mcp.result.validate': validateResult,
  'mcp.server.session': serverSession,
  'mcp.session': async ({ responses }) => {
    const { outcome, ...counts } = await lostSession(responses as string[], false)
    return { result: outcome === 'ok' ? 'ok' : 'error', code: outcome, ...counts }
  },
  'mcp.session.rollout': async ({ responses, stateful_env }) => {
    const { outcome, retries } = await lostSession(responses as string[], stateful_env === true)
    return {
      rollout_status: outcome === 'ok' ? 'completed' : outcome,
      silently_continued: stateful_env === true && retries > 0,
    }
  },
  'mcp.stdio': stdio,
  'mcp.timeout': timeout,
  'mcp.to_model': toModel,
  'tool.output.store': store,
  'tool.output.truncate': ({ text, max_bytes }) => {
    const cut = cutText(String(text), Number(max_bytes))
    return { ...cut, valid_utf8: Buffer.from(cut.text).toString() === cut.text }
  },
}
