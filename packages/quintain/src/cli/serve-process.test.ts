import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type Folded, foldRun } from '../core/index.ts'
import { ask, canary, endServed, folderWith, ServeProcess, shop } from './__fixtures__/served.ts'
import { runCli } from './run-cli.ts'

afterEach(endServed)

/*
 * `quintain serve` as people start it: a process, asked by plain fetch, ended by signals.
 */

const word = 'please'

async function begun(url: string, at = 0) {
  const { json } = await ask(url, '/v1/sessions', { body: { task: { split: 'train', index: at } } })
  const path = `/v1/sessions/${String(json['session'])}`
  return {
    pay: (much: number) => ask(url, `${path}/call`, { body: { name: 'pay', arguments: { much } } }),
    grade: (answer?: string) => ask(url, `${path}/grade`, { body: { answer } }),
  }
}

/** Every byte that a run has put down, by file. */
async function filesOf(dir: string): Promise<Map<string, string>> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)))
}

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
}

/** What a command prints, whichever way. */
async function printed(cwd: string, words: string[]) {
  let out = ''
  const write = (text: string) => (out += text)
  return { code: await runCli(words, { stdout: { write }, stderr: { write }, env: {}, cwd }), out }
}

const report = (cwd: string, dir: string) => printed(cwd, ['report', dir])

async function statusesOf(dir: string): Promise<string[]> {
  const { states } = await foldRun<Folded>(dir, ({ verdict, fault, outcome }) => ({
    verdict,
    fault,
    outcome,
  }))
  return states.map(({ status }) => status).sort()
}

