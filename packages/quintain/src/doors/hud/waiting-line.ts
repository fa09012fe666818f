import type { SessionCore } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'

/** How often the head of the line looks whether there is room. */
const lookMs = 50

/**
 * Lets starts wait until the core has room, in the order in which they came: HUD's runner starts thirty rollouts at once
 * and tries none of them again.
 */
export class WaitingLine {
  private readonly core: SessionCore
  private readonly patienceMs: number
  private last: Promise<unknown> = Promise.resolve()

  constructor(core: SessionCore, patienceMs: number) {
    this.core = core
    this.patienceMs = patienceMs
  }

  /**
   * Carries `enter` out when there is room. Without it: when patience is at an end, so that the core says so itself, and
   * not at all when nobody wants it any more.
   */
  enter<T>(wanted: () => boolean, enter: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.patienceMs
    const turn = this.last.then(async () => {
      while (this.isFull() && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, lookMs))
        if (!wanted()) throw givenUp()
      }
      return enter()
    })
    this.last = turn.catch(() => {})
    return turn
  }

  private isFull(): boolean {
    const { open, most, draining } = this.core.stats()
    return open >= most && !draining
  }
}

/** Whoever asked for a task has gone, or wants another. */
export function givenUp(): SessionError {
  return new SessionError('session_gone', 'The task was given up before it had begun.')
}
