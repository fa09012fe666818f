/** Something that listens, one for the process while anybody needs it. */
export class SharedServer<S extends { close(): Promise<void> }> {
  private readonly open: () => Promise<S>
  private server: Promise<S> | undefined
  private users = 0

  constructor(open: () => Promise<S>) {
    this.open = open
  }

  /** The server, opened by the first user and closed by the last; `release` is called once. */
  async acquire(): Promise<{ server: S; release(): Promise<void> }> {
    this.users++
    this.server ??= this.open()
    const opening = this.server
    const release = async () => {
      if (--this.users > 0) return
      // The next user opens another, and may do so before this one is closed.
      this.server = undefined
      await opening.then(
        (server) => server.close(),
        () => {},
      )
    }
    try {
      return { server: await opening, release }
    } catch (thrown) {
      await release()
      throw thrown
    }
  }
}
