// Installs the workspace when it is not installed as the lock file says. Runs on any Node >= 20,
// before the pinned Node 24 exists, so it is plain JavaScript and imports nothing but Node.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const oldestNode = 20
const pinnedNode = 24
/** Longer than any install: a lock this old was left behind by a process that was killed. */
const staleLockMs = 15 * 60_000

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const modules = join(root, 'node_modules')
const stamp = join(modules, '.quintain-installed')
// Beside node_modules, which npm ci deletes.
const lock = join(root, '.cache', 'setup.lock')

function fail(message) {
  process.stderr.write(`setup: ${message}\n`)
  process.exit(1)
}

/** Pinned binaries differ between platforms, so a folder that was installed on another one does not do. */
function wantedStamp() {
  const digest = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  return `${digest} ${process.platform}-${process.arch}`
}

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wantedStamp()
}

function npm(args) {
  // npm says where it is when it runs us; otherwise it is looked up on the path.
  const own = process.env['npm_execpath']
  const [command, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []]
  return spawnSync(command, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', process.stderr, 'inherit'],
    // npm is a command file on Windows, which only a shell starts.
    shell: command === 'npm' && process.platform === 'win32',
  })
}

function pinnedNodeVersion() {
  const name = process.platform === 'win32' ? 'node.cmd' : 'node'
  const result = spawnSync(join(modules, '.bin', name), ['--version'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  return result.status === 0 ? result.stdout.trim() : undefined
}

function install() {
  process.stderr.write('setup: installing dependencies (npm ci) ...\n')
  const result = npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (result.error?.code === 'ENOENT')
    fail('npm was not found. Install Node with npm, 20 or newer, and try again.')
  if (result.status !== 0) {
    fail(
      `npm ci failed (${result.signal ?? `exit code ${result.status}`}); what it said stands above. ` +
        'It needs a registry that has the packages of package-lock.json, room on the disk, and a package.json that the lock file matches.',
    )
  }
  const version = pinnedNodeVersion()
  if (version === undefined) {
    fail(
      `there is no pinned Node ${pinnedNode} for ${process.platform}-${process.arch}: no package of optionalDependencies ` +
        `in package.json carries one. Install Node ${pinnedNode} yourself, put it first on the path, and run ` +
        '`npm run test:run` or `npm run demo:run`, which leave this step out.',
    )
  }
  if (!version.startsWith(`v${pinnedNode}.`)) {
    fail(`node_modules/.bin/node is ${version}, not Node ${pinnedNode}. Delete node_modules and try again.`)
  }
  // Renamed into place: a stamp is whole or absent.
  writeFileSync(`${stamp}.${process.pid}`, wantedStamp())
  renameSync(`${stamp}.${process.pid}`, stamp)
}

/** Making a folder is atomic everywhere, so it serves as the lock between two processes. */
function tryLock() {
  mkdirSync(dirname(lock), { recursive: true })
  try {
    mkdirSync(lock)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  }
}

function unlock() {
  try {
    rmdirSync(lock)
  } catch {
    // Another process took it for stale and removed it.
  }
}

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function main() {
  const [major] = process.versions.node.split('.').map(Number)
  if (major < oldestNode)
    fail(`Node ${process.versions.node} is too old; Node ${oldestNode} or newer is needed.`)
  if (isInstalled()) return
  let told = false
  while (!tryLock()) {
    if (!told) process.stderr.write('setup: another process is installing; waiting for it ...\n')
    told = true
    pause(250)
    if (isInstalled()) return
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > staleLockMs) unlock()
  }
  // process.exit in fail() must not leave the lock behind.
  process.on('exit', unlock)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))
  if (!isInstalled()) install()
}

main()
