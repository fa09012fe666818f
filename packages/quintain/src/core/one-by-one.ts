/** Carries out what it is given one after the other, in the order in which it came. What nobody is before begins at once. */
export class OneByOne {
  /** What is carried out, and what waits for it. */
  count = 0
  private readonly waiting: (() => void)[] = []

  /** Settles as the work does, which must not throw but reject; what fails holds nobody up. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.count++ > 0) return this.later(work)
    const done = work()
    done.then(this.next, this.next)
    return done
  }

  private async later<T>(work: () => Promise<T>): Promise<T> {
    await new Promise<void>((turn) => this.waiting.push(turn))
    try {
      return await work()
    } finally {
      this.next()
    }
  }

  private readonly next = () => {
    this.count--
    this.waiting.shift()?.()
  }
}
