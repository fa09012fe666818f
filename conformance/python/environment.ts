import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { emptyEnvironment, interpreterOf } from './empty-environment.ts'

const run = promisify(execFile)

/** A Python environment that holds the packages of a requirements file and nothing else. */
export interface PythonEnvironment {
  /** Path of its interpreter. */
  interpreter: string
}

/**
 * Makes the environment `.venv` of a folder from its `requirements.txt`, once: again only when that file has changed or
 * the installation was broken off. Says why when it cannot: no Python, or no package index within reach.
 */
export async function pythonEnvironment(
  folder: string,
  progress: (text: string) => void,
  { python = 'python3' }: { python?: string } = {},
): Promise<PythonEnvironment | { unavailable: string }> {
  const venv = join(folder, '.venv')
  const requirements = join(folder, 'requirements.txt')
  const interpreter = interpreterOf(venv)
  // Written once everything is installed.
  const stamp = join(venv, 'installed.txt')
  const wanted = readFileSync(requirements, 'utf8')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return { interpreter }
  try {
    await run(python, ['--version'])
  } catch {
    return { unavailable: `${python} was not found` }
  }
  await rm(venv, { recursive: true, force: true })
  try {
    progress('making a Python environment with the pinned packages')
    await emptyEnvironment(python, venv)
    await run(
      interpreter,
      ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-compile', '-r', requirements],
      {
        maxBuffer: 2 ** 26,
      },
    )
  } catch (thrown) {
    const { stderr } = thrown as { stderr?: string }
    const why = stderr?.trim().split('\n').at(-1) ?? String(thrown)
    return { unavailable: `the packages of ${requirements} could not be installed: ${why}` }
  }
  await writeFile(stamp, wanted)
  return { interpreter }
}
