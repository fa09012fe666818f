/** A place at which all threads wait for each other. Two words of shared memory: how many are there, and how often all were. */
export class Barrier {
  private readonly words: Int32Array
  private readonly threads: number

  constructor(words: Int32Array, threads: number) {
    this.words = words
    this.threads = threads
  }

  /** Returns when every thread has called it. */
  meet(): void {
    const round = Atomics.load(this.words, 1)
    if (Atomics.add(this.words, 0, 1) === this.threads - 1) {
      Atomics.store(this.words, 0, 0)
      Atomics.add(this.words, 1, 1)
      Atomics.notify(this.words, 1)
      return
    }
    while (Atomics.load(this.words, 1) === round) Atomics.wait(this.words, 1, round)
  }
}
