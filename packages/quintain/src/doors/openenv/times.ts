/** How long things may take, in milliseconds, and how much is held. */
export interface Times {
  /** A request that takes longer is answered as a fault. */
  replyMs: number
  /** How long an episode waits for its client whose socket was lost. */
  graceMs: number
  /** How long a session that was made by request and has no socket waits for the next one. */
  idleMs: number
  /** Between pings. */
  pingMs: number
  /** A socket that gives no sign of life for so long is taken for lost. */
  deadMs: number
  /** Bytes of one frame. */
  mostFrameBytes: number
}

export const defaultTimes: Times = {
  // Clients wait for 60 seconds, if they are not told otherwise; worlds have limits of their own, far below this.
  replyMs: 15 * 60_000,
  graceMs: 120_000,
  idleMs: 15 * 60_000,
  pingMs: 20_000,
  // Clients whose loop is held up by a model answer no pings meanwhile.
  deadMs: 15 * 60_000,
  mostFrameBytes: 16 * 2 ** 20,
}
