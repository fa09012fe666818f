import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pythonEnvironment } from '../python/environment.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('.', import.meta.url))

/** A Python environment that holds the pinned peer and nothing else. */
export interface Peer {
  /** Path of its interpreter. */
  interpreter: string
  python: string
  version: string
}

/** Makes the environment, once (about two minutes). Says why when it cannot. Wants Python 3.11 to 3.13. */
export async function setUpPeer(progress: (text: string) => void): Promise<Peer | { unavailable: string }> {
  const environment = await pythonEnvironment(folder, progress)
  if ('unavailable' in environment) return environment
  const { interpreter } = environment
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
