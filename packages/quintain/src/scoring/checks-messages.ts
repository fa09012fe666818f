/** What the runner of the tests says, field by field; each field ends with a NUL. */
export type Message =
  | { type: 'begin' }
  /** A program to be run, or a file to be fetched, where what the agent made runs. */
  | { type: 'call'; kind: 'run' | 'file'; cwd: string; stdin: Uint8Array; args: string[] }
  /** The number of a check that has passed; empty for one that nobody expects. */
  | { type: 'passed'; number: string }
  | { type: 'failed'; name: string }
  /** `clean`: a number too, when no check has failed that nobody expects. */
  | { type: 'end'; number: string; clean: string }

/** Reads messages as their bytes arrive. What is none is passed over: whoever sends it cannot be the runner. */
export class MessageReader {
  #bytes = Buffer.alloc(0)
  #fields: Buffer[] = []

  take(bytes: Uint8Array): Message[] {
    this.#bytes = this.#bytes.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#bytes, bytes])
    let from = 0
    for (let at = this.#bytes.indexOf(0); at !== -1; at = this.#bytes.indexOf(0, from)) {
      this.#fields.push(this.#bytes.subarray(from, at))
      from = at + 1
    }
    this.#bytes = this.#bytes.subarray(from)
    const messages: Message[] = []
    for (let used = 1; used > 0; ) {
      const [message, length] = first(this.#fields)
      used = length
      this.#fields.splice(0, used)
      if (message !== undefined) messages.push(message)
    }
    return messages
  }
}

/** The first message of some fields, and how many fields it has; none while it is not whole. */
function first(fields: readonly Buffer[]): [message: Message | undefined, fields: number] {
  const text = (index: number) => fields[index]?.toString('utf8') ?? ''
  const whole = (length: number, message: () => Message): ReturnType<typeof first> =>
    fields.length < length ? [undefined, 0] : [message(), length]
  switch (fields[0]?.toString('latin1')) {
    case undefined:
      return [undefined, 0]
    case 'begin':
      return [{ type: 'begin' }, 1]
    case 'passed':
      return whole(2, () => ({ type: 'passed', number: text(1) }))
    case 'failed':
      return whole(2, () => ({ type: 'failed', name: text(1) }))
    case 'end':
      return whole(3, () => ({ type: 'end', number: text(1), clean: text(2) }))
    case 'call': {
      const count = /^\d{1,7}$/.test(text(4)) ? Number(text(4)) : 0
      return whole(5 + count, () => ({
        type: 'call',
        kind: text(1) === 'run' ? 'run' : 'file',
        cwd: text(2),
        stdin: Buffer.from(text(3), 'base64'),
        args: fields.slice(5, 5 + count).map((field) => field.toString('utf8')),
      }))
    }
    default:
      return [undefined, 1]
  }
}

/** How a call ended, as the runner reads it: status and two lengths, then as much text for bash's `printf %b`. */
export function answerLine({
  status,
  out,
  err,
}: {
  status: number
  out: Uint8Array
  err: Uint8Array
}): string {
  const [outText, errText] = [escaped(out), escaped(err)]
  return `${status} ${outText.length} ${errText.length}\n${outText}${errText}`
}

/** With a full stop at the end: bash reads nothing where it is to read no characters. */
function escaped(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  // What bash does not carry as it is.
  const special = /[\\\x00-\x08\x0b-\x1f\x7f-\xff]/g
  return `${text.replace(special, (byte) => `\\0${byte.charCodeAt(0).toString(8).padStart(3, '0')}`)}.`
}
