import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quintain-setup-'))
  mkdirSync(join(root, 'scripts'))
  copyFileSync(join(import.meta.dirname, 'setup.mjs'), join(root, 'scripts', 'setup.mjs'))
  writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion":3}')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function program(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

/** An npm that notes each call and puts a "Node" of some version into node_modules. */
function fakeNpm(installedNode: string, seconds = 0): void {
  const node = `mkdir -p node_modules/.bin
    printf '#!/bin/sh\\necho ${installedNode}\\n' > node_modules/.bin/node
    chmod +x node_modules/.bin/node`
  program(
    join(root, 'bin', 'npm'),
    `echo "$@" >> npm-calls\nsleep ${seconds}\n${installedNode === '' ? '' : node}`,
  )
}

function npmCalls(): string[] {
  const log = join(root, 'npm-calls')
  return existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
}

async function setup(): Promise<{ status: number | null; said: string }> {
  const child = spawn(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
    env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => (said += `stdout: ${chunk}`))
  child.stderr.on('data', (chunk) => (said += chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, said }
}

describe.skipIf(process.platform === 'win32')('setup', () => {
  test('installs once, by the lock file, and again when it changes', async () => {
    fakeNpm('v24.1.0')
    expect((await setup()).status).toBe(0)
    expect(await setup()).toEqual({ status: 0, said: '' })
    expect(npmCalls()).toEqual([expect.stringMatching(/^ci /)])
    writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion":3,"changed":true}')
    expect((await setup()).status).toBe(0)
    expect(npmCalls()).toHaveLength(2)
  })

  test('says nothing on standard output, which belongs to the command that follows', async () => {
    fakeNpm('v24.1.0')
    writeFileSync(
      join(root, 'bin', 'npm'),
      readFileSync(join(root, 'bin', 'npm'), 'utf8').replace('sleep', 'echo added; sleep'),
    )
    expect((await setup()).said).not.toContain('stdout:')
  })

  test('two at once install once', async () => {
    fakeNpm('v24.1.0', 1)
    const both = await Promise.all([setup(), setup()])
    expect(both.map(({ status }) => status)).toEqual([0, 0])
    expect(npmCalls()).toHaveLength(1)
    expect(existsSync(join(root, '.cache', 'setup.lock'))).toBe(false)
  })

  test('an npm that fails is told, and tried again next time', async () => {
    program(join(root, 'bin', 'npm'), 'echo "no such registry" >&2; echo x >> npm-calls; exit 7')
    for (const call of [1, 2]) {
      const { status, said } = await setup()
      expect([status, npmCalls().length]).toEqual([1, call])
      expect(said).toMatch(/no such registry[\s\S]*npm ci failed \(exit code 7\)/)
    }
    expect(existsSync(join(root, '.cache', 'setup.lock'))).toBe(false)
  })

  test('a platform without a pinned Node is told what to do', async () => {
    fakeNpm('')
    const { status, said } = await setup()
    expect(status).toBe(1)
    expect(said).toContain(`no pinned Node 24 for ${process.platform}-${process.arch}`)
    expect(said).toContain('npm run test:run')
  })

  test('another Node than the pinned one is refused', async () => {
    fakeNpm('v23.0.0')
    const { status, said } = await setup()
    expect(status).toBe(1)
    expect(said).toContain('v23.0.0')
  })
})
