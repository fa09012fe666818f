import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeModel, startFakeModel } from '../models/fake-server.ts'
import { writeSampleRun } from '../report/sample-run.ts'
import type { CliIo } from './io.ts'
import { runCli } from './run-cli.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))
const bin = join(repository, 'packages/quintain/bin/quintain.js')

let root: string
let cwd: string
let fake: FakeModel
let slow: FakeModel
const sums = () => join(root, 'sums')

/** An environment with a task that its agent can be wrong about, and one whose world breaks when it is told to. */
const source = `
import { environment } from 'quintain'
import { z } from 'zod'
export default environment({
  options: z.object({ breaks: z.boolean().default(false) }),
  tasks: Array.from({ length: 12 }, (_, i) => ({ id: 'sum-' + i, prompt: 'Sum ' + i, secret: { answer: i === 0 ? 'ok' : 'gold-' + i } })),
  world: async (task, { options }) => ({
    finish() {
      if (options.breaks && task.id === 'sum-1') throw new Error('the world broke')
      return null
    },
  }),
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
  success: ({ rewards }) => rewards.exact === 1,
  *oracle({ task }) { yield task.secret.answer },
})
`

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-cli-')))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
  await mkdir(sums())
  await writeFile(
    join(sums(), 'package.json'),
    JSON.stringify({
      name: 'sums',
      version: '1.0.0',
      type: 'module',
      exports: './index.ts',
      quintain: { contract: 1 },
    }),
  )
  await writeFile(join(sums(), 'index.ts'), source)
  fake = await startFakeModel()
  slow = await startFakeModel({ latencyMs: 500 })
})
afterAll(async () => {
  await fake.close()
  await slow.close()
  await rm(root, { recursive: true, force: true })
})
let number = 0
beforeEach(async () => {
  cwd = join(root, `work-${number++}`)
  await mkdir(cwd)
})

async function quintain(argv: string[], extra: Partial<CliIo> = {}) {
  let out = ''
  let err = ''
  const code = await runCli(argv, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: {},
    cwd,
    ...extra,
  })
  return { code, out, err }
}

const inline = ['--isolation', 'inline']

