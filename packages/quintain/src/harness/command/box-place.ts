import type { Box } from '../../core/index.ts'
import { asSeatStop } from '../fault-stop.ts'
import type { Place } from './place.ts'

/** A box: one of the program's own, or the world's, which stays. */
export async function boxPlace(
  box: Box,
  options: { outputBytes: number; close(): Promise<void> },
): Promise<Place> {
  const faulted = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (thrown) {
      throw asSeatStop(thrown)
    }
  }
  const { stdout } = await faulted(box.exec('printf %s "$TMPDIR"'))
  return {
    taskFile: `${stdout || '/tmp'}/quintain-task.json`,
    write: (path, text) => faulted(box.write(path, text)),
    read: (path) => faulted(box.read(path)),
    async run(argv, { env, stdin, signal }) {
      return faulted(box.exec(argv, { env, stdin, signal, wallMs: mostMs, outputBytes: options.outputBytes }))
    },
    close: options.close,
  }
}

/** The longest time that a timer holds; the box's own limit is what counts. */
const mostMs = 2 ** 31 - 1
