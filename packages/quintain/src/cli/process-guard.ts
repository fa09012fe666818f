import { failRollout } from '../engine/index.ts'
import { printableLine } from '../report/index.ts'
import { exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'

/** Of failures that cost no rollout, so many are told. */
const mostTold = 5

/**
 * Watches over this process while a run with the code of a user goes on in it. What that code throws where nobody catches
 * it fails its rollout and nothing else; what belongs to no rollout is told, and ends the run only where it was thrown. A
 * process that ends before its run says so and never exits with 0. Gives back what stops it; for a process that is not ours
 * it does nothing.
 */
export function guardProcess(io: CliIo, options: { resume: string; say(text: string): void }): () => void {
  if (io.ownsProcess !== true) return () => {}
  const { resume, say } = options
  let code: number = exitCodes.incomplete
  let told = 0
  const tell = (error: unknown, what: string) => {
    if (told++ < mostTold) say(printableLine(`${what}: ${textOf(error)}`, 400))
  }
  const onRejection = (error: unknown) => {
    const whose = failRollout(error)
    if (whose === 'over') tell(error, 'An agent left something behind that failed after its rollout')
    if (whose === 'none') tell(error, 'A promise was rejected that nobody waits for, of no rollout')
  }
  const onException = (error: unknown) => {
    const whose = failRollout(error)
    if (whose === 'over') tell(error, 'An agent left something behind that threw after its rollout')
    if (whose !== 'none') return
    io.stderr.write(`error internal: thrown outside of every rollout: ${printableLine(textOf(error), 400)}\n`)
    code = exitCodes.other
    process.exit(code)
  }
  const onExit = () => {
    process.exitCode = code
    io.stderr.write(`\nThe process ended before the run did. Go on with: ${resume}\n`)
  }
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  process.on('exit', onExit)
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
    process.off('exit', onExit)
  }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } catch {
    return 'something that cannot be shown'
  }
}