describe('eval', () => {
  test('runs, reports on stdout, and tells on stderr where the run is', async () => {
    const { code, out, err } = await quintain([
      'eval',
      sums(),
      '--policy',
      'script:oracle',
      '-n',
      '5',
      '-r',
      '2',
      ...inline,
    ])
    expect(err).toMatch(/Run: runs\/\d{8}-\d{6}-sums-oracle/)
    expect(out).toMatch(/success +1\.000 \[/)
    expect(out).toContain('n = 10 of 10 orders, 5 tasks')
    expect(code).toBe(0)
  })

  test('in workers, from the command itself', async () => {
    const child = spawn(
      process.execPath,
      [bin, 'eval', sums(), '--policy', 'script:oracle', '-n', '3', '--workers', '1', '--json'],
      {
        cwd,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err += chunk))
    const [code] = await once(child, 'close')
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ schema: 'quintain.report', orders: 3, success: { value: 1 } })
  })

  test('a model: its answers, tokens and unknown price', async () => {
    const { code, out } = await quintain([
      'eval',
      sums(),
      '-m',
      'tiny',
      '--base-url',
      fake.url,
      '-n',
      '4',
      '--out',
      'here',
      ...inline,
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/success +0\.250/)
    expect(out).toContain('agent tokens')
    expect(out).toContain('unknown for 4 attempts')
    expect(existsSync(join(cwd, 'here', 'run.json'))).toBe(true)
  })

  test('-n 0 is zero tasks', async () => {
    const { code, out, err } = await quintain([
      'eval',
      sums(),
      '--policy',
      'script:oracle',
      '-n',
      '0',
      '--json',
      ...inline,
    ])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ orders: 0, coverage: null })
    expect(err).toContain('-n 0 orders nothing')
    expect(err).not.toContain('Look at one')
  })

  test('what a plan has less of than was asked for is said, and what is in a run already', async () => {
    const run = [
      'eval',
      sums(),
      '--policy',
      'script:oracle',
      '-n',
      '13',
      '-r',
      '3',
      '--out',
      'run',
      ...inline,
    ]
    expect((await quintain(run)).err).toContain('-n 13: there are only 12 tasks.')
    expect((await quintain([...run, '--dry-run'])).err).toContain('-n 13: there are only 12 tasks.')
    const fewer = await quintain(['resume', 'run', '-r', '2'])
    expect(fewer.err).toContain('-r 2: the run already has 3 of each task')
    expect(fewer.out).toContain('36: 36 scored')
    expect((await quintain(['resume', 'run', '-n', '20'])).err).toContain('-n 20: there are only 12 tasks.')
    expect((await quintain(['resume', 'run', '-r', '4'])).err).not.toContain('Note')
    expect((await quintain(['resume', 'run', '-r', '2', '--quiet'])).err).toBe('')
  })

  test('a group reward without a group is told before the run and by a dry run', async () => {
    const dir = join(root, 'ranked')
    await mkdir(dir, { recursive: true })
    await writeFile(
      join(dir, 'package.json'),
      '{"name":"ranked","version":"1.0.0","type":"module","exports":"./index.ts"}',
    )
    await writeFile(
      join(dir, 'index.ts'),
      source.replace(
        'success:',
        'groupRewards: { rank: { reward: ({ members }) => Object.fromEntries(members.map(({ id }) => [id, 1])) } },\n  success:',
      ),
    )
    const run = ['eval', dir, '--policy', 'script:oracle', '-n', '2', ...inline]
    const note = 'group reward "rank" needs -r 2 or more'
    expect((await quintain(run)).err).toContain(note)
    const dry = await quintain([...run, '--dry-run'])
    expect(dry.err).toContain(note)
    expect(dry.out).toContain('rank (weight 1, of the group)')
    expect((await quintain([...run, '-r', '2'])).err).not.toContain(note)
  })

  test('below the threshold is 1, at it 0', async () => {
    const run = ['eval', sums(), '-m', 'tiny', '--base-url', fake.url, '-n', '4', '--quiet', ...inline]
    expect(await quintain([...run, '--threshold', '0.26'])).toMatchObject({ code: 1 })
    expect((await quintain([...run, '--threshold', '0.25'])).code).toBe(0)
  })

  test('a fault makes it incomplete, whatever the threshold; a declared minimum accepts it', async () => {
    const run = [
      'eval',
      sums(),
      '--policy',
      'script:oracle',
      '--option',
      'breaks=true',
      '--max-tries',
      '1',
      ...inline,
    ]
    const broken = await quintain([...run, '--threshold', '0'])
    expect(broken.code).toBe(3)
    expect(broken.out).toContain('world 1')
    expect(broken.out).toMatch(/success +none/)
    const accepted = await quintain([...run, '--min-coverage', '90%'])
    expect(accepted.code).toBe(0)
    expect(accepted.out).toMatch(/success +1\.000/)
  })

  test('--dry-run shows what would run and leaves nothing behind', async () => {
    const { code, out } = await quintain([
      'eval',
      sums(),
      '--policy',
      'script:oracle',
      '-r',
      '3',
      '--dry-run',
      ...inline,
    ])
    expect(code).toBe(0)
    expect(out).toContain('12 tasks x 3 = 36')
    expect(out).toContain('nothing was ordered')
    expect(existsSync(join(cwd, 'runs'))).toBe(false)
  })

  test('--dry-run needs no key, and says that the run will', async () => {
    const dry = ['eval', sums(), '-m', 'gpt-4o-mini', '--dry-run', ...inline]
    const { code, out, err } = await quintain(dry, {})
    expect(code, err).toBe(0)
    expect(out).toContain('openai-compatible:gpt-4o-mini')
    expect(err).toContain('OPENAI_API_KEY is not set')
    expect((await quintain(dry, { env: { OPENAI_API_KEY: 'made-up' } })).err).not.toContain('OPENAI_API_KEY')
    expect(
      (
        await quintain(
          dry.filter((word) => word !== '--dry-run'),
          {},
        )
      ).code,
    ).toBe(2)
  })

  test('--dry-run lacks the key of the protocol that a model is asked in', async () => {
    const dry = ['eval', sums(), '-m', 'anthropic:claude-x', '--dry-run', ...inline]
    const { code, out, err } = await quintain(dry, {})
    expect(code, err).toBe(0)
    expect(out).toContain('anthropic:claude-x')
    expect(err).toContain('ANTHROPIC_API_KEY is not set')
  })

  test('--server asks for tokens, several --base-url are replicas, and both are recorded for a resume', async () => {
    const more = ['--base-url', fake.url, '--base-url', slow.url, '--server', 'vllm']
    const { code, err } = await quintain([
      ...['eval', sums(), '-m', 'm', '-n', '1', '--out', 'replicas', '--quiet'],
      ...more,
      ...inline,
    ])
    expect(code, err).toBe(0)
    const { seats } = JSON.parse(await readFile(join(cwd, 'replicas/run.json'), 'utf8'))
    expect(seats.agent).toMatchObject({ endpoint: `${fake.url} ${slow.url}`, server: 'vllm' })
    const asked = [...fake.requests, ...slow.requests].map(({ body }) => body)
    expect(asked).toContainEqual(expect.objectContaining({ return_token_ids: true }))
    expect((await quintain(['eval', sums(), '-m', 'm', '--server', 'tgi'])).code).toBe(2)
  })

  test('a model that was made in code is not resumed with another of its name', async () => {
    await writeSampleRun(join(cwd, 'coded'), {
      policy: 'openrouter:m',
      orders: [{ task: 'a', attempts: [{ reward: 1 }] }],
    })
    const { code, err } = await quintain(['resume', 'coded', '-n', '2', '--base-url', fake.url])
    expect(code).toBe(2)
    expect(err).toContain('resume(dir, { model })')
  })

  test('what --detect asks is answered once, whatever else is quiet, and in the JSON of a plan', async () => {
    const run = ['eval', sums(), '--policy', 'script:oracle', '--detect', '1%', ...inline]
    const answer = /To see a change of 1 point takes about [\d,]+ tasks once each/g
    for (const more of [[], ['--quiet']]) {
      const dry = await quintain([...run, '--dry-run', ...more])
      expect(dry.out.match(answer)).toHaveLength(1)
      expect((dry.out + dry.err).match(/12 tasks x 1 can show/g)).toHaveLength(1)
    }
    const { out } = await quintain([...run, '--dry-run', '--json', '--quiet'])
    expect(JSON.parse(out)).toMatchObject({
      orders: 12,
      precision: { tasks: 12, repeats: 1, detectable: expect.any(Number), halfWidth: expect.any(Number) },
      detect: { change: 0.01, takes: [{ repeats: 1, tasks: expect.any(Number) }, { repeats: 4 }] },
    })
    const quiet = await quintain([...run, '--quiet'])
    expect(quiet.err.match(answer)).toHaveLength(1)
    expect(quiet.err.trim().split('\n')).toHaveLength(1)
  })

  test('neither secrets nor keys are printed', async () => {
    const { out, err } = await quintain(
      [
        'eval',
        sums(),
        '-m',
        'tiny',
        '--base-url',
        fake.url,
        '--api-key-env',
        'MY_KEY',
        '-n',
        '4',
        '--json',
        ...inline,
      ],
      { env: { MY_KEY: 'sk-canary-123' } },
    )
    expect(out + err).not.toContain('sk-canary-123')
    expect(out + err).not.toContain('gold-')
    expect(fake.requests.at(-1)?.headers.authorization).toBe('Bearer sk-canary-123')
  })
})

