import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOfName } from '../box-name.ts'
import { type BoxPlan, boxHome, type PlacedFile, refuseOption } from '../box-options.ts'

/** Descriptors of the first process, by what they are for. Read-only files come after them. */
export const descriptors = { errors: 2, channel: 3, filter: 4, info: 5, options: 6, firstFile: 7 } as const

/** What programs of the host need of `/etc`; nothing that names users, machines, networks or keys. */
const etc = [
  ...[
    'alternatives',
    'ld.so.cache',
    'ld.so.conf',
    'ld.so.conf.d',
    'ssl/certs',
    'ssl/openssl.cnf',
    'ca-certificates',
  ],
  ...[
    'mime.types',
    'magic',
    'terminfo',
    'fonts',
    'perl',
    'python3',
    'bash.bashrc',
    'inputrc',
    'java-17-openjdk',
  ],
]
/** Made in the box, so that nothing of the host's tables of users, hosts and resolvers is seen. */
export const ownEtc: Readonly<Record<string, string>> = {
  '/etc/passwd': `root:x:0:0:root:/root:/usr/sbin/nologin\nbox:x:1000:1000:box:${boxHome}:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`,
  '/etc/group': 'root:x:0:\nbox:x:1000:\nnogroup:x:65534:\n',
  '/etc/hosts': '127.0.0.1 localhost box\n::1 localhost\n',
  '/etc/hostname': 'box\n',
  '/etc/resolv.conf': '',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
}
const shmBytes = 64 * 2 ** 20
/** Folders that cannot be the place of read-only files: the system's, and those that every program writes. */
const taken = new Set([
  'usr',
  'bin',
  'sbin',
  'lib',
  'lib32',
  'lib64',
  'etc',
  'dev',
  'proc',
  'sys',
  'tmp',
  'var',
  'home',
  'run',
])

/**
 * The options of bubblewrap for a box, as it reads them with `--args`: each ends with a NUL, and is bytes, since the names of
 * read-only files are; arguments of a process that Node starts are text. One tmpfs of limited size is the root of everything that can be written;
 * the system's programs are mounted into it read-only, and read-only files lie in folders that are mounts of their own,
 * which can neither be changed nor moved away.
 */
export function bwrapOptions(plan: BoxPlan): Buffer {
  return Buffer.concat(optionsOf(plan).map((option) => bytesOfName(`${option}\0`)))
}

function optionsOf(plan: BoxPlan): string[] {
  const mode = (file: PlacedFile) => ('link' in file ? 0o777 : file.mode).toString(8).padStart(4, '0')
  return [
    ...[
      '--unshare-user',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
    ],
    ...['--disable-userns', '--uid', '1000', '--gid', '1000', '--hostname', 'box', '--cap-drop', 'ALL'],
    ...['--new-session', '--die-with-parent', '--as-pid-1', '--clearenv'],
    ...['--size', String(Math.ceil(plan.limits.diskMb * 2 ** 20)), '--tmpfs', '/'],
    ...(plan.image === undefined ? ['--dir', '/etc'] : []),
    ...systemMounts(plan.image),
    ...['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
    ...['--size', String(shmBytes), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...['/tmp', '/var/tmp'].flatMap((folder) => ['--perms', '1777', '--dir', folder]),
    ...[boxHome, '/run', plan.workdir].flatMap((folder) => ['--dir', folder]),
    ...plan.mounts.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...readOnlyFolders(plan).flatMap((folder) => ['--tmpfs', folder]),
    ...plan.readOnlyFiles.flatMap((file, index) =>
      'link' in file
        ? ['--symlink', file.link, file.path]
        : ['--perms', mode(file), '--file', String(descriptors.firstFile + index), file.path],
    ),
    ...readOnlyFolders(plan).flatMap((folder) => ['--remount-ro', folder]),
    ...['--seccomp', String(descriptors.filter), '--info-fd', String(descriptors.info)],
    ...['--chdir', '/'],
  ]
}

const top = (path: string) => path.split('/')[1]!

/** Refuses files and a working directory in folders that nothing can be written to. */
export function refuseReadOnlyPlaces(plan: BoxPlan): void {
  const fixed = new Set(['proc', 'dev', 'sys', ...readOnlyFolders(plan).map(top)])
  const system = plan.image === undefined ? hostFolders : names(plan.image).filter((name) => !made.has(name))
  for (const name of system) fixed.add(name)
  const paths = [
    { option: 'workdir', path: plan.workdir },
    ...plan.files.map(({ path }) => ({ option: 'files', path })),
  ]
  for (const { option, path } of paths) {
    if (fixed.has(top(path)))
      refuseOption('bwrap', option, `keeps /${top(path)} read-only, so ${path} cannot be there`)
  }
}

/** Top-level folders of the read-only files. */
function readOnlyFolders({ readOnlyFiles, workdir, mounts }: BoxPlan): string[] {
  const folders = new Set(readOnlyFiles.map(({ path }) => top(path)))
  const used = new Set([top(workdir), ...mounts.map(({ target }) => top(target))])
  for (const folder of folders) {
    if (!taken.has(folder) && !used.has(folder) && !readOnlyFiles.some(({ path }) => path === `/${folder}`))
      continue
    refuseOption('bwrap', 'readOnlyFiles', 'keeps them in top-level folders of their own, such as /tests')
  }
  return [...folders].map((folder) => `/${folder}`)
}

const hostFolders = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64']
/** Of an image, these are not taken: every box has its own. */
const made = new Set(['dev', 'proc', 'sys', 'tmp', 'run', 'home'])

/** The programs of the host, or all of an unpacked root file system. */
function systemMounts(image: string | undefined): string[] {
  if (image !== undefined) {
    return names(image).flatMap((name) => (made.has(name) ? [] : mountOf(join(image, name), `/${name}`)))
  }
  return [
    ...hostFolders.flatMap((name) => mountOf(`/${name}`, `/${name}`)),
    ...etc.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ]
}

function names(image: string): string[] {
  try {
    return readdirSync(image)
  } catch {
    return refuseOption(
      'bwrap',
      'image',
      'takes a folder with an unpacked root file system, and there is none at this path',
    )
  }
}

function mountOf(source: string, target: string): string[] {
  const found = lstatSync(source, { throwIfNoEntry: false })
  if (found === undefined) return []
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(source), target] : ['--ro-bind', source, target]
}
