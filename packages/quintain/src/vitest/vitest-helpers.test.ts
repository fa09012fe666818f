import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { environment, tool } from '../core/index.ts'
import { evaluate } from '../evaluate.ts'
import { testEnvironment } from './index.ts'
import { secretStrings, standsIn, textsIn } from './secret-strings.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

const sums = environment({
  tasks: Array.from({ length: 12 }, (_, i) => ({
    id: `sum-${i}`,
    prompt: `${i} + ${i} = ?`,
    secret: { answer: String(2 * i), note: `the-gold-${i}` },
  })),
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
  success: ({ rewards }) => rewards.exact === 1,
  *oracle({ task }) {
    yield task.secret.answer
  },
})

testEnvironment(sums, { tasks: 4 })

// Passes only when each task is played as often as its group reward asks for.
describe('with group rewards', () => {
  const first = ({ members }: { members: readonly { id: string }[] }) =>
    Object.fromEntries(members.map(({ id }) => [id, 1 / members.length]))
  testEnvironment(
    environment({
      ...sums.definition,
      groupRewards: { pair: { reward: first }, trio: { reward: first, atLeast: 3 } },
    }),
    { tasks: 3 },
  )
})

test('what fails says why in words, and nothing else', async () => {
  const root = await mkdtemp(join(tmpdir(), 'quintain-helpers-'))
  try {
    await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
    await writeFile(join(root, 'package.json'), '{ "type": "module" }')
    await writeFile(
      join(root, 'broken.test.ts'),
      `import { environment } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
testEnvironment(environment({
  tasks: [{ id: 'one', prompt: 'Say gold-4711.', secret: { answer: 'gold-4711' } }, { id: 'two', prompt: 'Say it.', secret: { answer: 'two' } }],
  rewards: { wrong: ({ transcript }) => Number(transcript.answer === '') },
  success: ({ rewards }) => rewards.wrong === 1,
  *oracle({ task }) { yield task.secret.answer },
}))
`,
    )
    await writeFile(
      join(root, 'boxed.test.ts'),
      `import { environment } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
testEnvironment(environment({
  tasks: [{ id: 'boxed', prompt: 'Say it.', secret: { answer: 'say "gold-4712"\\nand no more' } }],
  sandbox: {},
  async world(task, { sandbox }) {
    await sandbox.start({ files: { 'hidden.json': JSON.stringify(task.secret) } })
    return { reply: () => ({ content: '', done: 'over' }), finish: () => null }
  },
  rewards: { right: ({ transcript, task }) => Number(transcript.answer === task.secret.answer) },
  success: ({ rewards }) => rewards.right === 1,
  *oracle({ task }) { yield task.secret.answer },
}), { sandbox: 'bash' })
`,
    )
    const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
    const child = spawn(process.execPath, [vitest, 'run', '--root', root], { cwd: root, env: plainEnv() })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.stderr.on('data', (chunk) => (text += chunk))
    const [code] = await once(child, 'close')
    expect(code, text).toBe(1)
    expect(text).toContain('the oracle does not succeed everywhere')
    expect(text).toContain('saying nothing succeeds')
    expect(text).toContain('task one shows "gold-4711", a text of its secret')
    expect(text).toContain('task boxed puts into a box "say \\"gold-4712\\"')
    expect(text).toMatch(/3 failed/)
    expect(text).not.toMatch(/expected .* to be/)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})

/** A test run inside a test run must not take itself for a part of it, and colours would split what it says. */
function plainEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV|FORCE_COLOR)/.test(name))
  return { ...Object.fromEntries(kept), NO_COLOR: '1' }
}

describe('matchers', () => {
  test('toReachSuccess holds the lower end of the interval against the rate', async () => {
    const good = await evaluate(sums, { policy: 'script:oracle' })
    expect(good).toReachSuccess(0.7)
    expect(good).toHaveCoverage()
    expect(() => expect(good).toReachSuccess(0.99)).toThrow(
      /lower end of the interval to reach 0.99: success 1.000/,
    )
    const silent = await evaluate(sums, { policy: 'script:noop' })
    expect(silent).not.toReachSuccess(0.1)
  })

  test('neither accepts what is no result', () => {
    expect(() => expect({}).toReachSuccess(0)).toThrow('the result of evaluate()')
    expect(() => expect(null).toHaveCoverage(0)).toThrow('the result of evaluate()')
  })
})

// Passes only when what a world puts into a box in its last moment, and what the oracle does there, is not held against it.
describe('with boxes', () => {
  testEnvironment(
    environment({
      tasks: ['plum', 'pear'].map((word) => ({
        id: word,
        prompt: 'Write the word.',
        secret: { word: `the-${word}` },
      })),
      sandbox: {},
      needs: ['tools'],
      async world(task, { sandbox }) {
        const box = await sandbox.start({ files: { 'readme.txt': 'Write it here.' } })
        const write = tool({
          name: 'write',
          description: 'Writes the word.',
          input: z.object({ word: z.string() }),
          async run({ word }) {
            await box.write('word.txt', word)
            return 'written'
          },
        })
        return {
          tools: () => [write],
          async finish() {
            await box.write('gold.txt', task.secret.word)
            const { stdout } = await box.exec('[ "$(cat word.txt)" = "$(cat gold.txt)" ] && echo same')
            return { same: stdout === 'same\n' }
          },
        }
      },
      rewards: { right: ({ state }) => Number(state.same) },
      success: ({ rewards }) => rewards.right === 1,
      *oracle({ task }) {
        yield { tool: 'write', arguments: { word: task.secret.word } }
      },
    }),
    { sandbox: 'bash' },
  )
})

describe('secrets in sight', () => {
  test('texts of four characters and more, at any depth', () => {
    expect(secretStrings({ a: 'word', b: ['longer', 'no'], c: { d: ' pad ' }, e: 12345 })).toEqual([
      'word',
      'longer',
    ])
  })

  test('as words of their own, ignoring case', () => {
    expect(standsIn('The answer is CRANE.', 'crane')).toBe(true)
    expect(standsIn('cranes are birds; crane', 'crane')).toBe(true)
    expect(standsIn('cranes are birds', 'crane')).toBe(false)
    expect(standsIn('', 'crane')).toBe(false)
    expect(standsIn(JSON.stringify({ a: 'one "line"\nand two' }), 'one "line"\nand two')).toBe(true)
    expect(textsIn({ a: ['one', { b: 'two' }], c: 3 })).toBe('one\ntwo')
  })
})
