import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { isAlive, readOrEmpty } from '../../sandbox/process-table.ts'

/*
 * Programs without a box whose main process is killed with SIGKILL: nothing of them is left, nor their folders.
 */

const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)

/** Starts a program with a child that has left its group, and one without our variables, and tells who they are. */
const main = `
import { hostPlace } from ${url('./host-place.ts')}
import { HostProgram } from ${url('./host-program.ts')}
const { signal } = new AbortController()
const place = await hostPlace({ files: {}, cwd: undefined, outputBytes: 1000, graceMs: 100, signal })
const bare = new HostProgram({ argv: ['/bin/sh', '-c', 'echo $$; sleep 4713'], env: {}, cwd: '/', outputBytes: 1000, lines: true })
const marked = place.start(['/bin/sh', '-c', 'setsid sh -c "echo \\$\\$; exec sleep 4713" & echo $$; wait'], { env: {} })
console.log(JSON.stringify({ pids: [await bare.line(), await marked.line(), await marked.line()].map(Number), file: place.taskFile }))
await place.write(place.taskFile, '{}')
console.log('ready')
setInterval(() => {}, 1000)
`

const runs = (pid: number) => isAlive(pid) && !/\) Z /.test(readOrEmpty(`/proc/${pid}/stat`))

test.skipIf(process.platform !== 'linux')(
  'programs and their folders end with a main process that is killed',
  async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', main], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (line === 'ready') break
    }
    const { pids, file } = JSON.parse(lines[0]!) as { pids: number[]; file: string }
    try {
      expect(pids.map(runs)).toEqual([true, true, true])
      expect(existsSync(file)).toBe(true)
      child.kill('SIGKILL')
      await expect.poll(() => pids.filter(runs), { timeout: 10_000 }).toEqual([])
      await expect.poll(() => existsSync(file), { timeout: 10_000 }).toBe(false)
    } finally {
      child.kill('SIGKILL')
      for (const pid of pids.filter(runs)) process.kill(pid, 'SIGKILL')
    }
  },
)
