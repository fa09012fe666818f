import { isUtf8 } from 'node:buffer'
import * as zlib from 'node:zlib'
import { nestsTooDeep } from '../core/index.ts'
import type { Exchange } from './exchange.ts'
import { countValues } from './json-size.ts'
import { Refusal } from './refusal.ts'

type Decoder = () => NodeJS.ReadWriteStream

const decoders: Record<string, Decoder> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  // Node 22 has it since 22.15.
  ...('createZstdDecompress' in zlib ? { zstd: zlib.createZstdDecompress } : {}),
}

/** JSON values of one body. A conversation of a thousand turns has some ten thousand. */
const mostValues = 1_000_000

/** Bytes that a value is counted as, beside what it is written with. */
const bytesOfValue = 64

/** What one body counts at most, of those with at most `maxBytes` bytes. */
export function heaviestBody(maxBytes: number): number {
  return maxBytes + mostValues * bytesOfValue
}

/** Bytes that a body may become however few it was sent as, and how many times as long it may become beyond. */
const anyBytes = 4 * 1024 * 1024
const mostRatio = 100

/** The body of a request and what it says. `text` is the JSON as it was written. */
export interface JsonBody {
  text: string
  json: unknown
  /** What `count` was told of it. */
  held: number
}

/**
 * Reads a JSON body. Throws a `Refusal` for anything else, and for one that is too long, nests too deep or is made of too
 * many values. `count` is told how many more bytes are held, as they were sent, decompressed and made objects of, and may
 * throw. Those of a body that was read stay counted; whoever has it takes them off when it is let go.
 */
export async function readJson(
  exchange: Exchange,
  { maxBytes, count }: { maxBytes: number; count(bytes: number): void },
): Promise<JsonBody> {
  checkType(exchange.header('content-type'))
  const decoder = decoderOf(exchange.header('content-encoding'))
  if (Number(exchange.header('content-length') ?? 0) > maxBytes) throw bodyTooLong(maxBytes)
  let held = 0
  const hold = (bytes: number): void => {
    held += bytes
    count(bytes)
  }
  try {
    let length = 0
    const sent = await exchange.body((bytes) => {
      length += bytes
      if (length > maxBytes) throw bodyTooLong(maxBytes)
      hold(bytes)
    })
    if (decoder === undefined) return parsed(sent, hold)
    const most = Math.min(maxBytes, Math.max(anyBytes, mostRatio * sent.length))
    const whole = await decompressed(sent, decoder, { most, hold })
    hold(-sent.length)
    return parsed(whole, hold)
  } catch (thrown) {
    count(-held)
    throw thrown
  }
}

function parsed(bytes: Uint8Array, hold: (bytes: number) => void): JsonBody {
  if (!isUtf8(bytes)) throw invalid('The body is not UTF-8.')
  const values = countValues(bytes, mostValues)
  if (values > mostValues) throw tooLarge(`The body is made of more than ${mostValues} JSON values.`)
  hold(values * bytesOfValue)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (text.trim() === '') throw invalid('The body is empty; a JSON object was expected.')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw invalid('The body is not valid JSON.')
  }
  if (nestsTooDeep(text)) throw invalid('The body nests too deep.')
  return { text, json, held: bytes.byteLength + values * bytesOfValue }
}

/** A body that is longer than it may be. */
function bodyTooLong(maxBytes: number): Refusal {
  return tooLarge(`The body has more than ${maxBytes} bytes.`)
}

function tooLarge(message: string): Refusal {
  return new Refusal({ status: 413, code: 'request_too_large', message })
}

function checkType(type: string | undefined): void {
  if (type === undefined || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) return
  throw new Refusal({
    status: 415,
    code: 'unsupported_media_type',
    message: 'The body must be JSON, with content-type application/json.',
  })
}

function decoderOf(encoding: string | undefined): Decoder | undefined {
  const name = (encoding ?? 'identity').trim().toLowerCase()
  if (name === 'identity' || name === '') return undefined
  if (Object.hasOwn(decoders, name)) return decoders[name]
  const known = Object.keys(decoders).join(', ')
  throw new Refusal(
    {
      status: 415,
      code: 'unsupported_encoding',
      message: `The content-encoding is not known here; these are: ${known}.`,
    },
    { 'accept-encoding': known },
  )
}

/** Piece by piece, so that what many bodies become together is known before it is there. */
async function decompressed(
  sent: Uint8Array,
  decoder: Decoder,
  { most, hold }: { most: number; hold(bytes: number): void },
): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  let length = 0
  const stream = decoder()
  stream.end(sent)
  try {
    for await (const piece of stream) {
      if (!Buffer.isBuffer(piece)) continue
      length += piece.length
      if (length > most)
        throw tooLarge(`The body becomes more than ${most} bytes; send it without content-encoding.`)
      pieces.push(piece)
      hold(piece.length)
    }
  } catch (thrown) {
    if (thrown instanceof Refusal) throw thrown
    throw invalid('The body is not what its content-encoding says.')
  }
  return Buffer.concat(pieces)
}

function invalid(message: string): Refusal {
  return new Refusal({ status: 400, code: 'invalid_request', message })
}
