import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('.', import.meta.url))
const venv = join(folder, '.venv')
const requirements = join(folder, 'requirements.txt')
/** Written once everything is installed: an installation that was broken off is made again. */
const stamp = join(venv, 'installed.txt')

/** A Python environment that holds the pinned peer and nothing else. */
export interface Peer {
  /** Path of its interpreter. */
  interpreter: string
  python: string
  version: string
}

/** Makes the environment, once. Says why when it cannot: no Python, or no package index within reach. */
export async function setUpPeer(progress: (text: string) => void): Promise<Peer | { unavailable: string }> {
  const interpreter = join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  const wanted = readFileSync(requirements, 'utf8')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    try {
      await run('python3', ['--version'])
    } catch {
      return { unavailable: 'python3 was not found; verifiers needs Python 3.11 to 3.13' }
    }
    await rm(venv, { recursive: true, force: true })
    try {
      progress('making a Python environment with the pinned verifiers (about two minutes)')
      await run('python3', ['-m', 'venv', venv])
      await run(interpreter, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', requirements], {
        maxBuffer: 2 ** 26,
      })
    } catch (thrown) {
      const { stderr } = thrown as { stderr?: string }
      const why = stderr?.trim().split('\n').at(-1) ?? String(thrown)
      return { unavailable: `verifiers could not be installed: ${why}` }
    }
    await writeFile(stamp, wanted)
  }
  const told = await run(interpreter, [
    '-c',
    'import platform, importlib.metadata as m; print(platform.python_version(), m.version("verifiers"))',
  ])
  const [python = '', version = ''] = told.stdout.trim().split(' ')
  return { interpreter, python, version }
}

/** Runs `bench_single_turn.py`. */
export async function runPeer(
  peer: Peer,
  options: { url: string; rollouts: number; inFlight: number; prompts: string },
): Promise<{ seconds: number; rollouts: number }> {
  const { url, rollouts, inFlight, prompts } = options
  const { stdout } = await run(
    peer.interpreter,
    [
      join(folder, 'bench_single_turn.py'),
      ...[
        '--url',
        url,
        '--rollouts',
        String(rollouts),
        '--in-flight',
        String(inFlight),
        '--prompts',
        prompts,
      ],
    ],
    { maxBuffer: 2 ** 26 },
  )
  const told = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
    seconds: number
    rollouts: number
    right: number
  }
  if (told.right !== rollouts)
    throw new Error(`verifiers scored ${told.right} of ${rollouts} rollouts as right`)
  return told
}
