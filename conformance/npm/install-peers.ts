import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runNpm } from './run-npm.ts'

/** Packages that nothing here depends on, with their exact versions. */
export interface Peers {
  /** The folder of `.cache` that they are in, once installed. */
  name: string
  versions: Readonly<Record<string, string>>
  /** More that npm is told. */
  options?: readonly string[]
}

/** Installs peers into a folder of the cache, or says why they cannot be had. Their install scripts do not run. */
export function installPeers({
  name,
  versions,
  options = [],
}: Peers): { folder: string; missing?: undefined } | { folder?: undefined; missing: string } {
  const folder = join(import.meta.dirname, '..', '..', '.cache', name)
  const stamp = join(folder, `installed-${Object.values(versions).join('-')}`)
  if (existsSync(stamp)) return { folder }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = { name, private: true, type: 'module', dependencies: versions }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const missing = runNpm(folder, 'install', { options: ['--no-package-lock', ...options], minutes: 2 })
  if (missing !== undefined) return { missing }
  writeFileSync(stamp, '')
  return { folder }
}
