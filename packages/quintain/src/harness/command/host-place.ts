import type { BoxFiles } from '../../core/index.ts'
import { processDriver } from '../../sandbox/process/driver.ts'
import { HostProgram, refusedStart } from './host-program.ts'
import type { Place } from './place.ts'
import { notStartedFault } from './program-end.ts'

/**
 * This machine: a fresh folder, and of our variables only `PATH`. What the program leaves behind is found by a variable
 * that its children inherit, and ended with the attempt.
 */
export async function hostPlace(options: {
  files: BoxFiles
  /** A folder of this machine to start in, instead of the fresh one. */
  cwd: string | undefined
  outputBytes: number
  graceMs: number
  signal: AbortSignal
}): Promise<Place> {
  const { outputBytes, graceMs } = options
  const path = process.env['PATH']
  const box = await processDriver().start({
    files: options.files,
    ...(path === undefined ? {} : { env: { PATH: path } }),
    signal: options.signal,
  })
  let own: Record<string, string>
  try {
    own = variablesIn((await box.exec(['env', '-0'])).stdout)
  } catch (thrown) {
    await box.stop()
    throw thrown
  }
  const cwd = options.cwd ?? box.workdir
  const running = new Set<HostProgram>()
  const start = (argv: readonly string[], env: Readonly<Record<string, string>>, lines: boolean) => {
    const program = new HostProgram({ argv, env: { ...own, PWD: cwd, ...env }, cwd, outputBytes, lines })
    running.add(program)
    return program
  }
  return {
    taskFile: `${own['TMPDIR'] ?? box.workdir}/quintain-task.json`,
    write: (file, text) => box.write(file, text),
    read: (file) => box.read(file),
    async run(argv, { env, stdin, signal }) {
      let program: HostProgram
      try {
        program = start(argv, env, false)
      } catch (thrown) {
        return refusedStart(thrown)
      }
      program.write(stdin)
      program.endInput()
      const stop = () => void program.stop(graceMs)
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      try {
        return await program.ended
      } finally {
        signal.removeEventListener('abort', stop)
      }
    },
    start(argv, { env }) {
      try {
        return start(argv, env, true)
      } catch (thrown) {
        throw notStartedFault(argv[0] ?? '', refusedStart(thrown).notStarted)
      }
    },
    async close() {
      await Promise.all([...running].map((program) => program.stop(graceMs)))
      await box.stop()
    },
  }
}

/** What `env -0` prints. */
function variablesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split('\0')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}
