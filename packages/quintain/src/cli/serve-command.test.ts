import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { ask, endServed, folderWith, type ReadyLine, shop } from './__fixtures__/served.ts'
import { optionsByEnvironment } from './open-cores.ts'
import { runCli } from './run-cli.ts'

afterEach(endServed)

/** An environment whose reward sees all rollouts of a task, which no door carries. */
const grouped = `
import { environment } from 'quintain'
export default environment({
  tasks: [{ id: 'a', prompt: 'Say a number.' }],
  rewards: { said: ({ transcript }) => Number(transcript.answer !== '') },
  groupRewards: { longest: { reward: ({ members }) => Object.fromEntries(members.map(({ rollout }) => [rollout, 0])) } },
})
`

async function serve(cwd: string, argv: readonly string[], env: Record<string, string> = {}) {
  const control = new AbortController()
  let out = ''
  let err = ''
  const code = runCli(['serve', ...argv, '--isolation', 'inline'], {
    stdout: {
      write: (text: string) => {
        out += text
      },
    },
    stderr: { write: (text: string) => (err += text) },
    env,
    cwd,
    signal: control.signal,
  })
  return { code, stop: () => control.abort(), out: () => out, err: () => err }
}

/** What is refused before anything is served. */
async function refusal(cwd: string, argv: readonly string[], env: Record<string, string> = {}) {
  const { code, out, err } = await serve(cwd, argv, env)
  const ended = await code
  expect(out()).toBe('')
  return { code: ended, err: err() }
}

describe('what cannot be served is refused, and leaves no run behind', () => {
  test('no environment, no door, an unknown door, an unknown environment', async () => {
    const cwd = await folderWith({ shop })
    expect(await refusal(cwd, ['--door', 'ors'])).toMatchObject({ code: 2, err: /Say which environment/ })
    const none = await refusal(cwd, ['./shop'])
    expect(none).toMatchObject({ code: 2 })
    for (const name of ['ors', 'openenv', 'nemo-gym', 'hud', 'native'])
      expect(none.err).toContain(`--door ${name}`)
    const near = await refusal(cwd, ['./shop', '--door', 'nemo_gym'])
    expect(near).toMatchObject({ code: 2 })
    expect(near.err).toContain('did you mean "nemo-gym"?')
    const absent = await refusal(cwd, ['./shops', '--door', 'ors'])
    expect(absent).toMatchObject({ code: 4 })
    expect(absent.err).toContain('environment_not_found')
    // One that is there does not stay open beside one that is not.
    expect(await refusal(cwd, ['./shop', './shops', '--door', 'ors'])).toMatchObject({ code: 4 })
    expect(existsSync(join(cwd, 'runs')) ? await readdir(join(cwd, 'runs')) : []).toEqual([])
  })

  test('a door that does not carry what it needs, unless --lossy says so', async () => {
    const cwd = await folderWith({ grouped })
    const argv = ['./grouped', '--door', 'native', '--port', '0', '--out', 'run']
    const refused = await refusal(cwd, argv)
    expect(refused.code).toBe(2)
    expect(refused.err).toContain('needs_unmet')
    expect(refused.err).toContain('--lossy')
    expect(existsSync(join(cwd, 'run'))).toBe(false)
    const served = await serve(cwd, [...argv, '--lossy'])
    await expect.poll(served.out, { timeout: 120_000 }).toContain('/metrics')
    expect(served.out()).toContain('Lost: Group rewards are left out of the reward.')
    served.stop()
    expect(await served.code).toBe(0)
  })

  test('an address beyond loopback without a token, and a token that can be guessed', async () => {
    const cwd = await folderWith({ shop })
    const argv = ['./shop', '--door', 'openenv', '--host', '0.0.0.0']
    const open = await refusal(cwd, argv)
    expect(open).toMatchObject({ code: 2 })
    expect(open.err).toContain('--token-env NAME')
    const weak = await refusal(cwd, [...argv, '--token-env', 'T'], { T: 'hunter2hunter2' })
    expect(weak).toMatchObject({ code: 2 })
    expect(weak.err).not.toContain('hunter2')
    await writeFile(join(cwd, 'token'), 'hunter2')
    expect(await refusal(cwd, [...argv, '--token-file', 'token'])).toMatchObject({ code: 2 })
  })

  test('a port that is taken', async () => {
    const cwd = await folderWith({ shop })
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const refused = await refusal(cwd, ['./shop', '--door', 'ors', '--port', String(port), '--out', 'run'])
    const metrics = await refusal(cwd, [
      './shop',
      '--door',
      'ors',
      '--port',
      '0',
      '--metrics-port',
      String(port),
    ])
    taken.close()
    for (const { code, err } of [refused, metrics]) {
      expect(code).toBe(2)
      expect(err).toContain(String(port))
    }
    expect(existsSync(join(cwd, 'run'))).toBe(false)
  })

  test('a folder that holds a run stays as it is', async () => {
    const cwd = await folderWith({ shop })
    const argv = ['./shop', '--door', 'ors', '--port', '0', '--out', 'run']
    const first = await serve(cwd, argv)
    await expect.poll(first.out, { timeout: 120_000 }).toContain('/metrics')
    first.stop()
    await first.code
    const files = await readdir(join(cwd, 'run'))
    expect(await refusal(cwd, argv)).toMatchObject({ code: 2, err: /run_exists/ })
    expect(await readdir(join(cwd, 'run'))).toEqual(files)
  })

  test.each([
    ['--port', '65536'],
    ['--port', '-1'],
    ['--grace', 'soon'],
    ['--idle', '0'],
    ['--limit', 'turns=none'],
    ['--option', 'nobody:word=x'],
  ])('%s %s', async (flag, value) => {
    const cwd = await folderWith({})
    expect(await refusal(cwd, ['./shop', '--door', 'ors', `${flag}=${value}`])).toMatchObject({ code: 2 })
  })
})

