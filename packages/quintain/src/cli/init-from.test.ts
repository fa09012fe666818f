import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AttemptRecord, foldRun, readPrivate } from '../core/index.ts'
import { runCli } from './run-cli.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

let root: string
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-init-from-')))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function quintain(argv: string[], cwd = root) {
  let [out, err] = ['', '']
  const code = await runCli(argv, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: {},
    cwd,
  })
  return { code, out, err }
}

async function node(argv: string[], cwd: string) {
  const child = spawn(process.execPath, argv, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stdout.on('data', (chunk) => (text += chunk))
  child.stderr.on('data', (chunk) => (text += chunk))
  const [code] = await once(child, 'close')
  return { code, text }
}

const user = (content: unknown) => ({ role: 'user', content })
const call = (name: string, given: string, id = 'c0') => ({
  id,
  type: 'function',
  function: { name, arguments: given },
})
const assistant = (content: unknown, ...toolCalls: unknown[]) => ({
  role: 'assistant',
  content,
  ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
})
const result = (content: string, id = 'c0') => ({ role: 'tool', tool_call_id: id, content })

const answer = 'The refund of 41.50 is on its way, Ms Canary.'
const refund = '{"order":"A-1","cents":4150}'
/** What people really have in their logs. */
const conversations = [
  {
    task_id: 'refund',
    reward: 1,
    messages: [
      user('I want a refund for A-1.'),
      assistant(null, call('find_order', '{"order":"A-1"}')),
      result('{"cents":4150}'),
      assistant('Shall I?'),
      user('Yes.'),
      assistant(null, call('refund', refund)),
      result('ok'),
      assistant(answer),
    ],
  },
  {
    task_id: 'refund',
    reward: 0,
    messages: [
      user('Refund A-1 please'),
      assistant(null, call('refund', '{"order":"A-2","cents":1}')),
      result('Error: no such order'),
      assistant('It failed.'),
    ],
  },
  // No result; arguments that are no JSON; a name that no provider takes; a picture; nobody answers; a stray result.
  { messages: [user('Cancel B-2'), assistant('ok', call('cancel', '{"id":"B-2"}'))] },
  {
    messages: [
      user('Odd'),
      assistant(null, call('odd.name', '{broken'), call('odd.name', '', 'c1')),
      result('a'),
      result('b', 'c1'),
    ],
  },
  [user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]), assistant('A cat.')],
  [user('Is anybody there?')],
  [
    user('Stray'),
    result('x', 'zz'),
    assistant('3'),
    { role: 'system', content: 'later' },
    user('a'),
    user('b'),
    assistant('4'),
  ],
]

test('recorded conversations become a package that type-checks, passes its tests, and waits for decisions', async () => {
  await writeFile(
    join(root, 'My traces.jsonl'),
    `\ufeff${conversations.map((one) => JSON.stringify(one)).join('\r\n')}\r\n{"torn`,
  )
  const init = await quintain(['init', '--from', 'My traces.jsonl'])
  expect(init.code, init.err).toBe(0)
  expect(init.out).toContain('6 tasks of 7 conversations (chat)')
  expect(init.out).toContain('line 8: the last line was cut off')
  expect(init.out).toContain('PRIVACY')
  const dir = join(root, 'my-traces')
  expect((await node([join(repository, 'node_modules/typescript/bin/tsc'), '-p', dir], dir)).text).toBe('')
  const tests = await node([join(repository, 'node_modules/vitest/vitest.mjs'), 'run', '--root', dir], dir)
  expect(tests.code, tests.text).toBe(0)

  // Nothing was decided, so nothing is scored, and nothing is zero.
  const recorded = ['eval', '.', '--policy', 'recorded:recordings.jsonl']
  const open = await quintain([...recorded, '--out', 'runs/open'], dir)
  expect(open.code).toBe(3)
  expect(open.out).toContain('done: to_decide 6')
  expect(open.out).toMatch(/not_recorded +0\.000|not_recorded 0\.000/)

  const decisions = join(dir, 'src/decisions.ts')
  const text = await readFile(decisions, 'utf8')
  expect(text).toContain('"refund", "cancel"')
  await writeFile(
    decisions,
    text.replace(
      'refund: null',
      `refund: { told: ['41.50'], changed: [{ tool: 'refund', arguments: ${refund} }] }`,
    ),
  )
  const task = ['--task', 'refund', '--quiet']
  const decided = await quintain([...recorded, ...task, '-r', '2', '--out', 'runs/decided'], dir)
  expect(decided.code, decided.err).toBe(0)
  const states = (await foldRun<AttemptRecord>(join(dir, 'runs/decided'))).states
  expect(
    states.map(({ chosen }) => [chosen?.verdict?.reward, chosen?.verdict?.metrics['agrees_with_recorded']]),
  ).toEqual([
    [1, 1],
    [0, 1],
  ])
  // Each recording was played to its end, and the failed call changed nothing.
  const left = await Promise.all(states.map(({ chosen }) => readPrivate(join(dir, 'runs/decided'), chosen!)))
  expect(left.map((hidden) => hidden?.state)).toEqual([
    { changed: [{ name: 'refund', arguments: JSON.parse(refund) }], notRecorded: 0, followed: 0 },
    { changed: [], notRecorded: 0, followed: 1 },
  ])

  const noop = await quintain(['eval', '.', '--policy', 'script:noop', ...task, '--out', 'runs/noop'], dir)
  expect(noop.out).toMatch(/success +0\.000/)
  // Calls that nobody recorded are not the agent's failure.
  const random = await quintain(
    ['eval', '.', '--policy', 'script:random', ...task, '--out', 'runs/random'],
    dir,
  )
  expect(random.out).toContain('done: call_not_recorded 1')
  for (const file of ['orders', 'attempts', 'trajectories', 'verdicts']) {
    expect(await readFile(join(dir, `runs/noop/${file}.jsonl`), 'utf8')).not.toContain('Canary')
  }
})

