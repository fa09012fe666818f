import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is installed, exactly: the kit for servers of remote rollouts, and the client that its servers ask models with. */
const peers = { 'eval-protocol': '0.1.13', '@vercel/functions': '1.6.0', openai: '4.104.0' }

const folder = join(import.meta.dirname, '..', '..', '.cache', 'fireworks-peers')
const stamp = join(folder, `installed-${Object.values(peers).join('-')}`)

/** Installs the peers into a folder of the cache, or says why they cannot be had. Their install scripts do not run. */
export function installPeers():
  | { folder: string; missing?: undefined }
  | { folder?: undefined; missing: string } {
  if (existsSync(stamp)) return { folder }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = { name: 'fireworks-peers', private: true, type: 'module', dependencies: peers }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_/.test(name)),
  )
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    // The kit has hosts and a compiler among its peers; what it needs of them is above.
    '--legacy-peer-deps',
    '--fetch-retries=1',
    '--fetch-timeout=20000',
  ]
  const { status, stderr, error } = spawnSync('npm', args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 120_000,
  })
  if (status !== 0) {
    const said = error?.message ?? stderr.trim().split('\n').slice(0, 2).join('; ')
    return { missing: `the registry did not give the peers: ${said}` }
  }
  writeFileSync(stamp, '')
  return { folder }
}
