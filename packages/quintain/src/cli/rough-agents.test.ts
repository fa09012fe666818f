import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AttemptRecord } from '../core/index.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))
const bin = fileURLToPath(new URL('../../bin/quintain.js', import.meta.url))

const environment = `
import { environment } from 'quintain'
export default environment({
  tasks: Array.from({ length: 4 }, (_, i) => ({ id: 't' + i, prompt: 'say ' + i, secret: String(i) })),
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret) },
  success: ({ rewards }) => rewards.exact === 1,
})
`
const agents = `
const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const answer = (input) => input.replace('say ', '')
export const exits = ({ task, input }) => {
  if (task.id === 't1') process.exit(0)
  return answer(input)
}
export const exitsLater = async ({ task, input }) => {
  if (task.id === 't1') setTimeout(() => process.exit(0), 5)
  await soon(300)
  return answer(input)
}
export const floats = async ({ task, input }) => {
  if (task.id === 't1') void Promise.reject(new Error('nobody caught this'))
  if (task.id === 't2') setTimeout(() => { throw new Error('thrown from a timer') }, 5)
  await soon(300)
  return answer(input)
}
export const chatty = ({ input }) => {
  console.log('a line of the agent')
  return answer(input)
}
let begun = false
setInterval(() => {
  if (begun && process.argv.includes('--seed=throw')) throw new Error('of no rollout')
  if (begun && process.argv.includes('--seed=exit')) process.exit(0)
}, 20).unref()
export const waits = async ({ input, signal }) => {
  begun = true
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  return answer(input)
}
`

let cwd: string
beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'quintain-rough-')))
  await symlink(join(repository, 'node_modules'), join(cwd, 'node_modules'), 'dir')
  await mkdir(join(cwd, 'env'))
  await writeFile(
    join(cwd, 'env', 'package.json'),
    '{"name":"rough","version":"1.0.0","type":"module","exports":"./index.ts","quintain":{"contract":1}}',
  )
  await writeFile(join(cwd, 'env', 'index.ts'), environment)
  await writeFile(join(cwd, 'agents.mjs'), agents)
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

/** The command in a process of its own, as a shell sees it. */
function quintain(...argv: string[]): Promise<{ code: number | string | null; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [bin, ...argv], { cwd, encoding: 'utf8' }, (error, out, err) =>
      resolve({ code: error === null ? 0 : (error.code ?? null), out, err }),
    )
  })
}
const evaluate = (name: string, ...argv: string[]) =>
  quintain('eval', 'env', '--agent', `agents.mjs#${name}`, '--workers', '1', '--out', `runs/${name}`, ...argv)

/** How the rollouts of a run ended, by task. */
async function ends(name: string): Promise<Record<string, string>> {
  const text = await readFile(join(cwd, 'runs', name, 'attempts.jsonl'), 'utf8')
  const attempts = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AttemptRecord)
  return Object.fromEntries(attempts.map(({ task, outcome, stop }) => [task, `${outcome}: ${stop ?? ''}`]))
}

test.each(['exits', 'exitsLater'])(
  'an agent that ends its process (%s) ends its rollout alone',
  async (name) => {
    const { code, out } = await evaluate(name, '--threshold', '1')
    expect(code).toBe(1)
    expect(out).toContain('4 scored')
    expect(await ends(name)).toMatchObject({
      t0: 'completed: ',
      t1: expect.stringContaining('agent_error: the agent called process.exit(0)'),
      t2: 'completed: ',
    })
  },
)

test('what an agent leaves to fail by itself fails its rollout alone', async () => {
  const { code, out } = await evaluate('floats', '--threshold', '1')
  expect(code).toBe(1)
  expect(out).toContain('4 scored')
  expect(await ends('floats')).toMatchObject({
    t0: 'completed: ',
    t1: 'agent_error: nobody caught this',
    t2: 'agent_error: thrown from a timer',
    t3: 'completed: ',
  })
})

test('a process that ends before its run never says that all is well', async () => {
  const { code, err } = await evaluate('waits', '--seed=exit', '--quiet')
  expect(code).toBe(3)
  expect(err).toContain('Go on with: npx quintain resume runs/waits --agent agents.mjs#waits')
})

test('what is thrown outside of every rollout ends the run with a word on how to go on', async () => {
  const { code, err } = await evaluate('waits', '--seed=throw', '--quiet', '--out', 'runs/thrown')
  expect(code).toBe(5)
  expect(err).toContain('of no rollout')
  expect(err).toContain('Go on with: npx quintain resume runs/thrown')
})

test('what an agent prints is kept out of the JSON', async () => {
  const { code, out, err } = await evaluate('chatty', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ success: { value: 1 } })
  expect(err).toContain('a line of the agent')
})
