import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** A browser of this machine; where there is none, root installs Debian's. Otherwise the reason why there is none. */
export function findChromium({ install }: { install: boolean }): { path: string } | { reason: string } {
  const found = () =>
    [process.env['CHROMIUM'], ...places].find((path) => path !== undefined && existsSync(path))
  const path = found()
  if (path !== undefined) return { path }
  if (!install) return { reason: 'no Chromium is installed' }
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return {
      reason:
        'no Chromium is installed, and only root on Debian could install it here: apt-get install chromium',
    }
  }
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium'],
  ]) {
    const ended = spawnSync('apt-get', args, {
      encoding: 'utf8',
      timeout: 5 * 60_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (ended.status !== 0)
      return {
        reason: `apt-get ${args[0]} failed: ${(ended.stderr || String(ended.error)).trim().split('\n').at(-1)}`,
      }
  }
  const installed = found()
  return installed === undefined ? { reason: 'apt-get installed no Chromium' } : { path: installed }
}

/** Starts it without a window and without the connections that it makes on its own. */
export function startChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
