import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'quintain-gateway-'
const socketName = 'gateway.sock'

/** Age from which a folder without a socket is no longer one that is just being made. */
const madeMs = 60_000

/** Where a gateway's socket lies. */
export interface SocketFolder {
  /** The socket's own path. */
  path: string
  remove(): void
}

/** Makes a folder for a socket, which only this user can enter, and removes those that broken-off runs have left. */
export async function socketFolder(): Promise<SocketFolder> {
  if (process.platform === 'win32') {
    return { path: `\\\\.\\pipe\\${prefix}${randomBytes(16).toString('hex')}`, remove() {} }
  }
  // A socket's path may have a hundred characters or so.
  const base = tmpdir().length > 60 ? '/tmp' : tmpdir()
  await sweep(base)
  const folder = await mkdtemp(join(base, prefix))
  const clear = (): void => rmSync(folder, { recursive: true, force: true })
  // A run that is broken off closes nothing.
  process.once('exit', clear)
  return {
    path: join(folder, socketName),
    remove() {
      process.off('exit', clear)
      clear()
    },
  }
}

/** Removes this user's folders whose socket nobody listens on: a process that is killed clears nothing. Never rejects. */
export async function sweep(base: string): Promise<void> {
  const names = await readdir(base).catch(() => [])
  const folders = names.filter((name) => name.startsWith(prefix)).map((name) => join(base, name))
  await Promise.all(
    folders.map(async (folder) => {
      if (await isLeft(folder)) await rm(folder, { recursive: true, force: true }).catch(() => {})
    }),
  )
}

async function isLeft(folder: string): Promise<boolean> {
  const made = await stat(folder).catch(() => undefined)
  if (made === undefined || !made.isDirectory() || made.uid !== process.getuid?.()) return false
  const code = await refusalOf(join(folder, socketName))
  return code === 'ECONNREFUSED' || (code === 'ENOENT' && Date.now() - made.mtimeMs > madeMs)
}

/** Why nobody can be reached on a socket; undefined where somebody listens. */
function refusalOf(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
}
