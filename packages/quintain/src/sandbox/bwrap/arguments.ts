import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type BoxPlan, boxHome, type PlacedFile, refuseOption } from '../box-options.ts'

/** Descriptors of the first process, by what they are for. Read-only files come after them. */
export const descriptors = { errors: 2, channel: 3, filter: 4, info: 5, firstFile: 6 } as const

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
 * The command line of bubblewrap for a box. One tmpfs of limited size is the root of everything that can be written;
 * the system's programs are mounted into it read-only, and read-only files lie in folders that are mounts of their own,
 * which can neither be changed nor moved away.
 */
export function bwrapArguments(plan: BoxPlan, command: readonly string[]): string[] {
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
    ...['--chdir', '/', '--', ...command],
  ]
}

/** Top-level folders of the read-only files. */
function readOnlyFolders({ readOnlyFiles, workdir, mounts }: BoxPlan): string[] {
  const top = (path: string) => path.split('/')[1]!
  const folders = new Set(readOnlyFiles.map(({ path }) => top(path)))
  const used = new Set([top(workdir), ...mounts.map(({ target }) => top(target))])
  for (const folder of folders) {
    if (!taken.has(folder) && !used.has(folder) && !readOnlyFiles.some(({ path }) => path === `/${folder}`))
      continue
    refuseOption('bwrap', 'readOnlyFiles', 'keeps them in top-level folders of their own, such as /tests')
  }
  return [...folders].map((folder) => `/${folder}`)
}

/** The programs of the host, or all of an unpacked root file system. */
function systemMounts(image: string | undefined): string[] {
  if (image !== undefined) {
    const skipped = new Set(['dev', 'proc', 'sys', 'tmp', 'run', 'home'])
    return names(image).flatMap((name) => (skipped.has(name) ? [] : mountOf(join(image, name), `/${name}`)))
  }
  return [
    ...['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => mountOf(`/${name}`, `/${name}`)),
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
