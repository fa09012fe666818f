import {
  createCallAssembly,
  createEventReader,
  createLineReader,
  createStreamAssembly,
  normalizeToolCalls,
  readResponse,
} from '../../packages/quintain/src/models/index.ts'

type Input = Record<string, unknown>

function lines(chunks: readonly (string | Uint8Array)[]): string[] {
  const found: string[] = []
  const reader = createLineReader((line) => found.push(line))
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return found
}

/** A raw stream in so many pieces, cut without regard to its characters. */
function pieces(raw: string, count: number): Uint8Array[] {
  const bytes = Buffer.from(raw)
  const size = Math.max(1, Math.ceil(bytes.length / count))
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  )
}

function read({ raw, chunks, events }: Input) {
  const assembly = createStreamAssembly()
  const dispatched: string[] = []
  if (typeof raw === 'string') {
    const reader = createEventReader(({ event, data }) => {
      dispatched.push(event)
      assembly.push(data, event)
    })
    for (const piece of pieces(raw, Number(chunks ?? 1))) reader.push(piece)
    reader.end()
  }
  for (const data of (events as string[] | undefined) ?? []) {
    dispatched.push('message')
    assembly.push(data)
  }
  const end = assembly.end()
  const common = { dispatched_events: dispatched, warnings: assembly.warnings }
  if (end.state === 'error') {
    const { status, message } = end.error
    return {
      ...common,
      complete: false,
      text: null,
      error: 'api_error',
      status,
      message,
      retryable: end.retryable,
    }
  }
  if (end.state === 'incomplete')
    return {
      ...common,
      complete: false,
      text: null,
      error: 'stream_incomplete',
      message: end.message,
      retryable: true,
    }
  const { message, usage, finish } = readResponse(end.completion, { thinkTags: 'never' })
  return {
    ...common,
    complete: true,
    text: message.content,
    finish,
    ...(usage === undefined
      ? {}
      : { usage_total: usage.fresh + usage.cacheRead + usage.cacheWrite + usage.output }),
  }
}

function assemble({ deltas }: Input) {
  const assembly = createCallAssembly()
  for (const { name, args, arguments: text, ...delta } of deltas as Input[]) {
    assembly.push({ ...delta, function: { name, arguments: args ?? text } })
  }
  const { calls } = normalizeToolCalls(assembly.calls())
  return {
    calls,
    names: calls.map(({ name }) => name),
    arguments: calls.map(({ arguments: text }) => text),
    ids_present: calls.every(({ id }) => id !== ''),
  }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'sse.assemble': assemble,
  'sse.lines': ({ chunks }) => ({ lines: lines(chunks as string[]) }),
  'sse.lines.bytes': ({ chunks_hex }) => ({
    lines: lines((chunks_hex as string[]).map((hex) => Buffer.from(hex, 'hex'))),
  }),
  'sse.lines.data': ({ raw }) => {
    const events: string[] = []
    const reader = createEventReader(({ data }) => events.push(data))
    reader.push(String(raw))
    reader.end()
    return { data: events[0], events }
  },
  'sse.read': read,
}
