import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runCli } from '../../packages/quintain/src/cli/run-cli.ts'
import { examples } from './examples.ts'

/** Workspaces of the installation: the examples, and official SDKs. */
const members = [...examples.map(({ name }) => name), 'sdks']
const root = join(import.meta.dirname, '..', '..')
const lockFile = join(import.meta.dirname, 'package-lock.json')
const cache = join(root, '.cache', 'agents')
/** Where all of them lie, one beside the other. */
export const workspace = join(cache, 'workspace')

/** Where an example lies when it is installed. */
export const folderOf = (name: string) => join(workspace, name)

/**
 * Makes every example with `quintain init --agent`, and installs what they need as one workspace, by the lock beside this
 * file; `relock` resolves anew and writes that lock. No install script runs. Says why where the registry does not give it.
 */
export async function installExamples({ relock }: { relock: boolean }): Promise<{ missing?: string }> {
  // Beside the workspace, so that paths relative to one hold in the other.
  mkdirSync(cache, { recursive: true })
  const fresh = mkdtempSync(join(cache, 'fresh-'))
  try {
    for (const { name } of examples) await make(name, fresh)
    cpSync(join(import.meta.dirname, 'sdks'), join(fresh, 'sdks'), { recursive: true })
    refresh(fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  writeFileSync(
    join(workspace, 'package.json'),
    `${JSON.stringify({ name: 'agents', private: true, workspaces: members })}\n`,
  )
  if (relock) rmSync(join(workspace, 'package-lock.json'), { force: true })
  else copyFileSync(lockFile, join(workspace, 'package-lock.json'))
  const stamp = join(workspace, `installed-${digestOf(['.', ...members])}`)
  if (existsSync(stamp) && !relock) return {}
  for (const old of readdirSync(workspace)) if (old.startsWith('installed-')) rmSync(join(workspace, old))
  const missing = npm(relock ? 'install' : 'ci')
  if (missing !== undefined) return { missing }
  if (relock) copyFileSync(join(workspace, 'package-lock.json'), lockFile)
  writeFileSync(stamp, '')
  return {}
}

async function make(name: string, fresh: string): Promise<void> {
  let said = ''
  const write = (text: string) => {
    said += text
  }
  const code = await runCli(['init', '--agent', name, '--dir', name], {
    cwd: fresh,
    env: {},
    stdout: { write },
    stderr: { write },
  })
  if (code !== 0) throw new Error(`quintain init --agent ${name} ended with ${code}: ${said}`)
}

/** Puts new files in the place of old ones, and leaves what was installed. */
function refresh(fresh: string): void {
  for (const name of members) {
    const folder = folderOf(name)
    mkdirSync(folder, { recursive: true })
    for (const old of readdirSync(folder))
      if (old !== 'node_modules' && old !== '.venv') rmSync(join(folder, old), { recursive: true })
    cpSync(join(fresh, name), folder, { recursive: true })
  }
}

function digestOf(folders: readonly string[]): string {
  const hash = createHash('sha256').update(existsSync(lockFile) ? readFileSync(lockFile) : '')
  for (const folder of folders) hash.update(readFileSync(join(workspace, folder, 'package.json')))
  return hash.digest('hex').slice(0, 16)
}

/** Runs npm; what it says when it does not end well. */
function npm(command: 'ci' | 'install'): string | undefined {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_/.test(name)),
  )
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--omit=dev']
  // No address of a registry belongs into the lock.
  const { status, stderr, error } = spawnSync(
    'npm',
    [command, ...quiet, '--omit-lockfile-registry-resolved', '--fetch-retries=1', '--fetch-timeout=20000'],
    { cwd: workspace, env, encoding: 'utf8', timeout: 300_000 },
  )
  if (status === 0) return undefined
  const why = error?.message ?? stderr.trim().split('\n').slice(0, 3).join('; ')
  // A lock that does not fit is a mistake of ours, and no missing network.
  if (/EUSAGE|can only install packages when/.test(why))
    throw new Error(`${lockFile} does not fit the templates; run this with --relock (${why})`)
  return `the registry did not give the packages: ${why}`
}
