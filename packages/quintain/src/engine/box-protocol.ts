import { z } from 'zod'
import type { Artefacts } from '../core/index.ts'

/*
 * What an attempt asks of the boxes that it owns, as data: the attempt may live in another process than the boxes, and
 * the code of its environment shares that process. So everything is checked by the side that holds the boxes.
 */

/** Bytes of one request, all its contents together. */
const mostBytes = 256 * 1024 * 1024
const mostFiles = 50_000

const path = z.string().min(1).max(4096)
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'not bytes')
const data = z.union([z.string(), bytes])
const mode = z.int().min(0).max(0o7777)
const ms = z.number().positive()
const env = z.record(z.string().max(1024), z.string())

const content = z.union([
  data,
  z.strictObject({ data, mode: z.exactOptional(mode) }),
  z.strictObject({ link: path }),
])
const files = z
  .record(path, content)
  .refine((given) => Object.keys(given).length <= mostFiles, 'too many files')

const limits = z.strictObject({
  wallMs: z.exactOptional(ms),
  cpuMs: z.exactOptional(ms),
  memoryMb: z.exactOptional(ms),
  pids: z.exactOptional(ms),
  diskMb: z.exactOptional(ms),
  outputBytes: z.exactOptional(ms),
})

const port = z.strictObject({ port: z.int().min(1).max(65_535) })
const network = z.union([
  z.literal('none'),
  z.strictObject({ sockets: z.array(z.strictObject({ box: port, host: port })).max(16) }),
])

const start = z.strictObject({
  workdir: z.exactOptional(path),
  files: z.exactOptional(files),
  readOnlyFiles: z.exactOptional(files),
  env: z.exactOptional(env),
  limits: z.exactOptional(limits),
  network: z.exactOptional(network),
  artefacts: z.exactOptional(z.enum(['read-only', 'writable', 'none'])),
  python: z.exactOptional(
    z.strictObject({
      arguments: z.array(z.string().max(65_536)).max(100),
      talk: z.string().max(100),
    }),
  ),
})
export type StartOptions = z.infer<typeof start>

const exec = z.strictObject({
  cwd: z.exactOptional(path),
  env: z.exactOptional(env),
  stdin: z.exactOptional(data),
  wallMs: z.exactOptional(ms),
  outputBytes: z.exactOptional(ms),
  binary: z.exactOptional(z.boolean()),
  talk: z.exactOptional(z.string().max(100)),
})

const snapshot = z.object({
  version: z.literal(1),
  entries: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('file'), path, mode, data: bytes }),
        z.object({ kind: z.literal('folder'), path, mode }),
        z.object({ kind: z.literal('link'), path, target: path }),
      ]),
    )
    .max(mostFiles),
  skipped: z.array(
    z.object({
      path: z.string(),
      reason: z.enum(['missing', 'wrong_kind', 'outside', 'denied', 'too_large', 'no_space']),
    }),
  ),
})

/**
 * Whose boxes these are: an attempt's, by its order and try. A try of its own name, so that what an earlier one left
 * running cannot name the boxes of the next.
 */
export function boxOwner({ order, try: number }: { order: { id: string }; try: number }): string {
  return `${order.id} ${number}`
}

/** Who owns the boxes of a world that is only looked at; no attempt is called so. */
export const probeOwner = 'probe'

const box = z.int().nonnegative()

export const boxRequest = z.discriminatedUnion('op', [
  /** A box for the world, or, with `grade`, one for graders. */
  z.strictObject({ op: z.literal('start'), grade: z.boolean(), options: start }),
  z.strictObject({
    op: z.literal('exec'),
    box,
    command: z.union([z.string(), z.array(z.string()).min(1)]),
    options: exec,
  }),
  z.strictObject({ op: z.literal('talk'), box, name: z.string().max(100), input: z.exactOptional(data) }),
  z.strictObject({ op: z.literal('read'), box, path, maxBytes: z.exactOptional(ms) }),
  z.strictObject({ op: z.literal('write'), box, path, data, mode: z.exactOptional(mode) }),
  z.strictObject({ op: z.literal('list'), box, path }),
  z.strictObject({
    op: z.literal('snapshot'),
    box,
    paths: z.exactOptional(z.array(path).max(1000)),
    options: z.strictObject({
      maxBytes: z.exactOptional(ms),
      maxEntries: z.exactOptional(ms),
      still: z.exactOptional(z.boolean()),
    }),
  }),
  z.strictObject({ op: z.literal('restore'), box, snapshot, at: z.exactOptional(path) }),
  /** How the interpreter of a grading box ended (`python`). */
  z.strictObject({ op: z.literal('ended'), box }),
  z.strictObject({ op: z.literal('stop'), box }),
  /** The world has finished: take the artefacts of its first box, end its boxes. Gives the artefacts. */
  z.strictObject({ op: z.literal('settle') }),
])
export type BoxRequest = z.infer<typeof boxRequest>

/** What is known of a box when it is up. */
export interface StartedBox {
  box: number
  id: string
  driver: string
  isolation: 'none' | 'memory' | 'namespaces' | 'container'
  workdir: string
  /** Its commands can be talked with. */
  talks: boolean
  /** An interpreter was started with it. */
  python?: true
  /** How the artefacts are in it, where it is one for graders. */
  artefacts?: 'read-only' | 'writable' | 'none'
  /** So many of the artefacts could not be put into it. */
  notRestored?: number
}

/** What settling gives. */
export interface Settled {
  artefacts: Artefacts | null
}

export interface AskOptions {
  signal?: AbortSignal
  /** Told when a box has to wait for room, and when it need no longer. */
  onWait?(waiting: boolean): void
}

/** The boxes of one attempt, here or in another process. Rejects with `FaultError` and `QuintainError`. */
export interface BoxDoor {
  ask(request: BoxRequest, options?: AskOptions): Promise<unknown>
}

/** Whether a request holds no more than may be sent. */
export function fitsSize(request: BoxRequest): boolean {
  let left = mostBytes
  const take = (value: string | Uint8Array) => {
    left -= value.length
  }
  switch (request.op) {
    case 'start':
      for (const given of [request.options.files, request.options.readOnlyFiles]) {
        for (const value of Object.values(given ?? {})) {
          if (typeof value === 'string' || value instanceof Uint8Array) take(value)
          else if ('data' in value) take(value.data)
        }
      }
      break
    case 'write':
      take(request.data)
      break
    case 'restore':
      for (const entry of request.snapshot.entries) if (entry.kind === 'file') take(entry.data)
      break
    case 'talk':
      if (request.input !== undefined) take(request.input)
      break
    case 'exec':
      if (request.options.stdin !== undefined) take(request.options.stdin)
      break
    default:
  }
  return left >= 0
}
