import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Reads which process groups there are (`+ 12`) and which are gone (`- 12`). At the end of its input, which is the end of
 * the process that wrote it, it ends those that are left, then whatever has the prefix in its environment, and removes
 * the folders. `$1`: how the folders of the boxes begin.
 */
const script = `
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -9 "-$group"; done
for round in 1 2 3 4 5; do
  left=$(grep -lsF "QUINTAIN_BOX=$1" /proc/[0-9]*/environ | tr -dc '0-9\\n')
  [ -n "$left" ] || break
  kill -9 $left
  sleep 0.1
done
rm -rf "$1"*
`

/**
 * A small process beside ours that ends the programs of our boxes when we die, however we do: nobody else is there then to
 * do it. It is told by its input, which ends with us.
 */
export class Keeper {
  private readonly prefix: string
  private shell: ChildProcess | undefined

  /** `prefix`: how the folders of our boxes begin, and those of no other process. */
  constructor(prefix: string) {
    this.prefix = prefix
  }

  /** Starts it where it does not run. Where it cannot be had, all goes on without it. */
  start(): void {
    if (this.shell !== undefined) return
    const shell = spawn('/bin/sh', ['-c', script, 'quintain-keeper', this.prefix], {
      // A signal from the terminal is for us, and not for it.
      detached: true,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.shell = shell
    const { stdin } = shell
    for (const one of [shell, stdin])
      one.on('error', () => {
        this.shell = undefined
      })
    shell.once('exit', () => {
      this.shell = undefined
    })
    shell.unref()
    if ('unref' in stdin) (stdin as { unref(): void }).unref()
  }

  /** A process group that is to end with us. Gives what is to be called when it is gone. */
  hold(group: number): () => void {
    this.tell(`+ ${group}\n`)
    return () => this.tell(`- ${group}\n`)
  }

  private tell(line: string): void {
    this.shell?.stdin?.write(line)
  }
}