// Each starts a process and its worker, which takes long where many start at once.
describe('quintain serve', { timeout: 240_000 }, () => {
  test('drains on SIGTERM to its whole group: an open session ends, no other begins, the run is whole', async () => {
    const cwd = await folderWith({ shop })
    const server = new ServeProcess(cwd, ['./shop', '--door', 'native', '--port', '0', '--out', 'run'])
    const { doors, environments, operations } = await server.ready()
    const { url } = doors[0]!.addresses[0]!
    expect(environments[0]).toMatchObject({ name: 'shop', splits: [{ tasks: 3 }, { tasks: 3 }] })
    expect(environments[0]!.run).toBe(join(cwd, 'run'))
    const [first, second] = [await begun(url, 0), await begun(url, 1)]
    await first.pay(3)
    expect((await first.grade(word)).json).toMatchObject({ kind: 'scored', reward: 1 })
    expect((await (await fetch(`${operations.url}/metrics`)).text()).split('\n')).toEqual(
      expect.arrayContaining([
        'quintain_sessions_open{environment="shop"} 1',
        'quintain_episodes_scored_total{environment="shop"} 1',
        // The call and the answer.
        'quintain_step_seconds_count{environment="shop"} 2',
      ]),
    )

    process.kill(-server.child.pid!, 'SIGTERM')
    expect(await server.event('draining')).toEqual({ event: 'draining', open: 1 })
    expect((await fetch(`${operations.url}/readyz`)).status).toBe(503)
    const refused = await ask(url, '/v1/sessions', { body: { task: { split: 'train', index: 2 } } })
    expect(refused.status).toBe(503)
    await second.pay(1)
    expect((await second.grade(word)).json).toMatchObject({ kind: 'scored', reward: 0 })
    expect(await server.end).toBe(0)
    expect(await server.event('drained')).toEqual({ event: 'drained', cut: 0 })

    const { code, out } = await report(cwd, 'run')
    expect(out).toMatch(/shop/)
    expect(code).toBe(0)
    expect(await statusesOf(join(cwd, 'run'))).toEqual(['scored', 'scored'])
    for (const [file, text] of await filesOf(join(cwd, 'run')))
      if (!file.includes('private')) expect(text, file).not.toContain(canary)
    expect(server.stdout + server.stderr).not.toContain(canary)
  })

  test('cuts off what is open when its grace is over, or at a second signal; that is a fault and no score', async () => {
    const cwd = await folderWith({ shop })
    const flags = ['./shop', '--door', 'native', '--port', '0']
    const patient = new ServeProcess(cwd, [...flags, '--out', 'patient', '--grace', '1h'])
    const hasty = new ServeProcess(cwd, [...flags, '--out', 'hasty', '--grace', '300ms'])
    for (const server of [patient, hasty]) {
      const session = await begun((await server.ready()).doors[0]!.addresses[0]!.url)
      await session.pay(3)
      // As `npx` does: what the terminal sent, once more, and nothing is ended at once for it.
      server.child.kill('SIGINT')
      await setTimeout(5)
      server.child.kill('SIGINT')
      await server.event('draining')
    }
    await setTimeout(300)
    expect(patient.stderr).not.toContain('Stopping at once')
    expect(await hasty.end).toBe(3)
    patient.child.kill('SIGTERM')
    expect(await patient.end).toBe(3)
    for (const [server, dir] of [
      [patient, 'patient'],
      [hasty, 'hasty'],
    ] as const) {
      expect(await server.event('drained')).toEqual({ event: 'drained', cut: 1 })
      expect(await statusesOf(join(cwd, dir))).toEqual(['faulted'])
      expect((await report(cwd, dir)).out).toContain('server_closed')
    }
  })

  test('killed with sessions open leaves a run that says what was scored and what was not', async () => {
    const cwd = await folderWith({ shop })
    const server = new ServeProcess(cwd, ['./shop', '--door', 'native', '--port', '0', '--out', 'run'])
    const { url } = (await server.ready()).doors[0]!.addresses[0]!
    const first = await begun(url, 0)
    await first.pay(3)
    await first.grade(word)
    const second = await begun(url, 1)
    await second.pay(2)
    server.child.kill('SIGKILL')
    expect(await server.end).toBeNull()
    const dir = join(cwd, 'run')
    expect(await statusesOf(dir)).toEqual(['pending', 'scored'])
    const { out } = await report(cwd, 'run')
    expect(out).toContain('2: 1 scored, 1 pending (coverage 50 %)')
    // Whoever played it is gone: nobody is told to resume it.
    expect(out).toContain('Not finished: sessions were open when the server ended.')
    expect((await printed(cwd, ['resume', 'run'])).out).toContain('This run was served')
  })

  test('gives each environment of ORS a port of its own, and keeps its token to itself', async () => {
    const cwd = await folderWith({ shop, market: shop })
    const token = 'token-canary-of-many-characters'
    const flags = [
      './shop',
      './market',
      '--door',
      'ors',
      '--door',
      'native',
      '--port',
      '0',
      '--out',
      'runs/x',
    ]
    const server = new ServeProcess(
      cwd,
      [...flags, '--token-env', 'SHOP_TOKEN', '--option', 'market:word=now'],
      { SHOP_TOKEN: token },
    )
    const { doors, environments } = await server.ready()
    const [ors, native] = doors
    expect(ors!.addresses.map((address) => address.environments)).toEqual([['shop'], ['market']])
    expect(new Set(ors!.addresses.map(({ url }) => url)).size).toBe(2)
    expect(environments.map(({ run }) => run)).toEqual([join(cwd, 'runs/x/shop'), join(cwd, 'runs/x/market')])
    const headers = { authorization: `Bearer ${token}` }
    for (const { url, environments: there } of ors!.addresses) {
      expect((await ask(url, '/list_environments', { method: 'GET' })).status).toBe(401)
      const listed = await ask(url, '/list_environments', { method: 'GET', headers })
      expect(JSON.parse(listed.text)).toEqual(there)
    }
    const opened = await ask(native!.addresses[0]!.url, '/v1/sessions', {
      headers,
      body: { environment: 'market', task: { id: 'test-1' } },
    })
    expect(opened.text).toContain('The word is now.')
    const seen = [await readFile(`/proc/${server.child.pid}/cmdline`, 'utf8').catch(() => '')]
    server.child.kill('SIGTERM')
    await expect.poll(() => server.stderr, { timeout: 30_000 }).toContain('Draining')
    await setTimeout(300)
    server.child.kill('SIGTERM')
    await server.end
    seen.push(server.stdout, server.stderr)
    for (const [, text] of await filesOf(join(cwd, 'runs'))) seen.push(text)
    expect(seen.join('\n')).not.toContain(token)
  })

  test('ended while environments still load ends quietly, with nothing left', async () => {
    const slow = `await new Promise((resolve) => setTimeout(resolve, 60_000))\n${shop}`
    const cwd = await folderWith({ shop, slow })
    const server = new ServeProcess(cwd, ['./slow', './shop', '--door', 'native', '--port', '0'])
    await expect.poll(() => childrenOf(server.child.pid!).length, { timeout: 120_000 }).toBeGreaterThan(0)
    process.kill(-server.child.pid!, 'SIGINT')
    expect(await server.end).toBe(0)
    expect(server.stdout).toBe('')
    expect(server.stderr).not.toMatch(/^error/m)
    expect(existsSync(join(cwd, 'runs')) ? await readdir(join(cwd, 'runs')) : []).toEqual([])
  })

  test('started by a program that dies, ends when its standard input does', async () => {
    const cwd = await folderWith({ shop })
    const flags = ['./shop', '--door', 'native', '--port', '0', '--until-stdin-closes']
    const server = new ServeProcess(cwd, flags)
    await server.ready()
    server.child.stdin!.end()
    expect(await server.end).toBe(0)
  })
})
