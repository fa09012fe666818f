import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type PythonEnvironment, pythonEnvironment } from '../python/environment.ts'

const run = promisify(execFile)

/** The package, and the versions of Python that it asks for, which it does not need for what is checked here. */
const wanted = 'nemo-gym==0.7.0'

/**
 * An environment with nemo-gym and what it needs to speak to a resources server; `stand_ins.py` takes the place of the
 * rest. It asks for Python 3.13.14 and runs on 3.11 as far as that, so its own word is not heeded.
 */
export async function nemoEnvironment(
  say: (text: string) => void,
  folder: string = import.meta.dirname,
): Promise<PythonEnvironment | { unavailable: string }> {
  const python = await pythonEnvironment(folder, say)
  if ('unavailable' in python) return python
  // A new environment has another folder, and so no stamp.
  const stamp = join(python.interpreter, '../..', wanted)
  if (existsSync(stamp)) return python
  try {
    say(`installing ${wanted}`)
    const words = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--ignore-requires-python', wanted]
    await run(python.interpreter, words, { maxBuffer: 2 ** 26 })
    await run(python.interpreter, ['-c', `open(${JSON.stringify(stamp)}, "w").close()`])
  } catch (thrown) {
    const { stderr } = thrown as { stderr?: string }
    return { unavailable: `${wanted} could not be installed: ${stderr?.trim().split('\n').at(-1)}` }
  }
  return python
}
