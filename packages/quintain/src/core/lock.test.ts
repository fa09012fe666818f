import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from './__fixtures__/run.ts'
import { lockFolder } from './lock.ts'

const program = join(import.meta.dirname, '__fixtures__', 'lock-holder.ts')

/** A process that tries for the lock when it is told to, says what came of it, and keeps it until it is killed. */
class Contender {
  readonly child: ChildProcess
  private readonly words: string[] = []
  private hear: (() => void) | undefined

  constructor(dir: string) {
    this.child = fork(program, [dir], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.child.on('message', (word) => {
      this.words.push(String(word))
      this.hear?.()
    })
  }

  async word(): Promise<string> {
    while (this.words.length === 0) await new Promise<void>((resolve) => (this.hear = resolve))
    return this.words.shift()!
  }

  async attempt(): Promise<string> {
    this.child.send('go')
    return this.word()
  }

  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve))
    if (!this.child.kill('SIGKILL')) return
    await gone
  }
}

async function contenders(dir: string, count: number): Promise<Contender[]> {
  const all = Array.from({ length: count }, () => new Contender(dir))
  for (const one of all) expect(await one.word()).toBe('ready')
  return all
}

const claims = (dir: string) => readdirSync(dir).filter((name) => name.startsWith('lock'))

describe('one process', () => {
  test('holds the lock once, and leaves nothing behind', async () => {
    const dir = temporaryFolder()
    const lock = await lockFolder(dir)
    await expect(lockFolder(dir)).rejects.toMatchObject({
      code: 'run_locked',
      facts: { dir, pid: process.pid, host: hostname() },
    })
    await lock.release()
    await lock.release()
    expect(readdirSync(dir)).toEqual([])
    await (await lockFolder(dir)).release()
  })

  test('many at once from one process: exactly one wins', async () => {
    const dir = temporaryFolder()
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(dir)))
    const won = results.filter(({ status }) => status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'run_locked' })
    }
    expect(claims(dir)).toHaveLength(1)
  })

  test('where nothing can be written, the error is ours', async () => {
    await expect(lockFolder(join(temporaryFolder(), 'nowhere'))).rejects.toMatchObject({ code: 'journal_io' })
  })
})

describe('several processes', () => {
  test('eight that start at once: exactly one wins, every time', async () => {
    const dir = temporaryFolder()
    const all = await contenders(dir, 8)
    for (let round = 0; round < 10; round++) {
      const words = await Promise.all(all.map((one) => one.attempt()))
      expect(words.filter((word) => word === 'held')).toHaveLength(1)
      expect(words.filter((word) => word === 'run_locked')).toHaveLength(7)
      const winner = all[words.indexOf('held')]!
      winner.child.send('release')
      expect(await winner.word()).toBe('released')
      expect(claims(dir)).toEqual([])
    }
    await Promise.all(all.map((one) => one.kill()))
  })

  test('the lock of a killed process is taken over, by exactly one of several', async () => {
    const dir = temporaryFolder()
    let others = await contenders(dir, 7)
    let holder = others.pop()!
    expect(await holder.attempt()).toBe('held')
    // The one that takes over is killed in its turn.
    for (let round = 0; round < 3; round++) {
      expect(await others[0]!.attempt()).toBe('run_locked')
      await holder.kill()
      expect(claims(dir)).toHaveLength(1)
      const words = await Promise.all(others.map((one) => one.attempt()))
      expect(words.filter((word) => word === 'held')).toHaveLength(1)
      expect(words.filter((word) => word === 'run_locked')).toHaveLength(others.length - 1)
      holder = others[words.indexOf('held')]!
      others = others.filter((one) => one !== holder)
    }
    await Promise.all([holder, ...others].map((one) => one.kill()))
    await (await lockFolder(dir)).release()
    expect(claims(dir)).toEqual([])
  })

  test('a holder that is stopped for a while keeps its lock', async () => {
    const dir = temporaryFolder()
    const [holder] = await contenders(dir, 1)
    expect(await holder!.attempt()).toBe('held')
    holder!.child.kill('SIGSTOP')
    await expect(lockFolder(dir)).rejects.toMatchObject({ code: 'run_locked' })
    await holder!.kill()
  })
})

describe('what is left behind', () => {
  const put = (dir: string, owner: object | string, held = true) => {
    const path = join(dir, `lock-1-${'0'.repeat(16)}`)
    writeFileSync(
      path,
      typeof owner === 'string' ? owner : `${JSON.stringify(owner)}\n${held ? 'held\n' : ''}`,
    )
    return path
  }
  /** This process as an owner, but for what is changed. */
  async function asOwner(change: object): Promise<object> {
    const dir = temporaryFolder()
    const lock = await lockFolder(dir)
    const text = readFileSync(join(dir, claims(dir)[0]!), 'utf8')
    await lock.release()
    return { ...(JSON.parse(text.split('\n')[0]!) as object), ...change }
  }

  test('a pid that another process has now does not hold the lock', async () => {
    const dir = temporaryFolder()
    put(dir, await asOwner({ started: 'another boot/12345' }))
    await (await lockFolder(dir)).release()
    expect(claims(dir)).toEqual([])
  })

  test('a process of another machine, or of another container, cannot be known to be dead', async () => {
    for (const change of [{ host: 'elsewhere' }, { space: 'pid:[1]' }]) {
      const dir = temporaryFolder()
      const path = put(dir, await asOwner({ pid: 2 ** 22, ...change }))
      await expect(lockFolder(dir)).rejects.toMatchObject({
        code: 'run_locked',
        message: expect.stringContaining(`delete ${path}`),
      })
      expect(existsSync(path)).toBe(true)
    }
  })

  test('one who had only begun to ask and died is no hindrance', async () => {
    const dir = temporaryFolder()
    put(dir, await asOwner({ started: 'another boot/1' }), false)
    await (await lockFolder(dir)).release()
    expect(claims(dir)).toEqual([])
  })

  test.each(['', '{"pid":', '\0\0\0\0', 'null', '{"pid":"x"}'])(
    'a claim that a power loss left as %j is cleared away, also when the clock was set back',
    async (text) => {
      for (const shift of [-3_600_000, 3_600_000]) {
        const dir = temporaryFolder()
        const path = put(dir, text)
        const then = new Date(Date.now() + shift)
        utimesSync(path, then, then)
        await (await lockFolder(dir)).release()
        expect(claims(dir)).toEqual([])
      }
    },
  )

  test('other files of the folder are left alone', async () => {
    const dir = temporaryFolder()
    for (const name of ['lock', 'lockfile', 'lock-x', 'package-lock.json']) writeFileSync(join(dir, name), '')
    mkdirSync(join(dir, 'private'))
    await (await lockFolder(dir)).release()
    expect(readdirSync(dir).sort()).toEqual(['lock', 'lock-x', 'lockfile', 'package-lock.json', 'private'])
  })
})
