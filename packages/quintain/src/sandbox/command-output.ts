/** The first and the last part of an output stream, and how much there was in all. */
export interface StreamOutput {
  bytes: Uint8Array
  /** Bytes of `bytes` before the gap, where something was left out. */
  head: number
  written: number
}

/** Keeps the first and the last half of `limit` bytes of what is written, whatever that comes to. */
export class KeptOutput {
  readonly #head: Buffer[] = []
  #headLeft: number
  readonly #keep: number
  #tail: Buffer[] = []
  #tailBytes = 0
  #written = 0

  constructor(limit: number) {
    this.#headLeft = Math.floor(limit / 2)
    this.#keep = limit - this.#headLeft
  }

  get written(): number {
    return this.#written
  }

  add(chunk: Uint8Array): void {
    this.#written += chunk.length
    // Copied: a chunk may be a view into a buffer that is far larger.
    let rest = Buffer.from(chunk)
    if (this.#headLeft > 0) {
      const first = rest.subarray(0, this.#headLeft)
      this.#head.push(first)
      this.#headLeft -= first.length
      rest = rest.subarray(first.length)
    }
    if (rest.length === 0) return
    this.#tail.push(rest.subarray(Math.max(0, rest.length - this.#keep)))
    this.#tailBytes += this.#tail.at(-1)!.length
    if (this.#tailBytes <= 2 * this.#keep + 65_536) return
    this.#tail = [lastOf(this.#tail, this.#keep)]
    this.#tailBytes = this.#tail[0]!.length
  }

  end(): StreamOutput {
    const head = Buffer.concat(this.#head)
    return {
      bytes: Buffer.concat([head, lastOf(this.#tail, this.#keep)]),
      head: head.length,
      written: this.#written,
    }
  }
}

function lastOf(parts: readonly Buffer[], bytes: number): Buffer {
  const whole = Buffer.concat(parts)
  return whole.subarray(Math.max(0, whole.length - bytes))
}

/** The fields of an `ExecResult` that tell of output. */
export function outputFields(out: StreamOutput, err: StreamOutput, binary: boolean) {
  return {
    stdout: textOf(out),
    stderr: textOf(err),
    ...(binary ? { stdoutBytes: new Uint8Array(out.bytes), stderrBytes: new Uint8Array(err.bytes) } : {}),
    written: { stdout: out.written, stderr: err.written },
    truncated: { stdout: leftOut(out) > 0, stderr: leftOut(err) > 0 },
  }
}

function leftOut({ bytes, written }: StreamOutput): number {
  return written - bytes.length
}

/** UTF-8 with U+FFFD for what is none; a gap is said where it is. */
function textOf(output: StreamOutput): string {
  const { bytes, head } = output
  const text = (part: Uint8Array) => Buffer.from(part.buffer, part.byteOffset, part.length).toString('utf8')
  if (leftOut(output) === 0) return text(bytes)
  return `${text(bytes.subarray(0, head))}\n[... ${leftOut(output)} bytes left out ...]\n${text(bytes.subarray(head))}`
}
