import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HarnessResult, ModelAddress } from '../../core/index.ts'
import { SeatStop } from '../../gateway/index.ts'
import { isAlive, readOrEmpty } from '../../sandbox/process-table.ts'
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

/** Whether a process runs; one that has ended and that nobody has asked after is a zombie on some machines. */
function runs(pid: number): boolean {
  const stat = readOrEmpty(`/proc/${pid}/stat`)
  return isAlive(pid) && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
}

/** Plays a program of Node's, given as text. */
async function play(
  script: string,
  options: FakeOptions & { command?: Partial<CommandOptions> } = {},
): Promise<HarnessResult & ReturnType<typeof fakeContext>['done']> {
  const { context, done } = fakeContext(options)
  const result = await command({ argv: [node, '-e', script], ...options.command }).run(context)
  return { ...result, ...done }
}

const require = createRequire(import.meta.url)

/** The same for a script with imports. */
const playModule = (script: string, options: Parameters<typeof play>[1] = {}) =>
  play('', {
    ...options,
    command: { argv: [node, '--input-type=module', '-e', script], ...options.command },
  })

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
      /^(PATH|HOME|LANG|USER|SHELL|PWD|OLDPWD|SHLVL|_|TMPDIR|QUINTAIN_BOX|QUINTAIN_COMMAND|cwd|__CF_USER_TEXT_ENCODING)$/
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
    const end = await playModule(
      `
      const url = process.env.QUINTAIN_TOOLS_URL
      const post = async (name, body) => (await fetch(url + '/' + name, { method: 'POST', body })).json()
      const tools = await (await fetch(url)).json()
      const results = [await post('act', '{"n":1}'), await post('nope', '{}'), await post('act', '{')]
      const wrong = [
        (await fetch(url.slice(0, -1) + (url.endsWith('x') ? 'y' : 'x'))).status,
        (await fetch(url + '/act')).status,
        (await fetch(url, { method: 'POST' })).status,
        (await fetch(url + '/act', { method: 'POST', body: 'x'.repeat(5e6) })).status,
        (await fetch(url, { headers: { origin: 'http://elsewhere.example' } })).status,
      ]
      console.log(JSON.stringify({ tools, results, wrong }))`,
      { tools: true },
    )
    const { tools, results, wrong } = JSON.parse(String(end.answer)) as {
      tools: { type: string; function: { name: string } }[]
      results: unknown[]
      wrong: number[]
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
    expect(wrong).toEqual([404, 405, 405, 413, 403])
    expect(end.recorded[0]!.filter(({ role }) => role === 'tool')).toHaveLength(3)
  })

  test('uses the tools of the world over MCP', async () => {
    const client = pathToFileURL(require.resolve('@modelcontextprotocol/client')).href
    const end = await playModule(
      `
      const { Client, StreamableHTTPClientTransport } = await import(${JSON.stringify(client)})
      const client = new Client({ name: 'agent', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(process.env.QUINTAIN_MCP_URL)))
      const { tools } = await client.listTools()
      const results = []
      for (const name of ['act', 'end', 'act']) {
        const { content, isError } = await client.callTool({ name, arguments: { n: 2 } })
        results.push([content[0].text, isError ?? false])
      }
      await client.close()
      console.log(JSON.stringify({ names: tools.map(({ name }) => name), results }))`,
      { tools: true },
    )
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'sold' })
    expect(JSON.parse(String(end.answer))).toEqual({
      names: ['act', 'end'],
      results: [
        ['act {"n":2}', false],
        ['end {"n":2}', false],
        ['Not carried out: the episode is over.', true],
      ],
    })
    expect(end.ran.map(({ name }) => name)).toEqual(['act', 'end'])
  })

  test('is ended when a tool ends the episode, and runs no tool after it', async () => {
    const end = await playModule(
      `
      process.on('SIGTERM', () => {})
      const url = process.env.QUINTAIN_TOOLS_URL
      const post = async (name) => (await fetch(url + '/' + name, { method: 'POST', body: '{}' })).json()
      const heard = [await post('end'), await post('act')]
      console.log(JSON.stringify(heard))
      setInterval(() => {}, 1000)`,
      { tools: true, command: { graceMs: 1_000 } },
    )
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'sold' })
    expect(end.ran.map(({ name }) => name)).toEqual(['end'])
    expect(JSON.parse(String(end.answer))).toMatchObject([{ done: 'sold' }, { error: 'episode_over' }])
  })

  test('hands its answers to the world and is started again for each turn', async () => {
    const end = await play(
      `console.log(require('fs').readFileSync(0, 'utf8') + '!')
       require('fs').appendFileSync('turns', 'x')
       if (require('fs').readFileSync('turns', 'utf8').length === 3) console.log('third')`,
      {
        reply: (_content, nth) => (nth === 2 ? { content: 'yes', done: 'won' } : { content: `no ${nth}` }),
      },
    )
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'won' })
    expect(end.said).toEqual(['Be brief.\n\ngo!', 'no 0!', 'no 1!\nthird'])
  })

  test.for([
    ['stdout', '  a\nb \n\n', 'a\nb'],
    ['last-line', 'a\n b \n\n', 'b'],
    ['last-line', '', undefined],
  ] as const)('takes %s for its answer', async ([answer, printed, wanted]) => {
    const end = await play(`process.stdout.write(${JSON.stringify(printed)})`, { command: { answer } })
    expect(end.answer).toBe(wanted)
  })

  test('takes a file for its answer, or what its model said last', async () => {
    const file = await play("require('fs').writeFileSync('out.txt', 'from a file\\n'); console.log('log')", {
      command: { answer: { file: 'out.txt' } },
    })
    expect(file.answer).toBe('from a file')
    const none = await play("console.log('log')", { command: { answer: { file: 'out.txt' } } })
    expect(none).toMatchObject({ outcome: 'completed', stop: 'no_answer' })
    const { context } = fakeContext()
    context.model.lastReply = () => ({ role: 'assistant', content: 'from the model' })
    const last = command({ argv: [node, '-e', 'console.log("log")'], answer: 'last-reply' })
    expect(await last.run(context)).toMatchObject({ answer: 'from the model' })
  })

  test('finds its files in the folder that it starts in, or starts in a folder of ours', async () => {
    const files = { 'a/b.txt': 'hello' }
    const end = await play("process.stdout.write(require('fs').readFileSync('a/b.txt'))", {
      command: { files },
    })
    expect(end.answer).toBe('hello')
    const folder = await mkdtemp(join(tmpdir(), 'quintain-command-test-'))
    try {
      await writeFile(join(folder, 'agent.sh'), '#!/bin/sh\nprintf "%s" "$PWD"\n', { mode: 0o755 })
      const there = await play('', { command: { argv: ['./agent.sh'], cwd: folder } })
      expect(there.answer).toBe(folder)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('gets no variable from a world by which programs are told what to load', async () => {
    for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'PATH', 'OPENAI_BASE_URL', 'https_proxy', 'PYTHONPATH'])
      await expect(play('', { endpoints: { [name]: 'x' } })).rejects.toMatchObject({
        fault: { owner: 'world', code: 'endpoint_reserved' },
      })
  })

  test.for([
    ['x'.repeat(1 << 22), 'arguments that are too long'],
    ['a\0b', 'arguments that no program can take'],
  ])('whose task no argument can hold is a fault', async ([content, words]) => {
    const playing = play('', {
      messages: [{ role: 'user', content: content! }],
      command: { argv: [node, '-e', '', '{input}'], task: 'args' },
    })
    await expect(playing).rejects.toMatchObject({
      fault: { code: 'agent_not_started', message: expect.stringContaining(words!) as string },
    })
  })

  test('finds a script that is named by a relative path', async () => {
    const script = relative(process.cwd(), fileURLToPath(new URL('../__fixtures__/echo.js', import.meta.url)))
    const end = await play('', { command: { argv: [node, script, 'src', '-x.y'] } })
    expect(end.answer).toBe('src -x.y: go')
  })

  test('is an agent_error when it ends badly: its last words are in the message, the rest is kept apart', async () => {
    const failed = play(
      `console.error('first ' + 'x'.repeat(300) + '\\nkey ' + process.env.OPENAI_API_KEY); process.exit(3)`,
      { address: async () => address },
    )
    await expect(failed).rejects.toMatchObject({
      name: 'ProgramFailure',
      message: 'the program ended with exit code 3; it said: key [key]',
      stack: expect.stringContaining('first xxx') as string,
    })
    await expect(play('process.kill(process.pid, "SIGKILL")')).rejects.toThrow('was ended by SIGKILL')
  })

  test('that ends well without an answer has completed, and says so', async () => {
    const silent = await play('')
    expect(silent).toMatchObject({ outcome: 'completed', stop: 'no_answer' })
    expect(silent.answer).toBeUndefined()
    const talks = await play('', { reply: () => ({ content: 'go on' }) })
    expect(talks).toMatchObject({ outcome: 'completed', stop: 'no_answer', said: [] })
  })

  test('that removes its own folder has failed, and nobody else', async () => {
    const removes = play('require("fs").rmSync(process.cwd(), { recursive: true }); console.log(1)', {
      reply: () => ({ content: 'go on' }),
    })
    await expect(removes).rejects.toMatchObject({
      name: 'ProgramFailure',
      message: expect.stringContaining('no way to start for its next turn') as string,
    })
  })

  test('is not asked beyond its turns', async () => {
    const end = await play('console.log(1)', { reply: () => ({ content: 'go on' }), turns: 2 })
    expect(end).toMatchObject({ outcome: 'turn_limit', said: ['1', '1'] })
  })

  test('may print 100 MB: the first and the last of it are kept', async () => {
    const end = await play(
      `const chunk = Buffer.alloc(1 << 20, 'x')
       process.stdout.write('first')
       for (let at = 0; at < 100; at++) process.stdout.write(chunk)
       process.stderr.write(chunk)
       process.stdout.write('last')`,
      { command: { outputBytes: 1000 } },
    )
    const answer = String(end.answer)
    expect(answer).toMatch(/^firstx+\n\[\.\.\. 1048\d{5} bytes left out \.\.\.\]\nx+last$/)
    expect(answer.length).toBeLessThan(1100)
    expect(end.flagged).toEqual(['output_cut'])
  })

  test('may print what is no text, and need not read its input', async () => {
    const junk = await play('process.stdout.write(Buffer.from([0xff, 0, 0xc3, 0x28, 65]))')
    expect(junk.answer).toBe('\ufffd\0\ufffd(A')
    const deaf = await play('process.stdin.destroy(); console.log("done")', {
      messages: [{ role: 'user', content: 'x'.repeat(1 << 21) }],
    })
    expect(deaf.answer).toBe('done')
  })

  test('is ended at the end of the attempt, however deaf, and what it left behind with it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quintain-command-test-'))
    const pids = join(folder, 'pids')
    const stop = new AbortController()
    try {
      // A child that is in no group of ours, one whose parent is gone, and a parent that hears nothing.
      const script = `
        const { spawn } = require('child_process')
        const deaf = "trap '' TERM HUP INT; echo $$ >> '${pids}'; while :; do sleep 1; done"
        spawn('sh', ['-c', deaf], { detached: true, stdio: 'ignore' }).unref()
        spawn('sh', ['-c', '(sh -c "$0" &) ; exit 0', deaf], { stdio: 'inherit' })
        process.on('SIGTERM', () => {})
        require('fs').appendFileSync('${pids}', process.pid + '\\n')
        setInterval(() => {}, 1000)`
      const playing = play(script, { signal: stop.signal, command: { graceMs: 100 } })
      const listed = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : [])
      while (listed().length < 3) await sleep(10)
      stop.abort(new Error('the rollout is over'))
      await expect(playing).rejects.toThrow('the rollout is over')
      expect(listed().filter(runs)).toEqual([])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('that ends at once when it is asked to is not killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quintain-command-test-'))
    const stop = new AbortController()
    try {
      const mark = join(folder, 'mark')
      const playing = play(
        `process.on('SIGTERM', () => { require('fs').writeFileSync('${mark}', 'asked'); process.exit(0) })
         require('fs').writeFileSync('${mark}', 'up')
         setInterval(() => {}, 1000)`,
        { signal: stop.signal, command: { graceMs: 60_000 } },
      )
      while (!existsSync(mark) || readFileSync(mark, 'utf8') !== 'up') await sleep(10)
      stop.abort(new Error('the rollout is over'))
      await expect(playing).rejects.toThrow('the rollout is over')
      expect(readFileSync(mark, 'utf8')).toBe('asked')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('refuses what cannot be run before anything is', () => {
    const refuses = (options: CommandOptions | readonly string[], message: string) =>
      expect(() => command(options)).toThrow(expect.objectContaining({ code: 'usage', message }))
    refuses(['no-such-program-anywhere'], expect.stringContaining('on the PATH') as string)
    refuses(['./no-such-program'], expect.stringContaining('there is no program') as string)
    refuses([tmpdir()], expect.stringContaining('there is no program') as string)
    refuses([], expect.stringContaining('give program and arguments') as string)
    const argv = [node]
    refuses({ argv, box: 'world', sandbox: 'bwrap' }, expect.stringContaining('two places') as string)
    refuses({ argv, mounts: [] }, expect.stringContaining('sandbox') as string)
    refuses({ argv, sandbox: 'bwrap', cwd: '/' }, expect.stringContaining('cwd') as string)
    refuses({ argv, cwd: '/no/such/folder' }, expect.stringContaining('no folder') as string)
    expect(command({ argv, name: 'mine' }).name).toBe('command:mine@1')
    expect(command(['node']).name).toBe('command:node@1')
  })

  test('that is gone when it is to start is a fault, and nobody’s score', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quintain-command-test-'))
    const program = join(folder, 'agent')
    await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
    const harness = command([program])
    await rm(folder, { recursive: true })
    const thrown: unknown = await harness.run(fakeContext().context).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(SeatStop)
    expect(thrown).toMatchObject({
      fault: { owner: 'platform', code: 'agent_not_started', retryable: false },
    })
  })
})

