import { getHeapStatistics } from 'node:v8'

/** Most bytes that are held of one attempt: a record keeps no more of its texts than 192 MiB. */
const mostOfOne = 256 * 1024 * 1024

/** Where what is held of an attempt is counted. */
export interface RecordRoom {
  /** Counts so many bytes more; false, and nothing is counted, where there is no room for them. */
  take(bytes: number): boolean
  /** Counts bytes that are held already, whether there is room for them or not. */
  add(bytes: number): void
  /** Gives all of it back. */
  close(): void
}

/** The recorder has no room for what it was told. */
export class RecordFull extends Error {
  override readonly name = 'RecordFull'

  constructor() {
    super('more was said in this attempt than is held of one')
  }
}

/**
 * The memory for what attempts have said until they are over: of each at most an eighth of the heap and 256 MiB, of all
 * together two fifths of the heap. Where all of that is used, an attempt that holds less than its part of half of it goes
 * on, so that one that says much ends no other.
 */
export class RecordRooms {
  private readonly most: number
  private readonly mostOfOne: number
  private held = 0
  private attempts = 0

  constructor({ heapBytes = getHeapStatistics().heap_size_limit }: { heapBytes?: number } = {}) {
    this.most = (heapBytes * 2) / 5
    this.mostOfOne = Math.min(mostOfOne, heapBytes / 8)
  }

  open(): RecordRoom {
    let own = 0
    let open = true
    const add = (bytes: number): void => {
      if (!open) return
      own += bytes
      this.held += bytes
    }
    this.attempts++
    return {
      take: (bytes) => {
        const after = own + bytes
        if (after > this.mostOfOne) return false
        if (this.held + bytes > this.most && after > this.most / 2 / this.attempts) return false
        add(bytes)
        return true
      },
      add,
      close: () => {
        if (!open) return
        add(-own)
        open = false
        this.attempts--
      },
    }
  }
}
