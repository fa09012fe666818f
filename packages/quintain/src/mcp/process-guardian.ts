import { type ChildProcess, spawn } from 'node:child_process'

/*
 * A server runs in a process group of its own, so that it can be ended with all that it starts. That takes it out of
 * the group of the worker that started it, which the engine kills; and a worker that is killed ends nothing itself.
 * So one shell per process waits at a pipe: when the process is gone, however it went, the pipe closes and the shell
 * kills the groups that are left.
 */
const script = `groups=' '
while read -r op group; do
  case "$op" in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done`

let shell: ChildProcess | undefined

/** Sees to it that a process group ends with this process. Gives what takes that back, for a group that has ended. */
export function guardGroup(group: number): () => void {
  if (process.platform === 'win32') return () => {}
  shell ??= startShell()
  shell?.stdin?.write(`+ ${group}\n`)
  return () => {
    shell?.stdin?.write(`- ${group}\n`)
  }
}

function startShell(): ChildProcess | undefined {
  const child = spawn('/bin/sh', ['-c', script], {
    env: {},
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell the groups are not guarded; nothing else depends on it.
  child.on('error', () => {})
  if (child.stdio === undefined) return undefined
  child.stdin.on('error', () => {})
  child.on('exit', () => {
    shell = undefined
  })
  // It must not keep this process alive: its end is what it waits for.
  child.unref()
  const { stdin } = child
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
  return child
}
