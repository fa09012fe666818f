/** Bytes that every connection may hold of frames, whatever the others hold: requests of HUD's clients are smaller. */
const freeBytes = 64 * 2 ** 10

/** What frames may take that are not answered yet, of all connections together, beyond what each of them has free. */
export class FrameRoom {
  private readonly most: number
  private held = 0

  constructor(mostBytes: number) {
    this.most = mostBytes
  }

  /** A connection that held `before` bytes holds `now`. False: there is no room for more, and it still has `before`. */
  change(before: number, now: number): boolean {
    const more = beyondFree(now) - beyondFree(before)
    if (more > 0 && this.held + more > this.most) return false
    this.held += more
    return true
  }
}

function beyondFree(bytes: number): number {
  return Math.max(0, bytes - freeBytes)
}