test.each([
  [['init', '--from', 'none.jsonl'], 2, 'no such file'],
  [['init', '--from', 'empty.jsonl'], 2, 'is empty'],
  [['init', '--from', 'other.json'], 2, 'holds no conversation'],
  [['init', '--from', 'empty.jsonl', '--agent', 'x.ts'], 2, '--agent or --from'],
  [['init', 'x', '--as', 'chat'], 2, 'give both'],
  [['init', '--from', 'other.json', '--as', 'chta'], 2, 'did you mean "chat"'],
  [['import', 'none.jsonl'], 2, 'no such file'],
  [['import', 'other.json'], 2, 'holds no conversation'],
])('%j says what is wrong and leaves nothing behind', async (argv, code, message) => {
  await writeFile(join(root, 'empty.jsonl'), '')
  await writeFile(join(root, 'other.json'), '[{"a":1}]')
  const ended = await quintain(argv)
  expect(ended.err).toContain(message)
  expect(ended.code).toBe(code)
  for (const name of ['none', 'empty', 'other', 'x', 'runs'])
    expect(existsSync(join(root, name)), name).toBe(false)
  expect((await readdir(root)).filter((name) => /making|importing/.test(name))).toEqual([])
})

test('an imported run is reported, shown, and not resumed', async () => {
  await writeFile(
    join(root, 'chat.jsonl'),
    conversations
      .slice(0, 2)
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(''),
  )
  const done = await quintain(['import', 'chat.jsonl', '--out', 'imported', '--policy', 'desk'])
  expect(done.err).toContain('nothing was graded here')
  expect(done.out).toContain('chat imported · desk · 1 task x 2 = 2 orders')
  expect(done.out).toMatch(/pass\^k +1: 0\.500, 2: 0\.000/)
  expect(done.out).not.toMatch(/^ +time/m)
  expect((await quintain(['report', 'imported', '--tasks'])).out).toMatch(/refund +2 of 2 +1 +0\.500/)
  const { out: shown } = await quintain(['show', 'imported', 'refund#0'])
  expect(shown).toContain(answer)
  // The file tells no time, and zero milliseconds would be a claim.
  expect(shown).toContain('no time recorded')
  for (const { out } of [{ out: shown }, await quintain(['show', 'imported'])])
    expect(out).not.toContain('0 ms')
  const dated = { ...conversations[0], created_at: '2026-01-02T03:04:05Z' }
  await writeFile(join(root, 'dated.jsonl'), JSON.stringify(dated))
  await quintain(['import', 'dated.jsonl', '--out', 'dated'])
  expect((await quintain(['show', 'dated', 'refund#0'])).out).toMatch(
    /started 2026-01-02T03:04:05.000Z\n +how long it took is not recorded/,
  )
  const resumed = await quintain(['resume', 'imported'])
  expect([resumed.code, resumed.err]).toEqual([2, expect.stringContaining('was imported')])
  expect((await quintain(['import', 'chat.jsonl', '--out', 'imported'])).err).toContain('run_exists')
})
