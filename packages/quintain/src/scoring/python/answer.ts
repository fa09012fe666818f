/** What the runner says of a call. */
export interface Answer {
  kind: 'ok' | 'error' | 'missing'
  /** The number; the exception; the package. */
  text: string
  python: string
  packages: Readonly<Record<string, string>>
}

/** A source that finds the channel may write to it; more than this is not looked at. */
const mostBytes = 4 * 2 ** 20

/** Looks for the line of the answer in what comes over the channel. Total: anything else is passed over. */
export class AnswerReader {
  readonly #start: string
  #text = ''
  #bytes = 0

  constructor(nonce: string) {
    this.#start = `\n${nonce} `
  }

  /** The answer, once it is there. Undefined before, and for ever when too much else came. */
  take(output: Uint8Array): Answer | undefined {
    this.#bytes += output.length
    if (this.#bytes > mostBytes) return undefined
    this.#text += Buffer.from(output).toString('latin1')
    const at = this.#text.indexOf(this.#start)
    const end = at < 0 ? -1 : this.#text.indexOf('\n', at + 1)
    if (end >= 0) return parse(this.#text.slice(at + this.#start.length, end))
    // Only what an answer may begin in is still wanted.
    if (at < 0) this.#text = this.#text.slice(-this.#start.length)
    return undefined
  }

  /** No answer will be believed any more. */
  get isFlooded(): boolean {
    return this.#bytes > mostBytes
  }
}

function parse(line: string): Answer | undefined {
  const [kind = '', text = '', about = ''] = line.split(' ')
  if (kind !== 'ok' && kind !== 'error' && kind !== 'missing') return undefined
  const { python, packages } = aboutOf(Buffer.from(about, 'base64').toString('utf8'))
  return { kind, text: Buffer.from(text, 'base64').toString('utf8'), python, packages }
}

function aboutOf(text: string): Pick<Answer, 'python' | 'packages'> {
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read !== 'object' || read === null) return { python: '', packages: {} }
    const python = 'python' in read && typeof read.python === 'string' ? read.python : ''
    const packages = 'packages' in read && typeof read.packages === 'object' ? (read.packages ?? {}) : {}
    const named = Object.entries(packages).filter((entry): entry is [string, string] => {
      return typeof entry[1] === 'string'
    })
    return { python, packages: Object.fromEntries(named) }
  } catch {
    return { python: '', packages: {} }
  }
}
