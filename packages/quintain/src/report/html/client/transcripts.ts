import { dataIds, type Places, type Transcript } from '../page-data.ts'
import { transcriptText } from '../transcript-items.ts'
import { unpack, wholePage } from './unpack.ts'

/** Chunks that are kept unpacked, so that going to and fro between neighbours is quick and memory stays bounded. */
const kept = 6

/** The trajectories of the page, unpacked as they are asked for. */
export class Transcripts {
  private places: Promise<Places> | undefined
  private readonly chunks = new Map<number, Promise<Transcript[]>>()

  private chunk(number: number): Promise<Transcript[]> {
    let found = this.chunks.get(number)
    if (found === undefined) {
      found = unpack<Transcript[]>(`${dataIds.chunk}${number}`).then((list) => list ?? [])
      for (const oldest of [...this.chunks.keys()].slice(0, Math.max(0, this.chunks.size - kept + 1)))
        this.chunks.delete(oldest)
    } else this.chunks.delete(number)
    // Put at the end: the first is the one that was not asked for longest.
    this.chunks.set(number, found)
    return found
  }

  private allPlaces(): Promise<Places> {
    this.places ??= wholePage()
      .then(() => unpack<Places>(dataIds.places))
      .then((places) => places ?? [])
    return this.places
  }

  /** The trajectory of a row; undefined when the page does not hold it. */
  async of(row: number): Promise<Transcript | undefined> {
    const number = (await this.allPlaces())[row] ?? -1
    return number < 0 ? undefined : (await this.chunk(number)).find((transcript) => transcript.row === row)
  }

  /**
   * Rows in whose messages the text stands, found chunk by chunk; `tell` hears how far it is. Undefined when `signal` ends it.
   */
  async search(
    text: string,
    signal: AbortSignal,
    tell: (share: number) => void,
  ): Promise<Set<number> | undefined> {
    const found = new Set<number>()
    const wanted = text.toLowerCase()
    const numbers = [...new Set(await this.allPlaces())].filter((number) => number >= 0)
    for (const [i, number] of numbers.entries()) {
      const list = (await unpack<Transcript[]>(`${dataIds.chunk}${number}`)) ?? []
      if (signal.aborted) return undefined
      for (const transcript of list)
        if (transcriptText(transcript).toLowerCase().includes(wanted)) found.add(transcript.row)
      tell((i + 1) / numbers.length)
    }
    return found
  }
}
