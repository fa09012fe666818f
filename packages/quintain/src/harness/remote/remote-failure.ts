/** What the agent's own service says went wrong, or does that no agent may: the agent's failure. */
export class RemoteFailure extends Error {
  override readonly name = 'RemoteFailure'
}
