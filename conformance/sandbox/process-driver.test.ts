import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { processDriver } from 'quintain/sandbox'
import { expect, it } from 'vitest'

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it.skipIf(process.platform !== 'linux')(
  'sweeps what a process that was killed has left running',
  async () => {
    const script = `
    import { processDriver } from 'quintain/sandbox'
    const box = await processDriver().start()
    const { stdout } = await box.exec('(exec setsid sleep 300) >/dev/null 2>&1 & echo $!')
    process.stdout.write(JSON.stringify({ pid: Number(stdout), folder: box.workdir }))
    setInterval(() => {}, 1000)
  `
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [told] = (await once(child.stdout, 'data')) as [Buffer]
    const { pid, folder } = JSON.parse(told.toString()) as { pid: number; folder: string }
    expect([isRunning(pid), existsSync(folder)]).toEqual([true, true])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await processDriver().sweep?.()).toBeGreaterThanOrEqual(1)
    for (let tries = 0; isRunning(pid) && tries < 200; tries++)
      await new Promise((done) => setTimeout(done, 25))
    expect([isRunning(pid), existsSync(folder)]).toEqual([false, false])
  },
)
