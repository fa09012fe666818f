/**
 * One request and its reply, whatever carries them: a connection of `node:http`, or a `fetch` in this process. A reply
 * is `send`, or `begin` and any number of `write` and at last `end` or `breakOff`.
 */
export interface Exchange {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly target: string
  header(name: string): string | undefined
  /**
   * The body as it was sent. `count` is told the size of each piece; what it throws ends the reading. Rejects with a
   * `Refusal` where the body breaks off.
   */
  body(count: (bytes: number) => void): Promise<Uint8Array>
  /** Called once when all is over: with true when the whole reply was taken. */
  onClose(listener: (taken: boolean) => void): void
  /** The caller has gone, or all is sent. */
  readonly closed: boolean
  /** Sends a whole reply. */
  send(status: number, headers: Readonly<Record<string, string>>, body: string): void
  /** Begins a stream with status 200. */
  begin(headers: Readonly<Record<string, string>>): void
  /** Sends a piece. Gives a promise when the caller does not keep up, which is open until it does, or has gone. */
  write(text: string): Promise<void> | undefined
  /** Ends a stream that is whole. */
  end(text: string): void
  /** Ends a stream that is not, so that nobody can take it for whole. Before `begin`: hangs up. */
  breakOff(text?: string): void
}
