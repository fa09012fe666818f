import type { FileHandle } from 'node:fs/promises'
import type { OrderState } from '../../core/index.ts'
import { dataElement, packText } from './pack-data.ts'
import { dataIds, type Places } from './page-data.ts'
import type { PageAttempt } from './read-rows.ts'
import { readTranscript } from './transcript.ts'

/** JSON characters of a chunk: what a browser unpacks to show one trajectory, in a few milliseconds. */
const chunkCharacters = 512 * 1024
/** Trajectories that are read at a time. */
const readAhead = 16
/** So many in a row that had no room: the page is full. A single huge one is left out, and smaller ones still go in. */
const fullAfter = 8

export interface Chunks {
  places: Places
  embedded: number
  bytes: number
}

interface Packed {
  row: number
  json: string
}

/**
 * Writes trajectories into chunks, in the given order of rows, until `maxBytes` are full. Holds one chunk at a time,
 * whatever the size of the run.
 */
export async function writeChunks(options: {
  dir: string
  states: readonly OrderState<PageAttempt>[]
  order: readonly number[]
  file: FileHandle
  maxBytes: number
}): Promise<Chunks> {
  const { dir, states, order, file, maxBytes } = options
  const places: Places = new Array<number>(states.length).fill(-1)
  let chunks = 0
  let embedded = 0
  let bytes = 0
  let missed = 0

  const write = async (held: readonly Packed[]): Promise<void> => {
    if (held.length === 0) return
    const packed = await packText(`[${held.map(({ json }) => json).join(',')}]`)
    const text = dataElement(`${dataIds.chunk}${chunks}`, packed)
    if (bytes + text.length <= maxBytes) {
      await file.appendFile(text)
      for (const { row } of held) places[row] = chunks
      chunks++
      bytes += text.length
      embedded += held.length
      missed = 0
    } else if (held.length === 1) missed++
    else {
      const half = held.length >> 1
      await write(held.slice(0, half))
      await write(held.slice(half))
    }
  }

  let held: Packed[] = []
  let characters = 0
  for (let at = 0; at < order.length && missed < fullAfter; at += readAhead) {
    const rows = order.slice(at, at + readAhead)
    for (const transcript of await Promise.all(rows.map((row) => readTranscript(dir, row, states[row]!)))) {
      if (transcript === undefined) continue
      const json = JSON.stringify(transcript)
      // Before a large one is added: then it has a chunk of its own.
      if (held.length > 0 && characters + json.length > chunkCharacters) {
        await write(held)
        held = []
        characters = 0
      }
      held.push({ row: transcript.row, json })
      characters += json.length
    }
  }
  await write(held)
  return { places, embedded, bytes }
}
