import { spawnSync } from 'node:child_process'

/** What npm ends with when the fault is ours: a lock or pins that do not fit, or a package that is not the one that was pinned. */
const ours = /EUSAGE|ERESOLVE|EINTEGRITY|EJSONPARSE|can only install packages when/

/**
 * Installs in a folder, without the install scripts of what it installs. Gives what npm says where the packages cannot be
 * had; throws where it refuses what it was asked for, since a check that is skipped for that is never carried out.
 */
export function runNpm(
  folder: string,
  command: 'ci' | 'install',
  { options = [], minutes }: { options?: readonly string[]; minutes: number },
): string | undefined {
  // What the npm that runs us has set for its own package.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_/.test(name)),
  )
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1', '--fetch-timeout=20000']
  const { status, stderr, error } = spawnSync('npm', [command, ...quiet, ...options], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: minutes * 60_000,
  })
  if (status === 0) return undefined
  const why = error?.message ?? stderr.trim().split('\n').slice(0, 3).join('; ')
  if (ours.test(why)) throw new Error(`npm ${command} in ${folder} refuses: ${why}`)
  return `the registry did not give the packages: ${why}`
}
