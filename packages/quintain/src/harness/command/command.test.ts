import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type HarnessResult, type ModelAddress, QuintainError } from '../../core/index.ts'
import { SeatStop } from '../../gateway/index.ts'
import { bashDriver, bwrapDriver, processDriver } from '../../sandbox/index.ts'
import { isAlive } from '../../sandbox/process-table.ts'
import { type FakeOptions, fakeContext } from '../__fixtures__/fake-context.ts'
import { command } from './command.ts'
import type { CommandOptions } from './options.ts'

const node = process.execPath
const address: ModelAddress = {
  baseURL: 'http://127.0.0.1:9/r/h/v1',
  anthropicBaseURL: 'http://127.0.0.1:9/r/h',
  apiKey: 'key-of-this-attempt',
  model: 'quintain',
  socketPath: '/nowhere.sock',
  path: '/r/h/v1',
  fetch: () => Promise.reject(new Error('not here')),
}

let before: string[]
const boxes = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`quintain-box-${process.pid}-`))
beforeEach(() => {
  before = boxes()
})
// Nothing of an attempt stays on the disk.
afterEach(() => expect(boxes()).toEqual(before))

/** Plays a program of Node's, given as text. */
async function play(
  script: string,
  options: FakeOptions & { command?: Partial<CommandOptions> } = {},
): Promise<HarnessResult & ReturnType<typeof fakeContext>['done']> {
  const { context, done } = fakeContext(options)
  const result = await command({ argv: [node, '-e', script], ...options.command }).run(context)
  return { ...result, ...done }
}

describe('command', () => {
  test('is told its task on its input and in a file, and answers by what it prints', async () => {
    const end = await play(`
      const input = require('fs').readFileSync(0, 'utf8')
      const told = JSON.parse(require('fs').readFileSync(process.env.QUINTAIN_TASK_FILE, 'utf8'))
      console.log(JSON.stringify({ input, told }))`)
    expect(end).toMatchObject({ outcome: 'completed' })
    expect(JSON.parse(String(end.answer))).toMatchObject({
      input: 'Be brief.\n\ngo',
      told: { task: { id: 'task-1', data: { level: 1 } }, turn: 0, input: 'go', messages: [{}, {}] },
    })
    expect(end.recorded[0]!.at(-1)).toMatchObject({ role: 'assistant', content: end.answer })
  })

  test('is told its task in its arguments, once', async () => {
    const end = await play('console.log(process.argv.slice(1).join("|"))', {
      messages: [{ role: 'user', content: 'say {model}' }],
      address: async () => address,
      command: {
        argv: [
          node,
          '-e',
          'console.log(process.argv.slice(1).join("|"))',
          '{input}',
          '-m={model}',
          '{base-url}',
          '{x}',
        ],
        task: 'args',
      },
    })
    expect(end.answer).toBe(`say {model}|-m=quintain|${address.baseURL}|{x}`)
  })

  test('has nothing of our variables but PATH, and those that were declared', async () => {
    process.env['QUINTAIN_TEST_CANARY'] = 'canary'
    const end = await play('console.log(JSON.stringify({ ...process.env, cwd: process.cwd() }))', {
      address: async () => address,
      endpoints: { SHOP_URL: 'http://127.0.0.1:1/' },
      command: { env: { MINE: 'yes', OPENAI_MODEL: 'my-model' } },
    }).finally(() => delete process.env['QUINTAIN_TEST_CANARY'])
    const env = JSON.parse(String(end.answer)) as Record<string, string>
    const known =
      /^(PATH|HOME|LANG|USER|SHELL|PWD|OLDPWD|SHLVL|_|TMPDIR|QUINTAIN_BOX|cwd|__CF_USER_TEXT_ENCODING)$/
    const given = Object.keys(env).filter((name) => !known.test(name))
    expect(given.sort()).toMatchInlineSnapshot(`
      [
        "ANONYMIZED_TELEMETRY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DO_NOT_TRACK",
        "LANGCHAIN_TRACING_V2",
        "LANGSMITH_TRACING",
        "MASTRA_TELEMETRY_DISABLED",
        "MINE",
        "OPENAI_AGENTS_DISABLE_TRACING",
        "OPENAI_API_BASE",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "OTEL_SDK_DISABLED",
        "QUINTAIN_MODEL",
        "QUINTAIN_TASK_FILE",
        "SHOP_URL",
      ]
    `)
    expect(JSON.stringify(env)).not.toContain('canary')
    expect(env).toMatchObject({
      MINE: 'yes',
      OPENAI_MODEL: 'my-model',
      OPENAI_BASE_URL: address.baseURL,
      ANTHROPIC_BASE_URL: address.anthropicBaseURL,
      OPENAI_API_KEY: address.apiKey,
      SHOP_URL: 'http://127.0.0.1:1/',
    })
    expect(env['HOME']).not.toBe(process.env['HOME'])
    expect(env['cwd']).not.toBe(process.cwd())
  })

  test('runs without a model, and says nothing of one', async () => {
    const end = await play('console.log(process.env.OPENAI_BASE_URL, process.env.QUINTAIN_TOOLS_URL)')
    expect(end.answer).toBe('undefined undefined')
  })

  test('uses the tools of the world as JSON', async () => {
    const end = await play(
      `
      const url = process.env.QUINTAIN_TOOLS_URL
      const post = async (name, body) =>
        (await fetch(url + '/' + name, { method: 'POST', body })).json()
      const tools = await (await fetch(url)).json()
      const results = [await post('act', '{"n":1}'), await post('nope', '{}'), await post('act', '{')]
      console.log(JSON.stringify({ tools, results }))`,
      { tools: true, command: { argv: [node, '--input-type=module', '-e'] } as never },
    ).catch((error: unknown) => error)
    expect(end).toBeInstanceOf(Error)
    const again = await play('', {
      tools: true,
      command: {
        argv: [
          node,
          '--input-type=module',
          '-e',
          `
      const url = process.env.QUINTAIN_TOOLS_URL
      const post = async (name, body) =>
        (await fetch(url + '/' + name, { method: 'POST', body })).json()
      const tools = await (await fetch(url)).json()
      const results = [await post('act', '{"n":1}'), await post('nope', '{}'), await post('act', '{')]
      console.log(JSON.stringify({ tools, results }))`,
        ],
      },
    })
    const { tools, results } = JSON.parse(String(again.answer)) as {
      tools: { type: string; function: { name: string } }[]
      results: unknown[]
    }
    expect(tools.map((tool) => [tool.type, tool.function.name])).toEqual([
      ['function', 'act'],
      ['function', 'end'],
    ])
    expect(results).toEqual([
      { content: 'act {"n":1}' },
      { content: 'nope {}', error: 'unknown_tool' },
      { content: 'act {' },
    ])
    expect(again.recorded[0]!.filter(({ role }) => role === 'tool')).toHaveLength(3)
  })
})
void [once, existsSync, readFileSync, mkdtemp, rm, writeFile, dirname, join, sleep, QuintainError, SeatStop, bashDriver, bwrapDriver, processDriver, isAlive]