describe('Ctrl-C', () => {
  const run = () => [
    'eval',
    sums(),
    '-m',
    'tiny',
    '--base-url',
    slow.url,
    '--concurrency',
    '2',
    '--out',
    'run',
    ...inline,
  ]

  /** Interrupts once the first request of the run is in flight, and again right after, as often as told. */
  function interrupting(times: number): Partial<CliIo> {
    return {
      onInterrupt(handler) {
        const before = slow.count
        let left = times
        const timer = setInterval(() => {
          if (slow.count > before && left-- > 0) handler()
        }, 10)
        return () => clearInterval(timer)
      },
    }
  }

  test('once: what is in flight is finished and kept, and the way on is shown', async () => {
    const { code, out, err } = await quintain(run(), interrupting(1))
    expect(err).toContain('attempts in flight have 10 s to finish')
    expect(code).toBe(3)
    expect(out).toMatch(/orders +12: [1-9]\d* scored/)
    expect(out).toContain('Stopped: the run was cancelled')
    expect(out).toContain('npx quintain resume run')

    const resumed = await quintain(['resume', 'run', '--base-url', fake.url])
    expect(resumed.out).toContain('12: 12 scored')
    expect(resumed.code).toBe(0)
  })

  test('twice: it stops at once', async () => {
    const { code, err, out } = await quintain(run(), interrupting(2))
    expect(err).toContain('Stopping at once.')
    expect(out).toMatch(/orders +12: 0 scored/)
    expect(code).toBe(3)
  })
})

