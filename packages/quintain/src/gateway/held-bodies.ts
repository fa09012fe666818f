/** How many bytes of bodies are held at once: of one attempt, or of all of a gateway. */
export class HeldBodies {
  bytes = 0
  private readonly most: number
  private readonly all: HeldBodies | undefined

  /** `all`: what holds those of others, too. */
  constructor(most: number, all?: HeldBodies) {
    this.most = most
    this.all = all
  }

  /** Counts bytes more, or (negative) fewer. False where they are too many now; they are counted all the same. */
  add(bytes: number): boolean {
    this.bytes += bytes
    const fits = this.all?.add(bytes) !== false
    return fits && this.bytes <= this.most
  }
}
