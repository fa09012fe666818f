import type { ChildProcess } from 'node:child_process'

/**
 * A child as `spawn` gave it. Where this process has no file descriptor left, Node gives one that has no streams,
 * whatever its type says, and whose `error` ends this process unless somebody listens.
 *
 * Throws an error with the code `EMFILE` for such a child. What else the system refuses comes as the child's `error`.
 */
export function withStreams<Child extends ChildProcess>(child: Child): Child {
  if (child.stdio !== undefined) return child
  child.once('error', () => {})
  throw Object.assign(new Error('no file descriptor is left to start a process with'), { code: 'EMFILE' })
}