describe('command in lines', () => {
  const lines = (script: string, options: FakeOptions & { command?: Partial<CommandOptions> } = {}) =>
    play(
      `const lines = require('readline').createInterface({ input: process.stdin })
       const say = (answer) => console.log(JSON.stringify({ answer }))
       ${script}`,
      { ...options, command: { turns: 'lines', ...options.command } },
    )

  test('is one process, told and asked once a turn', async () => {
    const end = await lines(
      `let count = 0
       lines.on('line', (line) => {
         const { input, turn, news } = JSON.parse(line)
         console.log('')
         say([++count, turn, input, news.length].join(' '))
       })`,
      { reply: (_content, nth) => (nth === 2 ? { content: 'yes', done: 'won' } : { content: `no ${nth}` }) },
    )
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'won' })
    expect(end.said).toEqual(['1 0 go 2', '2 1 no 0 1', '3 2 no 1 1'])
  })

  test('ends badly, well, or with a line that is no answer', async () => {
    const talks = { reply: () => ({ content: 'go on' }) }
    await expect(lines('process.exit(4)', talks)).rejects.toThrow('ended with exit code 4')
    await expect(lines("console.log('debug: hello')", talks)).rejects.toThrow('no {"answer"')
    await expect(lines("say('x'.repeat(5e6))", talks)).rejects.toThrow('a line of 4194304 bytes or more')
    expect(await lines("lines.once('line', () => { say('a'); process.exit(0) })", talks)).toMatchObject({
      outcome: 'completed',
      stop: 'no_answer',
      said: ['a'],
    })
  })

  test('may write without end between its turns', async () => {
    const end = await lines(
      `const flood = setInterval(() => { for (let at = 0; at < 100; at++) say('x'.repeat(10000)) }, 1)
       lines.on('line', () => say('turn'))`,
      { reply: (_content, nth) => (nth === 20 ? { content: 'yes', done: 'won' } : { content: 'go on' }) },
    )
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'won' })
  })

  test('is ended with the attempt while it thinks', async () => {
    const stop = new AbortController()
    const playing = lines("lines.once('line', () => process.stderr.write('x'))", {
      signal: stop.signal,
      command: { graceMs: 50 },
    })
    setTimeout(() => stop.abort(new Error('the rollout is over')), 200)
    await expect(playing).rejects.toThrow('the rollout is over')
  })
})
