import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is installed, exactly. None of it is a dependency of a package here. */
const peers = {
  '@modelcontextprotocol/conformance': '0.1.16',
  '@modelcontextprotocol/inspector': '2.12.0',
  '@modelcontextprotocol/sdk': '1.32.2',
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
  '@modelcontextprotocol/server-memory': '2026.8.31',
}

const folder = join(import.meta.dirname, '..', '..', '.cache', 'mcp-peers')
const stamp = join(folder, `installed-${Object.values(peers).join('-')}`)

/** Installs the peers into a folder of the cache, or says why they cannot be had. Their install scripts do not run. */
export function installPeers():
  | { folder: string; missing?: undefined }
  | { folder?: undefined; missing: string } {
  if (existsSync(stamp)) return { folder }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'mcp-peers', private: true, dependencies: peers }),
  )
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_/.test(name)),
  )
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
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