describe('what is served', () => {
  test('is shown to people on standard output, with the port that HUD looks for', async () => {
    const cwd = await folderWith({ shop })
    const { code, stop, out, err } = await serve(cwd, [
      './shop',
      '--door',
      'hud',
      '--port',
      '0',
      '--door',
      'hud',
    ])
    await expect.poll(out, { timeout: 120_000 }).toMatch(/HUD_SERVE_PORT=\d+\n$/)
    expect(out()).toMatch(
      /^shop 1\.0\.0 {2}\([0-9a-f]{12}\)\n {2}tasks {2}train 3, test 3\n {2}run {4}runs\//,
    )
    expect(out()).toContain(`tcp://127.0.0.1:${/HUD_SERVE_PORT=(\d+)/.exec(out())![1]}`)
    stop()
    expect(await code).toBe(0)
    expect(err()).toContain('Draining')
    expect(err()).toMatch(/shop: 0 sessions, 0 scored\. Look at them: npx quintain report runs\//)
  })

  test('listens on the loopback of IPv6, in either spelling, without a token', async () => {
    const cwd = await folderWith({ shop })
    const { code, stop, out } = await serve(cwd, [
      './shop',
      '--door',
      'native',
      '--port',
      '0',
      '--host',
      '[::1]',
    ])
    await expect.poll(out, { timeout: 120_000 }).toContain('/metrics')
    const [url = ''] = /http:\/\/\[::1\]:\d+/.exec(out()) ?? []
    expect((await ask(url, '/health', { method: 'GET' })).status).toBe(200)
    stop()
    expect(await code).toBe(0)
  })

  test('takes limits, options, splits, a bound of sessions and an expiry', async () => {
    const cwd = await folderWith({ shop })
    const flags = [
      '--split',
      'test',
      '--option',
      'word=now',
      '--max-sessions',
      '1',
      '--idle',
      '100ms',
      '--json',
    ]
    const { code, stop, out } = await serve(cwd, ['./shop', '--door', 'native', '--port', '0', ...flags])
    await expect.poll(out, { timeout: 120_000 }).toContain('"ready"')
    const { doors, environments } = JSON.parse(out()) as ReadyLine
    expect(environments[0]!.splits).toEqual([{ name: 'test', type: 'test', tasks: 3 }])
    const { url } = doors[0]!.addresses[0]!
    const create = (index: number) => ask(url, '/v1/sessions', { body: { task: { split: 'test', index } } })
    const first = await create(0)
    expect(first.text).toContain('The word is now.')
    const path = `/v1/sessions/${String(first.json['session'])}/grade`
    const second = await create(1)
    // It may have expired meanwhile on a slow machine; until then there is no room.
    if (second.status !== 200) expect(second.text).toContain('at_capacity')
    await expect
      .poll(async () => (await ask(url, path, { body: {} })).status, { timeout: 10_000, interval: 500 })
      .toBe(410)
    stop()
    await code
  })

  test('--doors shows the planes of every door, and serves nothing', async () => {
    const cwd = await folderWith({})
    const shown = await serve(cwd, ['--doors'])
    expect(await shown.code).toBe(0)
    const json = await serve(cwd, ['--doors', '--json'])
    await json.code
    const rows = JSON.parse(json.out()) as { door: string; merges: boolean; authentication: string }[]
    expect(rows.map(({ door }) => door)).toEqual(['ors', 'openenv', 'nemo-gym', 'hud', 'native'])
    for (const { door, authentication } of rows)
      expect(shown.out()).toMatch(new RegExp(`^${door} .*${authentication.slice(0, 10)}`, 'm'))
    expect(rows.find(({ door }) => door === 'hud')!.merges).toBe(false)
    expect(
      Math.max(
        ...shown
          .out()
          .split('\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThanOrEqual(100)
  })
})

test('options are for all environments, or for the one that is named', () => {
  const envs = ['./environments/wordle', '@quintain/gsm8k']
  expect(optionsByEnvironment(envs, ['a=1', 'wordle:b=x:y', 'gsm8k:c=[2]'])).toEqual([
    { a: 1, b: 'x:y' },
    { a: 1, c: [2] },
  ])
  expect(optionsByEnvironment(['w'], ['url=http://x:1/'])).toEqual([{ url: 'http://x:1/' }])
})
