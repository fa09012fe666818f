/**
 * What the main thread and a sampling thread say to each other: one array of numbers for all that is said in a tick, since
 * a message of objects costs more than sampling a token.
 */
export class PackedWriter {
  private numbers = new Float64Array(1024)
  private length = 0

  get empty(): boolean {
    return this.length === 0
  }

  put(...numbers: number[]): void {
    this.reserve(numbers.length)
    for (const number of numbers) this.numbers[this.length++] = number
  }

  /** The length, then the elements. */
  putAll(elements: ArrayLike<number>): void {
    this.reserve(elements.length + 1)
    this.numbers[this.length++] = elements.length
    this.numbers.set(elements, this.length)
    this.length += elements.length
  }

  /** All that was put, as an array to be transferred; the writer is empty then. */
  take(): Float64Array<ArrayBuffer> {
    const taken = this.numbers.slice(0, this.length)
    this.length = 0
    return taken
  }

  private reserve(count: number): void {
    if (this.length + count <= this.numbers.length) return
    const larger = new Float64Array(2 * (this.length + count))
    larger.set(this.numbers.subarray(0, this.length))
    this.numbers = larger
  }
}

/** Reads what a `PackedWriter` wrote, in the order in which it was put. */
export class PackedReader {
  private readonly numbers: Float64Array
  private at = 0

  constructor(numbers: Float64Array) {
    this.numbers = numbers
  }

  get done(): boolean {
    return this.at >= this.numbers.length
  }

  next(): number {
    const number = this.numbers[this.at++]
    if (number === undefined) throw new RangeError('packed work ends within an entry')
    return number
  }

  /** A view of the elements, which holds as long as the array that is read. */
  nextAll(): Float64Array {
    const count = this.next()
    const from = this.at
    this.at += count
    if (this.at > this.numbers.length) throw new RangeError('packed work ends within an entry')
    return this.numbers.subarray(from, this.at)
  }
}

/** Kinds of entries to a sampling thread. */
export const workKind = { sample: 1, cancel: 2, forget: 3, fence: 4 } as const

/** Kinds of entries from a sampling thread. */
export const saidKind = { finished: 1, tokens: 2, notFinite: 3, fence: 4 } as const

/** A request as a sampling thread knows it. Numbers stand for the names of requests, sessions and weights. */
export interface PackedRequest {
  id: number
  /** Of the weights: what is cached under another is not theirs. */
  key: number
  /** Where the weights lie. */
  offset: number
  /** 0 is none. */
  session: number
  /** Each token is told as it is sampled. */
  streams: boolean
  maxTokens: number
  temperature: number
  /** 0 is all. */
  topK: number
  topP: number
  /** Four words of 32 bits. */
  seed: ArrayLike<number>
  stop: ArrayLike<number>
  prompt: ArrayLike<number>
}

export function putRequest(to: PackedWriter, request: PackedRequest): void {
  const { id, key, offset, session, streams, maxTokens, temperature, topK, topP } = request
  to.put(workKind.sample, id, key, offset, session, streams ? 1 : 0, maxTokens, temperature, topK, topP)
  to.putAll(request.seed)
  to.putAll(request.stop)
  to.putAll(request.prompt)
}

/** The request whose kind was read already. */
export function readRequest(from: PackedReader): PackedRequest {
  return {
    id: from.next(),
    key: from.next(),
    offset: from.next(),
    session: from.next(),
    streams: from.next() === 1,
    maxTokens: from.next(),
    temperature: from.next(),
    topK: from.next(),
    topP: from.next(),
    seed: from.nextAll(),
    stop: from.nextAll(),
    prompt: from.nextAll(),
  }
}
