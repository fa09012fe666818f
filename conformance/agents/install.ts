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
import { runNpm } from '../npm/run-npm.ts'
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
  const missing = install(relock)
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

function install(relock: boolean): string | undefined {
  // No address of a registry belongs into the lock.
  const options = ['--loglevel=error', '--omit=dev', '--omit-lockfile-registry-resolved']
  try {
    return runNpm(workspace, relock ? 'install' : 'ci', { options, minutes: 5 })
  } catch (cause) {
    throw new Error(`${lockFile} does not fit the templates, or they do not fit each other; try --relock`, {
      cause,
    })
  }
}
