import { FaultError, isThrown, type SandboxDriver } from 'quintain'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { candidates } from './__fixtures__/drivers.ts'
import { taskFolder } from './task-folder.ts'
import { Terminal } from './terminal.ts'

const opened: Terminal[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ box }) => box.stop()))
})

/** A terminal and its tool, as an agent calls it. */
async function terminal(driver: SandboxDriver, task = 'merge-contacts') {
  const options = { commandTimeout: 30, outputBytes: 1000 }
  const world = await Terminal.open(taskFolder(task), { start: (given) => driver.start(given) }, options)
  opened.push(world)
  const [tool] = world.tools()
  const run = async (command: string, timeout?: number) => {
    const given = { command, ...(timeout === undefined ? {} : { timeout }) } as never
    return tool!.run(given, { signal: new AbortController().signal, callId: 'c1' })
  }
  return { world, run }
}

const all = await candidates()
describe.each(all)('bash in $name', ({ name, driver, missing }) => {
  describe.skipIf(missing !== undefined)(missing ?? 'a box', () => {
    afterAll(() => driver.close?.())

    test('keeps the folder and the files, and not the variables', async () => {
      const { run, world } = await terminal(driver)
      expect(await run('mkdir -p a/b && cd a/b && x=1')).toBe('[no output]')
      expect(await run('echo hi > f; cat f; echo "x=$x"')).toBe('hi\nx=')
      expect(await run('pwd')).toMatch(/\/box\/a\/b$/)
      expect(await run('cd "../../a b" 2> /dev/null || cd ..; ls')).toBe('b')
      expect(world.state).toEqual({ commands: 4, failures: 0, timeouts: 0, truncations: 0 })
    })

    test('tells output from errors and says how a command ended', async () => {
      const { run, world } = await terminal(driver)
      expect(await run('echo out; echo err >&2; exit 3')).toBe('out\n[stderr]\nerr\n[exit code 3]')
      expect(await run('false')).toBe('[exit code 1]')
      expect(await run('if')).toMatch(/\[exit code \d+\]$/)
      expect(await run('echo after')).toBe('after')
      expect(world.state).toMatchObject({ commands: 4, failures: 3 })
    })

    test('cuts what is long in the middle', async () => {
      const { run, world } = await terminal(driver)
      const said = String(await run('echo first; for i in $(seq 2000); do echo line $i; done; echo last'))
      expect(said.length).toBeLessThan(1500)
      expect(said).toMatch(/^first\n[\s\S]*last$/)
      expect(world.state.truncations).toBe(1)
    })

    test('goes on where its folder is gone', async () => {
      const { run } = await terminal(driver)
      await run('mkdir gone && cd gone')
      await run('rm -r "$PWD"')
      const answers = [await run('ls crm.csv'), await run('ls crm.csv')]
      expect(answers).toContain('crm.csv')
    })

    test('ends what does not end, and that is a result', async () => {
      const { run, world } = await terminal(driver)
      expect(await run('echo begun; while :; do :; done', 1)).toContain('[ended after 1 s')
      expect(await run('echo here')).toBe('here')
      expect(world.state).toMatchObject({ commands: 2, timeouts: 1 })
    })

    test.skipIf(name === 'bash')('has a shell for each command, which the command may break', async () => {
      const { run } = await terminal(driver)
      expect(await run('trap "echo bye" EXIT; exec > /dev/null')).toBe('[no output]')
      expect(await run('kill -9 $$')).toBe('[ended by SIGKILL]')
      expect(await run('(sleep 60 &) ; echo done')).toBe('done')
      expect(await run('echo still here')).toBe('still here')
      expect(await run(`: ${'x'.repeat(3_000_000)}`)).toContain('too long')
    })
  })
})

test('a box without a program that a task needs is a fault that says what to do', async () => {
  const memory = all.find(({ name }) => name === 'bash')!
  const thrown = await terminal(memory.driver, 'recover-branch').catch((error: unknown) => error)
  expect(isThrown(thrown, FaultError) && thrown.fault).toMatchObject({ owner: 'sandbox', retryable: false })
  expect(String(thrown)).toContain('recover-branch needs git, which the boxes of the driver bash do not have')
})
