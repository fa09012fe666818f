import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Makes the environment `venv` as `python -m venv` does, with pip, from a copy of the first one that was made: to install
 * pip takes ten seconds of a processor, and there are twenty environments. Returns its interpreter.
 */
export async function emptyEnvironment(python: string, venv: string): Promise<string> {
  const first = await firstEnvironment(python)
  await run(python, ['-m', 'venv', '--without-pip', venv])
  const made = interpreterOf(venv)
  await cp(await packagesOf(interpreterOf(first)), await packagesOf(made), {
    recursive: true,
    preserveTimestamps: true,
  })
  return made
}

/** Path of the interpreter of an environment. */
export function interpreterOf(venv: string): string {
  return join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
}

async function packagesOf(interpreter: string): Promise<string> {
  const script = 'import sysconfig; print(sysconfig.get_path("purelib"))'
  return (await run(interpreter, ['-c', script])).stdout.trim()
}

/** An environment with pip and nothing else, of each version of Python. */
async function firstEnvironment(python: string): Promise<string> {
  const version = await run(python, ['-c', 'import sys; print(sys.implementation.cache_tag, sys.hexversion)'])
  const all = join(import.meta.dirname, '.venv')
  const venv = join(all, version.stdout.trim().replace(' ', '-'))
  if (existsSync(venv)) return venv
  await mkdir(all, { recursive: true })
  const made = await mkdtemp(join(all, 'new-'))
  try {
    await run(python, ['-m', 'venv', made])
    // Whole or not there; of two that make it at the same time, the first has it.
    await rename(made, venv).catch((thrown: unknown) => {
      if (!existsSync(venv)) throw thrown
    })
  } finally {
    await rm(made, { recursive: true, force: true })
  }
  return venv
}
