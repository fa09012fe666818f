import type { Said } from '../core/sandbox.ts'

/** What a command has written and nobody has asked for; one that writes more is not heard any further. */
const mostUnheard = 64 * 2 ** 20

/** One command that is talked with: what it writes, and where its input goes. */
export class Talk {
  #send: ((input: Uint8Array) => void) | undefined
  #early: Uint8Array[] = []
  #heard: Uint8Array[] = []
  #bytes = 0
  #ended = false
  #waiting: (() => void) | undefined

  /** From now on there is somebody to send to. */
  attach(send: (input: Uint8Array) => void): void {
    this.#send = send
    for (const input of this.#early.splice(0)) send(input)
  }

  /** What the command wrote. Copied: a chunk may be a view into a buffer that is far larger. */
  hear(chunk: Uint8Array): void {
    if (this.#ended || chunk.length === 0) return
    this.#heard.push(Uint8Array.from(chunk))
    this.#bytes += chunk.length
    if (this.#bytes > mostUnheard) this.end()
    else this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async say(input: Uint8Array): Promise<Said> {
    if (input.length > 0 && !this.#ended) {
      if (this.#send === undefined) this.#early.push(input)
      else this.#send(input)
    }
    if (this.#bytes === 0 && !this.#ended)
      await new Promise<void>((resolve) => {
        this.#wake()
        this.#waiting = resolve
      })
    const output = new Uint8Array(Buffer.concat(this.#heard.splice(0)))
    this.#bytes = 0
    return { output, ended: this.#ended }
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }
}

/** The commands of a box that are talked with, by name. */
export class Talks {
  readonly #open = new Map<string, Talk>()

  /** A command begins; an earlier one of this name is over. */
  begin(name: string): Talk {
    this.#open.get(name)?.end()
    const talk = new Talk()
    this.#open.set(name, talk)
    return talk
  }

  /** A name that nobody has begun says nothing any more. */
  async say(name: string, input: string | Uint8Array = ''): Promise<Said> {
    const talk = this.#open.get(name)
    if (talk === undefined) return { output: new Uint8Array(), ended: true }
    return talk.say(Buffer.from(input as string))
  }

  /** The box is over. */
  end(): void {
    for (const talk of this.#open.values()) talk.end()
  }
}
