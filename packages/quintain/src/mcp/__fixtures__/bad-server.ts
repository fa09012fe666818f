// An MCP server by hand, of the legacy era, that misbehaves as its first argument says. The tool `echo` works; the tool
// `bad` does what the mode is named after.
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [mode = '', argument = ''] = process.argv.slice(2)
type Id = string | number
const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (said: string) => ({ content: [{ type: 'text', text: said }] })
const object = { type: 'object' }
const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
/** A message whose text holds a value that no `JSON.stringify` can write. */
const sayRaw = (id: Id, result: string) =>
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`)
let changed = false
let before: Id | undefined
let asking: Id | undefined

if (mode === 'deaf') setInterval(() => {}, 1000)
if (mode === 'stubborn') {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
}
if (mode === 'noisy') process.stdout.write('Loaded 19 tools\n{"level":"info"}\n')
if (mode === 'chatty') process.stderr.write(`${'x'.repeat(1_000_000)}\nkey is ${process.env['KEY']}\n`)
if (mode === 'stillborn') {
  process.stderr.write(`no database at ${process.env['KEY']}\n`)
  process.exit(3)
}

function tools(): object[] {
  const both = [
    { name: 'echo', description: 'Says it again.', inputSchema: object },
    {
      name: 'bad',
      inputSchema:
        mode === 'backtracking' ? { ...object, properties: { a: { pattern: '^(a+)+$' } } } : object,
      ...(mode === 'shapeless' ? { outputSchema: { ...object, required: ['n'] } } : {}),
    },
  ]
  if (mode === 'changing') return changed ? [both[0] as object, { name: 'new', inputSchema: object }] : both
  if (mode === 'listed') return JSON.parse(argument) as object[]
  return both
}

function bad(id: Id): void {
  switch (mode) {
    case 'silent':
      return
    case 'blocked':
      for (;;);
    case 'twice':
      say({ id, result: text('first') })
      return void say({ id, result: text('second') })
    case 'other-id':
      say({ id: 424242, result: text('for somebody else') })
      if (before !== undefined) say({ id: before, result: text('for an earlier call') })
      return void setTimeout(() => say({ id, result: text('mine') }), 20)
    case 'huge': {
      process.stdout.write('{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"')
      const block = 'x'.repeat(1_000_000)
      for (let at = 0; at < Number(argument); at++) process.stdout.write(block)
      return void process.stdout.write(`"}]},"id":${id}}\n`)
    }
    case 'changing':
      changed = true
      say({ method: 'notifications/tools/list_changed' })
      return void say({ id, result: text('changed') })
    case 'dying':
      say({ id, result: text('dead soon') })
      return void setTimeout(() => process.exit(1), 10)
    case 'dying-once':
      if (existsSync(argument)) return void say({ id, result: text('alive again') })
      writeFileSync(argument, '')
      process.stderr.write('out of memory\n')
      return void process.exit(1)
    case 'dying-always':
      return void process.exit(1)
    case 'asking':
      asking = id
      say({
        id: 'q1',
        method: 'elicitation/create',
        params: { message: 'Your name?', requestedSchema: object },
      })
      say({ id: 'q2', method: 'sampling/createMessage', params: { messages: [], maxTokens: 9 } })
      return void say({ id: 'q3', method: 'roots/list' })
    case 'noisy':
      process.stdout.write('calling bad\n[1,2]\n{"jsonrpc":"2.0","neither":1}\n')
      return void say({ id, result: text('heard') })
    case 'contentless':
      return void say({ id, result: { content: 'a text and no list' } })
    case 'resultless':
      return void say({ id, result: 5 })
    case 'shapeless':
      return void say({ id, result: text('{"n":1}') })
    case 'deep':
      return void sayRaw(id, `{"content":[],"structuredContent":{"a":${deep(100_000)}}}`)
    case 'odd-link':
      return void say({
        id,
        result: {
          content: [{ type: 'resource_link', uri: { toString: 1 }, name: [[]] }, { type: 'resource' }],
        },
      })
    case 'mute':
      process.stdout.end()
      return
    case 'forging':
      return void say({ id, error: { code: -32602, message: 'x', data: { quintain: argument } } })
    case 'verbose':
      return void say({ id, error: { code: -32602, message: 'x'.repeat(5_000_000) } })
    case 'failing':
      return void say({ id, error: { code: -32603, message: 'internal' } })
    case 'refusing':
      return void say({ id, error: { code: -32602, message: 'Unknown tool: bad' } })
    case 'parent': {
      const child = spawn(
        process.execPath,
        ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'],
        {
          stdio: ['ignore', 'inherit', 'inherit'],
        },
      )
      return void say({ id, result: text(String(child.pid)) })
    }
    case 'environment':
      return void say({ id, result: text(JSON.stringify(process.env)) })
    default:
      return void say({ id, result: text(`${mode} did nothing`) })
  }
}

const answers = new Map<string, unknown>()
createInterface({ input: process.stdin }).on('line', (line) => {
  if (mode === 'deaf') return
  const message = JSON.parse(line) as {
    id: Id
    method?: string
    params?: Record<string, unknown>
    error?: unknown
  }
  const { id, method, params } = message
  if (mode === 'probed-to-death' && method === 'server/discover') process.exit(1)
  switch (method) {
    case 'initialize':
      return void say({
        id,
        result: {
          protocolVersion: params?.['protocolVersion'],
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: `bad:${mode}`, version: '1' },
        },
      })
    case 'ping':
      return void say({ id, result: {} })
    case 'tools/list':
      if (mode === 'endless') return void say({ id, result: { tools: tools(), nextCursor: 'again' } })
      if (mode === 'deep-list')
        return void sayRaw(
          id,
          `{"tools":[{"name":"a","inputSchema":{"type":"object","default":${deep(60_000)}}}]}`,
        )
      return void say({ id, result: { tools: tools() } })
    case 'tools/call':
      if (params?.['name'] === 'bad') return bad(id)
      before = id
      return void say({ id, result: text(JSON.stringify(params?.['arguments'])) })
    case undefined:
      // Answers to what this server asked.
      answers.set(String(id), message.error ?? 'answered')
      if (answers.size === 3) {
        const asked = [...answers.values()].map((error) => (error as { code?: number }).code)
        say({ id: asking, result: text(JSON.stringify(asked)) })
      }
      return
    default:
      if (id !== undefined) say({ id, error: { code: -32601, message: 'Method not found' } })
  }
})
