import { setFlagsFromString } from 'node:v8'
import { exitCodes } from './exit-codes.ts'
import { asPresses } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { runCli } from './run-cli.ts'

/** Rollouts in flight, and sessions of a server, from which memory goes before the last of the speed. */
const manyInFlight = 3_000
const manySessions = 1_500

/**
 * Keeps V8 from growing its nursery to a hundred megabytes, which buys nothing where large files are streamed, or where
 * thousands of rollouts or sessions wait for what comes next.
 */
export function keepNurserySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** The command line of this process. Sets the exit code; what is still to be written is written. */
export async function main(): Promise<void> {
  const [command, ...rest] = process.argv.slice(2)
  const options = rest.join(' ')
  const concurrency = Number(/--concurrency[= ](\d+)/.exec(options)?.[1] ?? 0)
  const sessions = Number(/--max-sessions[= ](\d+)/.exec(options)?.[1] ?? 0)
  const reads = ['report', 'list', 'show', 'compare'].includes(command ?? '')
  if (reads || concurrency >= manyInFlight || sessions >= manySessions) keepNurserySmall()
  const io: CliIo = {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    ownsProcess: true,
    onInterrupt(handler) {
      let times = 0
      const interrupt = asPresses(() => {
        times++
        // Whoever asks a third time does not want to wait for anything.
        if (times > 2) process.exit(exitCodes.incomplete)
        handler()
      })
      process.on('SIGINT', interrupt)
      process.on('SIGTERM', interrupt)
      return () => {
        process.off('SIGINT', interrupt)
        process.off('SIGTERM', interrupt)
      }
    },
    onStdinEnd(handler) {
      const { stdin } = process
      stdin.once('end', handler).once('error', handler).resume()
      return () => {
        stdin.off('end', handler).off('error', handler)
        stdin.destroy()
      }
    },
  }
  // Progress that cannot be shown must not end the run that it tells of.
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // `quintain report … | head` closes the pipe; that is no error.
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.done)
    process.stderr.write(
      `error: standard output cannot be written (${error.code}); what was recorded is on disk\n`,
    )
    process.exit(exitCodes.other)
  })
  process.exitCode = await runCli(process.argv.slice(2), io)
}
