import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readManifest, readPanel } from '../core/index.ts'
import { type FakeModel, startFakeModel } from '../models/fake-server.ts'
import { runCli } from './run-cli.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))
const harness = fileURLToPath(new URL('../harness/index.ts', import.meta.url))

/** Sums; `script:oracle` says the right number. */
const source = `
import { environment } from 'quintain'
export default environment({
  tasks: Array.from({ length: 4 }, (_, i) => ({ id: 'sum-' + i, prompt: i + ' + 1 = ?', secret: { answer: String(i + 1) } })),
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
  success: ({ rewards }) => rewards.exact === 1,
  *oracle({ task }) { yield task.secret.answer },
})
`
/** Programs as their users write them: one asks the model it is given, one does sums by heart. */
const files = {
  'asks.mjs': `
    export default async ({ model, input }) => {
      const { baseURL, apiKey, fetch } = model
      const response = await fetch(baseURL + '/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: input }] }),
      })
      return (await response.json()).choices[0].message.content
    }
    export const byHeart = ({ input }) => String(eval(input.replace(/ = .*/, '')))
    export const nothing = 7`,
  'made.mjs': `
    import { agent } from ${JSON.stringify(harness)}
    export default agent(async () => '1', { name: 'always-one' })`,
  'program.mjs': `
    const input = await new Promise((resolve) => { let text = ''; process.stdin.on('data', (more) => (text += more)).on('end', () => resolve(text)) })
    const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: process.env.OPENAI_MODEL, messages: [{ role: 'user', content: input }] }),
    })
    process.stdout.write((await response.json()).choices[0].message.content)`,
  'throws.mjs': 'throw new Error("not today")',
}

let root: string
let cwd: string
let fake: FakeModel
let number = 0

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-agents-')))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
  await mkdir(join(root, 'sums'))
  const manifest = {
    name: 'sums',
    version: '1.0.0',
    type: 'module',
    exports: './index.ts',
    quintain: { contract: 1 },
  }
  await writeFile(join(root, 'sums', 'package.json'), JSON.stringify(manifest))
  await writeFile(join(root, 'sums', 'index.ts'), source)
  fake = await startFakeModel({
    script: ({ body }) => ({
      kind: 'ok',
      message: { content: (body as { model: string }).model === 'm-one' ? '1' : '2' },
    }),
  })
})
afterAll(async () => {
  await fake.close()
  await rm(root, { recursive: true, force: true })
})
beforeEach(async () => {
  cwd = join(root, `work-${number++}`)
  await mkdir(cwd)
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
})

async function quintain(...argv: string[]) {
  const said = { out: '', err: '' }
  const sink = (name: keyof typeof said) => ({
    write(text: string) {
      said[name] += text
    },
  })
  const env = { OPENAI_BASE_URL: fake.url, OPENAI_API_KEY: 'key' }
  const code = await runCli(argv, { stdout: sink('out'), stderr: sink('err'), env, cwd })
  return { code, ...said }
}
const evaluate = (...argv: string[]) =>
  quintain('eval', '../sums', '--workers', '1', '--quiet', '--out', 'run', ...argv)
const agentSeat = async (dir = 'run') => (await readManifest(join(cwd, dir))).seats['agent']