describe('mistakes are one clear line, and their exit code', () => {
  test.each([
    [['eval', 'SUMS', '--polcy', 'script:oracle'], 2, 'Did you mean --policy?'],
    [['evl'], 2, 'Did you mean eval?'],
    [['eval', 'SUMS'], 2, 'Say who plays'],
    [['eval', 'SUMS', '-m', 'gpt-4o'], 2, 'OPENAI_API_KEY is not set'],
    [['eval', 'SUMS', '--policy', 'script:oracl', ...inline], 2, 'did you mean "oracle"'],
    [['eval', 'SUMS', '--policy', 'script:oracle', '--limit', 'turn=1'], 2, 'did you mean "turns"'],
    [
      ['eval', 'SUMS', '--policy', 'script:oracle', '--option', 'break=true', ...inline],
      2,
      'did you mean "breaks"',
    ],
    [['eval', 'SUMS', '--policy', 'script:oracle', '-n', 'many'], 2, 'whole number'],
    [['eval', 'SUMS', '--policy', 'script:oracle', '--task', 'sum-99', ...inline], 2, 'sum-99'],
    [['eval', './nowhere', '--policy', 'script:oracle'], 4, 'was not found'],
    [['report', 'nowhere'], 2, 'There is no run nowhere'],
    [['resume', 'nowhere'], 2, 'There is no run nowhere'],
    [['init', 'Bad Name'], 2, 'try "bad-name"'],
    [['init'], 2, 'Give the new package a name'],
    [['init', 'x', '--agent', './no-agent.ts'], 2, 'no agent file'],
  ])('%j', async (argv, code, message) => {
    const found = await quintain(argv.map((arg) => (arg === 'SUMS' ? sums() : arg)))
    expect(found.err).toContain(message)
    expect(found.err).not.toMatch(/\n +at /)
    expect(found.code).toBe(code)
    expect(found.out).toBe('')
  })

  test('an environment that does not load is the environment’s fault', async () => {
    const dir = join(cwd, 'broken')
    await mkdir(dir)
    await writeFile(join(dir, 'package.json'), '{"name":"broken","type":"module","exports":"./index.js"}')
    await writeFile(join(dir, 'index.js'), 'export default {}')
    const { code, err } = await quintain(['eval', dir, '--policy', 'script:oracle', ...inline])
    expect(err).toContain('environment_load_failed')
    expect(code).toBe(4)
  })

  test('--verbose shows where it came from', async () => {
    const { err } = await quintain(['--verbose', 'report', 'nowhere'])
    expect(err).toMatch(/\n +at /)
  })

  test('--help has the exit codes, --version the version', async () => {
    expect((await quintain(['--help'])).out).toContain('3  incomplete')
    expect((await quintain(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/)
  })
})

describe('looking at runs', () => {
  beforeEach(async () => {
    await writeSampleRun(join(cwd, 'runs', 'one'), {
      orders: [
        { task: 'a', attempts: [{ reward: 1 }] },
        {
          task: 'b',
          attempts: [
            {
              reward: 0,
              nodes: [
                {
                  parent: -1,
                  seat: 'agent',
                  sampled: true,
                  message: { role: 'assistant', content: 'I \u001b[2J tried' },
                },
              ],
              private: { secret: { word: 'gold-1' } },
            },
          ],
        },
      ],
    })
  })

  test('list', async () => {
    await writeSampleRun(join(cwd, 'runs', 'two'), { orders: [{ task: 'a', attempts: [] }] })
    await mkdir(join(cwd, 'runs', 'not-a-run'))
    const { code, out } = await quintain(['list'])
    expect(code).toBe(0)
    expect(out).toMatch(/runs\/one .* 0\.500/)
    expect(out).toMatch(/runs\/two .* 1 to go/)
    expect(out).not.toContain('not-a-run')
    const missing = await quintain(['list', 'nowhere'])
    expect(missing).toMatchObject({ code: 2, out: '' })
    expect(missing.err).toContain('nowhere is not there')
    const run = await quintain(['list', 'runs/one'])
    expect(run).toMatchObject({ code: 2, out: '' })
    expect(run.err).toContain('runs/one is itself a run')
    expect(JSON.parse((await quintain(['list', '--json'])).out)).toHaveLength(2)
  })

  test('report, in three forms', async () => {
    expect((await quintain(['report', 'one'])).out).toContain('2: 2 scored')
    expect((await quintain(['report', 'runs/one', '--markdown'])).out).toMatch(/^### sample/)
    expect(JSON.parse((await quintain(['report', 'one', '--json'])).out)).toMatchObject({ orders: 2 })
    expect((await quintain(['report', 'one', '--threshold', '0.9'])).code).toBe(1)
    expect((await quintain(['report', 'one', '--threshold', '50%'])).code).toBe(0)
    const both = await quintain(['report', 'one', '--json', '--markdown'])
    expect(both).toMatchObject({ code: 2, out: '' })
    expect(both.err).toContain('not both')
  })

  test('show: the orders, one of them, the worst, never a secret unasked', async () => {
    expect((await quintain(['show', 'one'])).out).toMatch(/a#0 .*yes[\s\S]*b#0 .*no/)
    const worst = await quintain(['show', 'one', '--worst'])
    expect(worst.out).toContain('I \\x1b[2J tried')
    expect(worst.out).not.toContain('gold-1')
    expect((await quintain(['show', 'one', 'b#0', '--private'])).out).toContain('gold-1')
    expect((await quintain(['show', 'one', 'a'])).out).toContain('a#0')
    expect((await quintain(['show', 'one', '--call', '0'])).err).toContain('Say whose call')
    expect((await quintain(['show', 'one', 'b#0', '--call', '7'])).err).toContain('There is no call 7')
    const missing = await quintain(['show', 'one', 'c'])
    expect(missing.code).toBe(2)
    expect(missing.err).toContain('unknown_task')
  })

  test('compare', async () => {
    const { code, out } = await quintain(['compare', 'one', 'one'])
    expect(code).toBe(0)
    expect(out).toContain('A and B are the same run')
  })

  test('colours only where they are wanted', async () => {
    const written: string[] = []
    const stdout = { write: (text: string) => written.push(text), isTTY: true }
    await quintain(['report', 'one'], { stdout })
    expect(written.join('')).toContain('\u001b[')
    written.length = 0
    await quintain(['report', 'one'], { stdout, env: { NO_COLOR: '1' } })
    expect(written.join('')).not.toContain('\u001b')
  })
})

test('another Node than is needed is told with the way out', async () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(old)}`, bin],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let err = ''
  child.stderr.on('data', (chunk) => (err += chunk))
  const [code] = await once(child, 'close')
  expect(err).toBe(
    'quintain needs Node 22.18 or newer; this is 20.20.2. Install one into the project: npm install -D node@24, then the same command.\n',
  )
  expect(code).toBe(2)
})

describe('init', () => {
  async function run(command: string[], dir: string) {
    const child = spawn(process.execPath, command, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.stderr.on('data', (chunk) => (text += chunk))
    const [code] = await once(child, 'close')
    return { code, text }
  }
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')

  test('makes a package that passes its own tests and type-checks', async () => {
    const { code, out } = await quintain(['init', 'my-game'])
    expect(code).toBe(0)
    expect(out).toContain('npm install')
    const dir = join(cwd, 'my-game')
    const manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'))
    expect(manifest.name).toBe('my-game')
    expect(manifest.dependencies.quintain).toMatch(/^(file:|\d)/)
    expect(existsSync(join(dir, '.gitignore'))).toBe(true)
    const tests = await run([vitest, 'run', '--root', dir], dir)
    expect(tests.code, tests.text).toBe(0)
    const types = await run([tsc, '-p', dir], dir)
    expect(types.text).toBe('')
  })

  test('round an agent that is there already', async () => {
    await writeFile(join(cwd, 'package.json'), '{"type":"module"}')
    await writeFile(
      join(cwd, 'agent.ts'),
      `export default (text: string): string => {
  const numbers = (text.match(/\\d+/g) ?? []).map(Number)
  return String(numbers.length)
}
`,
    )
    const { code, out } = await quintain(['init', '--agent', './agent.ts'])
    expect(out).toContain('Made agent-evals')
    expect(out).toContain('default export')
    expect(code).toBe(0)
    const dir = join(cwd, 'agent-evals')
    expect(await readFile(join(dir, 'src/agent.ts'), 'utf8')).toContain("from '../../agent.ts'")
    const types = await run([tsc, '-p', dir], dir)
    expect(types.text).toBe('')
  })

  test('writes into no folder that has something in it', async () => {
    await mkdir(join(cwd, 'full'))
    await writeFile(join(cwd, 'full', 'mine.txt'), 'mine')
    const { code, err } = await quintain(['init', 'full'])
    expect(code).toBe(2)
    expect(err).toContain('nothing was written')
    expect(await readFile(join(cwd, 'full', 'mine.txt'), 'utf8')).toBe('mine')
  })

  test('where npm runs on an older Node, the step that brings a newer one is among the next', async () => {
    const agent = (node: string) => ({ env: { npm_config_user_agent: `npm/10.8.2 node/${node} linux x64` } })
    const old = await quintain(['init', 'one'], agent('v20.20.2'))
    expect(old.out).toMatch(/npm install\n {2}npm install -D node@24 .*Node 20\.20\.2.*\n {2}npm test/)
    expect((await quintain(['init', 'two'], agent('v22.17.9'))).out).toContain('node@24')
    expect((await quintain(['init', 'three'], agent('v22.18.0'))).out).not.toContain('node@24')
    expect((await quintain(['init', 'four'])).out).not.toContain('node@24')
  })

  test('a scoped name goes into a folder without the scope', async () => {
    expect((await quintain(['init', '@me/thing'])).code).toBe(0)
    expect(existsSync(join(cwd, 'thing', 'package.json'))).toBe(true)
  })
})
