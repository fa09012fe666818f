import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { nestsTooDeep } from '../core/index.ts'
import type { Exchange } from './exchange.ts'
import { Refusal } from './refusal.ts'

type Decompress = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

const decoders: Record<string, Decompress> = {
  gzip: promisify(zlib.gunzip),
  'x-gzip': promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
  br: promisify(zlib.brotliDecompress),
  // Node 22 has it since 22.15.
  ...('zstdDecompress' in zlib ? { zstd: promisify(zlib.zstdDecompress) } : {}),
}

/** The body of a request and what it says. `text` is the JSON as it was written. */
export interface JsonBody {
  text: string
  json: unknown
}

/**
 * Reads a JSON body. Throws a `Refusal` for anything else, and for one that is too long or nests too deep. `count` is
 * told how many more bytes are held, and at the end how many fewer; it may throw.
 */
export async function readJson(
  exchange: Exchange,
  { maxBytes, count }: { maxBytes: number; count(bytes: number): void },
): Promise<JsonBody> {
  checkType(exchange.header('content-type'))
  const decode = decoderOf(exchange.header('content-encoding'))
  if (Number(exchange.header('content-length') ?? 0) > maxBytes) throw bodyTooLong(maxBytes)
  let held = 0
  try {
    const sent = await exchange.body((bytes) => {
      held += bytes
      if (held > maxBytes) throw bodyTooLong(maxBytes)
      count(bytes)
    })
    return parsed(decode === undefined ? sent : await decompressed(sent, decode, maxBytes))
  } finally {
    count(-held)
  }
}

function parsed(bytes: Uint8Array): JsonBody {
  if (!isUtf8(bytes)) throw invalid('The body is not UTF-8.')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (text.trim() === '') throw invalid('The body is empty; a JSON object was expected.')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw invalid('The body is not valid JSON.')
  }
  if (nestsTooDeep(text)) throw invalid('The body nests too deep.')
  return { text, json }
}

/** A body that is longer than it may be. */
function bodyTooLong(maxBytes: number): Refusal {
  const message = `The body has more than ${maxBytes} bytes.`
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

function decoderOf(encoding: string | undefined): Decompress | undefined {
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

async function decompressed(sent: Uint8Array, decode: Decompress, maxBytes: number): Promise<Uint8Array> {
  try {
    return await decode(sent, { maxOutputLength: maxBytes })
  } catch (thrown) {
    if (thrown instanceof RangeError) throw bodyTooLong(maxBytes)
    throw invalid('The body is not what its content-encoding says.')
  }
}

function invalid(message: string): Refusal {
  return new Refusal({ status: 400, code: 'invalid_request', message })
}