describe('an agent of the user on the command line', () => {
  test('is a function of a file, with a policy behind it', async () => {
    const { code, out, err } = await evaluate(
      '--agent',
      './asks.mjs',
      '--policy',
      'script:oracle',
      '--threshold',
      '1',
    )
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('4 scored')
    expect(await readManifest(join(cwd, 'run'))).toMatchObject({
      isolation: 'worker',
      seats: { agent: { policy: 'script:oracle', harness: 'asks@function' } },
    })
  })

  test('is an export of it, with a model of its own', async () => {
    const { code } = await evaluate('--agent', 'asks.mjs#byHeart', '--threshold', '1')
    expect(code).toBe(0)
    expect(await agentSeat()).toMatchObject({ policy: 'agent:byHeart', harness: 'byHeart@function' })
  })

  test('is a harness of it', async () => {
    const { code } = await evaluate('--agent', 'made.mjs', '-m', 'm-one', '--threshold', '1')
    expect(code).toBe(1)
    expect(await agentSeat()).toMatchObject({
      policy: 'openai-compatible:m-one',
      harness: 'agent:always-one',
    })
  })

  test('is a program in the folder where it is started from', async () => {
    const { code, err } = await evaluate(
      '--agent-command',
      'node program.mjs',
      '--policy',
      'script:oracle',
      '--threshold',
      '1',
    )
    expect([code, err]).toEqual([0, ''])
    expect(await agentSeat()).toMatchObject({ policy: 'script:oracle', harness: 'command:program@1' })
  })

  test('that is a program is told of where no model stands behind it', async () => {
    const program = ['eval', '../sums', '--agent-command', 'node program.mjs', '-n', '1']
    const { err } = await quintain(...program, '--out', 'alone')
    expect(err).toMatch(/no model stands behind this agent .*OPENAI_BASE_URL is not set/)
    expect((await quintain(...program, '--policy', 'script:oracle', '--out', 'not')).err).not.toMatch(
      /no model stands/,
    )
  })

  test('plays with several models, and beside other agents', async () => {
    const { code, err } = await evaluate(
      '--agent',
      'asks.mjs',
      '--agent',
      'made.mjs',
      '-m',
      'm-one',
      '-m',
      'm-two',
    )
    expect([code, err]).toEqual([0, ''])
    const runs = (await readPanel(join(cwd, 'run')))?.runs ?? []
    const seats = await Promise.all(runs.map((name) => agentSeat(join('run', name))))
    expect(seats.map((seat) => [seat?.harness, seat?.policy])).toEqual([
      ['asks@function', 'openai-compatible:m-one'],
      ['asks@function', 'openai-compatible:m-two'],
      ['agent:always-one', 'openai-compatible:m-one'],
      ['agent:always-one', 'openai-compatible:m-two'],
    ])
  })

  test('has a name of its own beside others', async () => {
    const two = `
      import { agent } from ${JSON.stringify(harness)}
      export const first = agent(async () => '1')
      export const second = agent(async () => '2')`
    await writeFile(join(cwd, 'two.mjs'), two)
    const { code } = await evaluate('--agent', 'two.mjs#first', '--agent', 'two.mjs#second')
    expect(code).toBe(0)
    const seats = [await agentSeat('run/first'), await agentSeat('run/second')]
    expect(seats.map((seat) => seat?.harness)).toEqual(['agent:first', 'agent:second'])
    const programs = ['--agent-command', 'node program.mjs', '--agent-command', 'node program.mjs --other']
    await evaluate(...programs, '--policy', 'script:oracle', '--out', 'programs')
    expect((await readPanel(join(cwd, 'programs')))?.runs).toEqual(['program-oracle', 'program-2-oracle'])
  })

  test('goes on as what it was, and another only where that is wished', async () => {
    await evaluate('--agent', 'asks.mjs#byHeart', '-n', '2')
    expect((await agentSeat())?.agentDigest).toMatch(/^sha256:/)
    await writeFile(join(cwd, 'asks.mjs'), files['asks.mjs'].replace('String(eval', 'String(1 + eval'))
    const resume = ['resume', 'run', '--agent', 'asks.mjs#byHeart', '-n', '4', '--quiet']
    const other = await quintain(...resume)
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('is not what it was')])
    expect((await quintain(...resume, '--force')).code).toBe(0)
  })

  test('that is a program is another with other arguments', async () => {
    await evaluate('--agent-command', 'node program.mjs', '--policy', 'script:oracle', '-n', '2')
    const resume = (command: string) =>
      quintain('resume', 'run', '--agent-command', command, '-n', '4', '--quiet')
    expect((await resume('node program.mjs --other')).err).toContain('is not what it was')
    expect((await resume('node program.mjs')).code).toBe(0)
  })

  test('asks no model of unknown price under a limit on cost', async () => {
    const before = fake.requests.length
    const { code, err } = await evaluate('--agent', 'asks.mjs', '-m', 'm-one', '--limit', 'cost=0.1')
    expect([code, fake.requests.length]).toEqual([3, before])
    expect(err).toContain('error spend_cap: The price of')
    expect(err).toContain('--price in=')
    const priced = ['--limit', 'cost=0.1', '--price', 'in=1,out=1']
    expect((await evaluate('--agent', 'asks.mjs', '-m', 'm-one', ...priced)).code).toBe(0)
  })

  test('is named by a dry run', async () => {
    const { out } = await quintain('eval', '../sums', '--agent', 'asks.mjs', '-m', 'm-one', '--dry-run')
    expect(out).toContain('openai-compatible:m-one in asks@function')
    expect(await readdir(cwd)).not.toContain('runs')
  })

  test('is given again to go on', async () => {
    await evaluate('--agent', 'asks.mjs', '--policy', 'script:oracle', '-n', '2')
    const more = ['resume', 'run', '-n', '4', '--workers', '1', '--quiet']
    const without = await quintain(...more)
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('--agent FILE')])
    const other = await quintain(...more, '--agent', 'made.mjs')
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('run_mismatch')])
    const again = await quintain(...more, '--agent', 'asks.mjs', '--threshold', '1')
    expect([again.code, again.err]).toEqual([0, ''])
    expect(again.out).toContain('4 scored')
  })

  test('is a service only by a URL', async () => {
    for (const url of ['nonsense', 'ftp://127.0.0.1/']) {
      const { code, err } = await evaluate('--agent-url', url)
      expect([code, err]).toEqual([2, expect.stringContaining('It must be a URL')])
    }
  })

  test.each([
    ['missing.mjs', /cannot be loaded/],
    ['throws.mjs', /not today/],
    ['asks.mjs#nothing', /export "nothing" of asks.mjs is no agent/],
    ['asks.mjs#absent', /is no agent/],
  ])('%s is a slip', async (file, message) => {
    const { code, err } = await evaluate('--agent', file)
    expect([code, err]).toEqual([2, expect.stringMatching(message)])
  })
})
