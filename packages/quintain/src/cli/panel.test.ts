import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeModel, startFakeModel } from '../models/fake-server.ts'
import { writeSampleRun } from '../report/sample-run.ts'
import { runCli } from './run-cli.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

let root: string
let cwd: string
let fake: FakeModel

/** A game that a model wins by its name: `m-good` nine times of ten, `m-bad` once. */
const source = `
import { environment } from 'quintain'
export default environment({
  tasks: Array.from({ length: 60 }, (_, i) => ({ id: 'task-' + i, prompt: 'Task ' + i, secret: { answer: 'gold-' + i } })),
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer.endsWith(' ok')) },
  success: ({ rewards }) => rewards.exact === 1,
  *oracle() { yield 'gold ok' },
  floor: ['noop'],
  policies: { *half({ task }) { yield Number(task.id.slice(5)) % 2 ? 'it is ok' : 'no' } },
})
`

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-panel-')))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
  await mkdir(join(root, 'game'))
  const manifest = {
    name: 'game',
    version: '1.0.0',
    type: 'module',
    exports: './index.ts',
    quintain: { contract: 1 },
  }
  await writeFile(join(root, 'game', 'package.json'), JSON.stringify(manifest))
  await writeFile(join(root, 'game', 'index.ts'), source)
  fake = await startFakeModel({
    script({ body }) {
      const { model, messages } = body as { model: string; messages: { content: string }[] }
      const number = Number(/\d+/.exec(messages.at(-1)?.content ?? '')?.[0])
      const won = model === 'm-good' ? number % 10 !== 0 : number % 10 === 0
      const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }
      return { kind: 'ok', message: { content: won ? 'it is ok' : 'no' }, usage }
    },
  })
})
afterAll(async () => {
  await fake.close()
  await rm(root, { recursive: true, force: true })
})
let number = 0
beforeEach(async () => {
  cwd = join(root, `work-${number++}`)
  await mkdir(cwd)
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

const game = () => [join(root, 'game'), '--isolation', 'inline']
const two = ['-m', 'm-bad', '-m', 'm-good', '--price', 'm-bad:in=1,out=1', '--price', 'm-good:in=20,out=20']

describe('several models in one command', () => {
  test('are compared, with a picture of cost against success', async () => {
    const { code, out, err } = await quintain('eval', ...game(), ...two, '-n', '40', '--out', 'pair')
    expect(code).toBe(0)
    expect(out).toMatch(/A {2}openai-compatible:m-bad +0\.100 /)
    expect(out).toMatch(/B {2}openai-compatible:m-good +0\.900 /)
    expect(out).toMatch(/success +\+0\.800 \[\+0\.\d+, \+0\.\d+\] /)
    expect(out).toMatch(
      /^ {2}floor {2}noop 0\.000 \(success of policies that know nothing of the task, once over 40 tasks/m,
    )
    expect(out).toContain('US dollars an order, log scale')
    expect(out).toMatch(/m-good: success 0\.900 .*, \$0\.022 an order; on the frontier/)
    expect(err).toContain('Note: 40 tasks x 1 can show a change of about')
    expect(err).toContain('npx quintain compare pair')
    expect(JSON.parse(await readFile(join(cwd, 'pair', 'panel.json'), 'utf8'))).toMatchObject({
      runs: ['m-bad', 'm-good'],
    })

    const again = await quintain('compare', 'pair', '--json', '--svg', 'cost.svg')
    expect(JSON.parse(again.out)).toMatchObject({
      schema: 'quintain.comparison',
      v: 2,
      pairs: [{ from: 0, to: 1 }],
    })
    const svg = await readFile(join(cwd, 'cost.svg'), 'utf8')
    expect(svg.match(/<circle/g)).toHaveLength(2)
    expect((await quintain('list', 'pair')).out).toContain('m-good')
  })

  test('no secret is in anything that is shown or written beside the runs', async () => {
    const said = await quintain('eval', ...game(), ...two, '-n', '3', '--out', 'pair', '--json')
    const compared = await Promise.all([
      quintain('compare', 'pair', '--svg', 'cost.svg'),
      quintain('compare', 'pair', '--json'),
      quintain('compare', 'pair', '--markdown'),
    ])
    const files = await Promise.all(
      ['cost.svg', 'pair/panel.json'].map((file) => readFile(join(cwd, file), 'utf8')),
    )
    for (const text of [said.out, said.err, ...compared.map(({ out, err }) => out + err), ...files]) {
      expect(text).not.toContain('gold-')
    }
  })

  test('as JSON', async () => {
    const { out } = await quintain('eval', ...game(), ...two, '-n', '4', '--out', 'pair', '--json', '--quiet')
    const report = JSON.parse(out)
    expect(report).toMatchObject({
      schema: 'quintain.panel-report',
      v: 1,
      dir: 'pair',
      comparison: { measure: 'success' },
    })
    expect(report.runs.map(({ run }: { run: { dir: string } }) => run.dir)).toEqual([
      'pair/m-bad',
      'pair/m-good',
    ])
  })

  test('policies and models in the order in which they were typed; a dry run orders nothing', async () => {
    const { code, out } = await quintain(
      'eval',
      ...game(),
      '--policy',
      'script:half',
      '-m',
      'm-good',
      '--policy',
      'script:oracle',
      '--dry-run',
      '-n',
      '30',
      '-r',
      '4',
      '--detect',
      '5%',
    )
    expect(code).toBe(0)
    expect(out).toMatch(
      /agent +script:half\n.*in turn with +openai-compatible:m-good\n.*in turn with +script:oracle\n/,
    )
    expect(out).toContain('30 tasks x 4 = 120 for each of 3, 360 in all')
    expect(out).toMatch(/precision +30 tasks x 4 can show a change of about 23 points between two such runs/)
  })

  test('over a cost cap are stopped together, and finished by one resume', async () => {
    const first = await quintain(
      'eval',
      ...game(),
      ...two,
      '-n',
      '20',
      '--out',
      'pair',
      '--max-cost',
      '0.1',
      '--concurrency',
      '1',
    )
    expect(first.code).toBe(3)
    expect(first.err).toContain('Stopped: the cost cap of $0.1 is reached')
    expect(first.out).toMatch(/A: \d+ of 20 orders are not finished/)
    const prices = two.slice(4)
    const again = await quintain('resume', 'pair', ...prices, '--max-cost', '5')
    expect(again.code).toBe(0)
    expect(again.out).toMatch(/m-good +0\.900 .* 20 +100 %/)
  })

  test('until one is shown to be better', async () => {
    const { code, out, err } = await quintain(
      'eval',
      ...game(),
      ...two,
      '--out',
      'pair',
      '--stop-when-decided',
      '--concurrency',
      '2',
    )
    expect(code).toBe(0)
    expect(err).toMatch(/Stopped: after \d+ tasks the second is shown to be better than the first/)
    expect(out).toMatch(
      /Decided after \d+ tasks: the second is better by 0\.\d+ \[\+0\.\d+, \+0\.\d+\] \(95 %, valid at every moment at once; p <= 0\.\d+\)/,
    )
    // What was not run is no failure, and the runs say so.
    expect(out).toMatch(/A: \d+ of 60 orders are not finished/)
    expect((await quintain('compare', 'pair')).out).toContain('Decided after')
    await quintain('resume', 'pair', ...two.slice(4))
    const whole = await quintain('compare', 'pair')
    expect(whole.out).not.toContain('Decided after')
    expect(whole.out).toMatch(/m-good +0\.900 .* 60 +100 %/)
  })

  test('are not one run', async () => {
    await quintain(
      'eval',
      ...game(),
      '--policy',
      'script:half',
      '--policy',
      'script:oracle',
      '-n',
      '2',
      '--out',
      'pair',
      '--quiet',
    )
    for (const command of ['report', 'show']) {
      const { code, err } = await quintain(command, 'pair')
      expect(code).toBe(2)
      expect(err).toContain('pair holds 2 runs. Name one (pair/half, pair/oracle)')
    }
    expect((await quintain('report', 'pair/half')).code).toBe(0)
  })

  test.each([
    [['--price', 'in=1,out=1'], 'say whose price it is: --price m-bad:in='],
    [['--policy', 'script:half', '--stop-when-decided'], '--stop-when-decided compares two players'],
    [['--alpha', '0.01'], '--alpha is the error rate of --stop-when-decided'],
    [['--detect', '-5'], 'It must be a change such as 5%'],
    [['--detect', '120%'], 'It must be a change such as 5%'],
    [['--price', 'm-bad:0.1'], 'is none of these'],
  ])('%j is refused', async (more, words) => {
    const { code, err } = await quintain('eval', ...game(), '-m', 'm-bad', '-m', 'm-good', ...more)
    expect(err).toContain(words)
    expect(code).toBe(2)
  })
})

describe('the gate of compare', () => {
  const orders = (solved: number, tasks = 40) =>
    Array.from({ length: tasks }, (_, i) => ({ task: `t${i}`, attempts: [{ reward: Number(i < solved) }] }))
  const write = (name: string, solved: number, more: object = {}) =>
    writeSampleRun(join(cwd, 'runs', name), {
      orders: orders(solved),
      policy: `script:${name}`,
      manifest: { id: name },
      ...more,
    })

  test('says no to what is worse beyond chance, and how often it cries wolf', async () => {
    await write('before', 36)
    await write('worse', 24)
    await write('alike', 34)
    const worse = await quintain('compare', 'before', 'worse', '--fail-on-regression')
    expect(worse.code).toBe(1)
    expect(worse.out).toContain('REGRESSION: worse beyond chance, one-sided p < 0.001')
    expect(worse.out).toMatch(
      /cries wolf in at most 5 % of comparisons in which the mean did not get worse; it would catch a loss of 0\.\d+ in 4 of 5 cases/,
    )
    const alike = await quintain('compare', 'before', 'alike', '--fail-on-regression')
    expect(alike.code).toBe(0)
    expect(alike.out).toContain('no regression shown')
    const tolerant = await quintain(
      'compare',
      'before',
      'worse',
      '--fail-on-regression',
      '--margin',
      '40%',
      '--alpha',
      '0.01',
    )
    expect(tolerant.code).toBe(0)
    const both = await quintain('compare', 'before', 'alike', 'worse', '--fail-on-regression', '--json')
    expect(both.code).toBe(1)
    expect(
      JSON.parse(both.out).pairs.map(
        ({ regression }: { regression: { regressed: boolean } }) => regression.regressed,
      ),
    ).toEqual([false, true])
    expect(
      (await quintain('compare', 'before', 'worse', '--markdown', '--fail-on-regression')).out,
    ).toContain('**B: REGRESSION')
  })

  test('overwrites no file with its picture but a picture of its own', async () => {
    await write('before', 36)
    await write('worse', 24)
    const picture = join(cwd, 'cost.svg')
    const compare = (...more: string[]) =>
      quintain('compare', 'before', 'worse', '--svg', 'cost.svg', ...more)
    await writeFile(picture, 'something else\n')
    const refused = await compare()
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('is no picture that Quintain wrote'),
    })
    expect(await readFile(picture, 'utf8')).toBe('something else\n')
    expect((await compare('--force')).code).toBe(0)
    expect(await readFile(picture, 'utf8')).toMatch(/^<svg .*<\/svg>\n$/s)
    expect((await compare()).code).toBe(0)
    expect((await readdir(cwd)).filter((name) => name.includes('svg'))).toEqual(['cost.svg'])
  })

  test('gives no all-clear where it cannot tell', async () => {
    await write('before', 36)
    const holes = orders(36).map((order, i) => (i > 35 ? { ...order, attempts: [{ fault: {} }] } : order))
    await write('holes', 0, { orders: holes })
    const found = await quintain('compare', 'before', 'holes', '--fail-on-regression')
    expect(found.out).toContain('cannot tell: scores are missing')
    expect(found.code).toBe(3)
    expect(
      (await quintain('compare', 'before', 'holes', '--fail-on-regression', '--min-coverage', '90%')).code,
    ).toBe(0)
    await write('one', 0, { orders: orders(1, 1) })
    expect((await quintain('compare', 'before', 'one', '--fail-on-regression')).code).toBe(3)
    const itself = await quintain('compare', 'before', 'before', '--fail-on-regression')
    expect(itself).toMatchObject({ code: 2, err: expect.stringContaining('held against itself') })
  })

  test.each([
    [['before'], 'takes two runs or more'],
    [['before', 'before', '--alpha', '0.1'], 'give it too'],
    [['before', 'before', '--json', '--markdown'], 'not both'],
    [['before', 'before', '--fail-on-regression', '--margin', '-1'], '--margin is a loss'],
    [['before', 'before', '--svg', 'no/such/folder/x.svg'], 'cannot be written'],
    [['before', 'nowhere'], 'There is no run nowhere'],
  ])('%j is refused', async (argv, words) => {
    await write('before', 3)
    const { code, err } = await quintain('compare', ...argv)
    expect(err).toContain(words)
    expect(code).toBe(2)
  })
})
