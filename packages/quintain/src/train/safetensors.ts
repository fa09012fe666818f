import { QuintainError } from '../core/errors.ts'
import { parseJsonAt } from '../core/json-parse.ts'

/** Numbers in fp32, row after row. */
export interface Tensor {
  shape: readonly number[]
  data: Float32Array
}

export interface TensorFile {
  tensors: ReadonlyMap<string, Tensor>
  metadata: Readonly<Record<string, string>>
}

/** As the reference implementation bounds it. */
const mostHeaderBytes = 100_000_000
const metadataKey = '__metadata__'

/**
 * Tensors as a safetensors file (https://github.com/huggingface/safetensors, format of 0.4): the length of a JSON header in
 * 8 bytes, the header, padded by spaces to a multiple of 8, and the numbers, little-endian, one tensor after the other.
 * Throws a RangeError for data that is not as long as its shape says.
 */
export function encodeSafetensors({
  tensors,
  metadata = {},
}: {
  tensors: ReadonlyMap<string, Tensor>
  metadata?: Readonly<Record<string, string>>
}): Uint8Array {
  const header: [string, unknown][] = []
  if (Object.keys(metadata).length > 0) header.push([metadataKey, metadata])
  let end = 0
  for (const [name, { shape, data }] of tensors) {
    if (countOf(shape) !== data.length || name === metadataKey) {
      throw new RangeError(`tensor ${name} of shape ${shape.join('x')} has ${data.length} numbers`)
    }
    const begin = end
    end += data.byteLength
    header.push([name, { dtype: 'F32', shape, data_offsets: [begin, end] }])
  }
  const text = Buffer.from(JSON.stringify(Object.fromEntries(header)))
  const headerLength = Math.ceil(text.length / 8) * 8
  const file = Buffer.alloc(8 + headerLength + end, ' ')
  file.writeBigUInt64LE(BigInt(headerLength), 0)
  file.set(text, 8)
  let at = 8 + headerLength
  for (const { data } of tensors.values()) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += data.byteLength
  }
  return file
}

/**
 * The tensors of a safetensors file, copied out of it. Throws `checkpoint_invalid` for a file that is cut, whose header is
 * none, or whose tensors are of another type than F32, overlap, leave a hole or do not have the length of their shape.
 */
export function decodeSafetensors(file: Uint8Array): TensorFile {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (file.length < 8) throw invalid(`it has ${file.length} bytes and is cut before its header`)
  const headerLength = view.getBigUint64(0, true)
  if (headerLength > mostHeaderBytes) throw invalid(`its header is said to have ${headerLength} bytes`)
  const dataStart = 8 + Number(headerLength)
  if (dataStart > file.length) throw invalid('it is cut within its header')
  const header = readHeader(file.subarray(8, dataStart))
  const metadata = readMetadata(header[metadataKey])
  const entries = Object.entries(header)
    .filter(([name]) => name !== metadataKey)
    .map(([name, entry]) => ({ name, ...readEntry(name, entry) }))
  checkPlaces(entries, file.length - dataStart)
  const tensors = new Map<string, Tensor>()
  for (const { name, shape, begin, end } of entries) {
    // A copy, since a view of fp32 would have to begin at a multiple of 4.
    const bytes = new Uint8Array(file.subarray(dataStart + begin, dataStart + end))
    tensors.set(name, { shape, data: new Float32Array(bytes.buffer) })
  }
  return { tensors, metadata }
}

function readHeader(bytes: Uint8Array): Record<string, unknown> {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw invalid('its header is no UTF-8', cause)
  }
  const parsed = parseJsonAt(text)
  if (!parsed.ok) throw invalid(`its header is no JSON (${parsed.failure} at character ${parsed.position})`)
  if (text.slice(parsed.end).trim() !== '') throw invalid('something follows its header')
  if (!isObject(parsed.value)) throw invalid('its header is no JSON object')
  return parsed.value
}

function readMetadata(value: unknown): Record<string, string> {
  if (value === undefined) return {}
  if (!isObject(value)) throw invalid('its metadata is no object')
  const entries = Object.entries(value).map(([key, text]): [string, string] => {
    if (typeof text !== 'string') throw invalid(`its metadata ${JSON.stringify(key)} is no text`)
    return [key, text]
  })
  return Object.fromEntries(entries)
}

function readEntry(name: string, entry: unknown): { shape: number[]; begin: number; end: number } {
  const called = `the tensor ${JSON.stringify(name.slice(0, 80))}`
  if (!isObject(entry)) throw invalid(`${called} is no object`)
  const { dtype, shape, data_offsets: offsets } = entry
  if (dtype !== 'F32') throw invalid(`${called} is of type ${JSON.stringify(dtype)}; F32 is read`)
  if (!isSizes(shape)) throw invalid(`${called} has no shape of whole numbers`)
  if (!isSizes(offsets) || offsets.length !== 2) throw invalid(`${called} has no place in the file`)
  const [begin, end] = offsets as [number, number]
  if (4 * countOf(shape) !== end - begin) {
    throw invalid(
      `${called} has ${end - begin} bytes, and its shape ${shape.join('x')} wants ${4 * countOf(shape)}`,
    )
  }
  return { shape, begin, end }
}

/** Tensors must lie one after the other and fill the file, so that nothing hides in it and none reads another's. */
function checkPlaces(entries: readonly { name: string; begin: number; end: number }[], bytes: number): void {
  let filled = 0
  for (const { name, begin, end } of entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== filled) {
      throw invalid(
        `the tensor ${JSON.stringify(name.slice(0, 80))} begins at byte ${begin} and not at ${filled}`,
      )
    }
    filled = end
  }
  if (filled > bytes) throw invalid(`it is cut: its tensors want ${filled} bytes and it has ${bytes}`)
  if (filled < bytes) throw invalid(`${bytes - filled} bytes follow its tensors`)
}

function countOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(what: string, cause?: unknown): QuintainError {
  return new QuintainError('checkpoint_invalid', `This is no safetensors file that can be read: ${what}.`, {
    cause,
  })
}
