import type { Box } from '../../core/index.ts'
import { asSeatStop } from '../fault-stop.ts'
import { BoxProgram } from './box-program.ts'
import type { Place } from './place.ts'

/** The longest time that a timer holds; the box's own limit is what counts. */
const wallMs = 2 ** 31 - 1

/** A box: one of the program's own, or the world's, which stays. */
export async function boxPlace(
  box: Box,
  { outputBytes, close }: { outputBytes: number; close(): Promise<void> },
): Promise<Place> {
  const { stdout } = await faulted(box.exec('printf %s "$TMPDIR"'))
  return {
    taskFile: `${stdout || '/tmp'}/quintain-task.json`,
    write: (path, text) => faulted(box.write(path, text)),
    read: (path) => faulted(box.read(path)),
    run: (argv, { env, stdin, signal }) =>
      faulted(box.exec(argv, { env, stdin, signal, wallMs, outputBytes })),
    ...(canTalk(box)
      ? { start: (argv, { env }) => new BoxProgram(box, argv, { env, wallMs, outputBytes }) }
      : {}),
    close,
  }
}

function canTalk(box: Box): box is Box & Required<Pick<Box, 'talk'>> {
  return box.talk !== undefined
}

async function faulted<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    throw asSeatStop(thrown)
  }
}
