import { type BoxOptions, type GradingPython, QuintainError, type SandboxDriver } from '../core/index.ts'
import type { StartOptions } from './box-protocol.ts'
import type { InterpreterInBox } from './grading-python.ts'
import type { WarmBox } from './spare-boxes.ts'

/** Of the interpreter, which may wait a while before it is wanted; who wants it has a deadline of its own. */
const interpreterMs = 3_600_000

/** Boxes with these options are the same kind. Throws `options_invalid` for what would make a box one call's own. */
export function kindOfWarmBox(given: StartOptions): string {
  const { files, readOnlyFiles, artefacts = 'none', network = 'none', ...rest } = given
  if (files !== undefined || readOnlyFiles !== undefined || artefacts !== 'none' || network !== 'none')
    throw new QuintainError(
      'options_invalid',
      'A grading box with an interpreter (python) takes no files, artefacts or network: say to the interpreter what a call is about.',
    )
  return JSON.stringify(rest)
}

/** Starts a box and the interpreter in it. */
export async function startWarmBox(
  driver: SandboxDriver,
  options: BoxOptions,
  { arguments: words, talk, in: interpreter }: GradingPython & { in: InterpreterInBox },
): Promise<WarmBox> {
  const { limits, mounts = [] } = options
  const box = await driver.start({
    ...options,
    ...(interpreter.mounts.length === 0 ? {} : { mounts: [...mounts, ...interpreter.mounts] }),
    limits: { ...limits, wallMs: interpreterMs },
  })
  const over = new AbortController()
  const ended = box.exec([interpreter.program, ...words], {
    talk,
    env: { QUINTAIN_SITE: interpreter.site.join(':') },
    signal: over.signal,
  })
  // Whoever asks is told.
  ended.catch(() => {})
  return { box, ended, end: () => over.abort() }
}
