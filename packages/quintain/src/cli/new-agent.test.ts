import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../core/index.ts'
import { evaluate } from '../evaluate.ts'
import type { AgentFunction } from '../harness/index.ts'
import { agentExamples, ordersDependency } from './new-agent.ts'
import { ownDependency } from './new-package.ts'
import { runCli } from './run-cli.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'quintain-new-agent-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

async function init(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let stdout = ''
  let stderr = ''
  const code = await runCli(['init', ...args], {
    cwd,
    env: {},
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  })
  return { code, stdout, stderr }
}

const read = (...path: string[]) => readFileSync(join(cwd, ...path), 'utf8')

describe.each(agentExamples)('init --agent %s', (name) => {
  test('makes a package in which nothing is left to be filled in, and every file is there', async () => {
    const { code, stdout } = await init('desk', '--agent', name)
    expect(code).toBe(0)
    expect(stdout).toContain('npm run eval')
    const files = globSync('**/*', { cwd: join(cwd, 'desk'), withFileTypes: true }).filter((one) =>
      one.isFile(),
    )
    for (const file of files) {
      const path = join(file.parentPath, file.name)
      const text = readFileSync(path, 'utf8')
      expect(text, path).not.toMatch(/__[A-Z]+__/)
      for (const [, target] of text.matchAll(/from '(\.[^']+)'/g))
        expect(existsSync(join(dirname(path), target!)), `${path} imports ${target}`).toBe(true)
    }
  })

  test('pins what it needs, and evaluates without a key', async () => {
    await init('desk', '--agent', name)
    const {
      name: made,
      description,
      dependencies,
      devDependencies,
      scripts,
    } = JSON.parse(read('desk', 'package.json')) as Record<string, Record<string, string>>
    expect(made).toBe('desk')
    expect(read('desk', 'README.md')).toContain(description)
    for (const version of Object.values({ ...dependencies, ...devDependencies }))
      expect(version).toMatch(/^(?:\d+\.\d+\.\d+|file:.+)$/)
    expect(scripts!['eval']).toMatch(/--agent \.\/quintain\.ts --policy script:oracle --threshold 1$/)
  })

  test('makes an agent that knows nothing of Quintain but the variables that it may be given', async () => {
    await init('desk', '--agent', name)
    for (const file of globSync('{agent.ts,chat.ts,agent.py}', { cwd: join(cwd, 'desk') }))
      expect(read('desk', file)).not.toMatch(/(?:from|import)\s+['"]?quintain/)
  })
})

test('says what there is when no agent is named', async () => {
  const { code, stdout } = await init('--agent')
  expect(code).toBe(0)
  for (const name of agentExamples) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'))
})

test('says which example is near what was typed, and makes nothing', async () => {
  const { code, stderr } = await init('--agent', 'langraph')
  expect(code).toBe(2)
  expect(stderr).toContain('did you mean "langgraph"?')
  expect(globSync('*', { cwd })).toEqual([])
})

test('takes a file for a file, whatever it is called', async () => {
  writeFileSync(join(cwd, 'openai'), 'export default () => "4"\n')
  await init('mine', '--agent', 'openai')
  expect(read('mine', 'src', 'agent.ts')).toContain("from '../../openai'")
})

test('makes a package round a file, in which that agent is evaluated', async () => {
  writeFileSync(join(cwd, 'sums.mjs'), 'export default async () => "The answer is 42."\n')
  symlinkSync(fileURLToPath(new URL('../../../../node_modules', import.meta.url)), join(cwd, 'node_modules'))
  await init('mine', '--agent', 'sums.mjs')
  const folder = join(cwd, 'mine')
  const { agent } = (await import(pathToFileURL(join(folder, 'src', 'agent.ts')).href)) as {
    agent: AgentFunction
  }
  const { default: env } = (await import(pathToFileURL(join(folder, 'src', 'index.ts')).href)) as {
    default: Environment
  }
  const run = await evaluate(env, { agent })
  // Of the ten questions, that is the answer to two.
  expect([run.coverage, run.success.value]).toEqual([1, 0.2])
})

test('writes into no folder that holds something', async () => {
  await init('desk', '--agent', 'openai')
  const before = read('desk', 'agent.ts')
  const { code, stderr } = await init('desk', '--agent', 'anthropic')
  expect(code).toBe(2)
  expect(stderr).toContain('not empty')
  expect(read('desk', 'agent.ts')).toBe(before)
})

test('a package made by one that came as a tarball takes that tarball, and those that were packed with it', async () => {
  const root = join(cwd, 'project', 'node_modules', 'quintain')
  mkdirSync(root, { recursive: true })
  mkdirSync(join(cwd, 'packed'))
  writeFileSync(join(root, 'package.json'), '{"version":"0.1.0"}')
  const from = join(cwd, 'project', 'desk')
  expect(await ownDependency(from, root)).toBe('0.1.0')
  const project = { dependencies: { quintain: 'file:../packed/quintain-0.1.0.tgz' } }
  writeFileSync(join(cwd, 'project', 'package.json'), JSON.stringify(project))
  // A tarball that is gone again leads nowhere.
  expect(await ownDependency(from, root)).toBe('0.1.0')
  writeFileSync(join(cwd, 'packed', 'quintain-0.1.0.tgz'), '')
  const own = await ownDependency(from, root)
  expect(own).toBe('file:../../packed/quintain-0.1.0.tgz')
  expect(await ordersDependency(from, own)).toMatch(/^\d/)
  writeFileSync(join(cwd, 'packed', 'quintain-orders-0.1.0.tgz'), '')
  expect(await ordersDependency(from, own)).toBe('file:../../packed/quintain-orders-0.1.0.tgz')
})
