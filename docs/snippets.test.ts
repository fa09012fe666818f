// The manual runs. Every `ts` block of README.md and docs/*.md is type-checked; whole modules and programs are executed;
// `sh` blocks go through the command line; what a page shows of an output is compared with it; JSON examples fit the
// schemas. What cannot run here is skipped by name. Words after a fence's language steer this; see docs/README.md.
import { spawn } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exitCodeOfError, exitCodes } from '../packages/quintain/src/cli/exit-codes.ts'
import { runCli } from '../packages/quintain/src/cli/run-cli.ts'
import {
  defaultLimits,
  type ErrorCode,
  faultOwners,
  outcomes,
  recordSchemas,
  runFiles,
} from '../packages/quintain/src/core/index.ts'
import { allDoors } from '../packages/quintain/src/doors/serve/door-names.ts'
import { planeCells } from '../packages/quintain/src/doors/serve/plane-rows.ts'
import { type FakeModel, startFakeModel } from '../packages/quintain/src/models/fake-server.ts'
import { toolErrorCodes } from '../packages/quintain/src/models/index.ts'
import { losses, recipes } from '../packages/quintain/src/train/index.ts'
import { watches } from '../packages/quintain/src/train/watches.ts'
import {
  argumentsOf,
  type Block,
  blocksOf,
  commandsOf,
  linksOf,
  maskedLine,
  outputDifference,
} from './snippets/blocks.ts'
import { wrappers } from './snippets/wrappers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root }).sort()]
const textOfPage = (page: string): string => readFileSync(join(root, page), 'utf8')

/** Where the blocks of a page are tried out: the repository as a reader sees it from its root, and room to write. */
async function makeRoom(prefix: string): Promise<string> {
  const room = await mkdtemp(join(tmpdir(), `quintain-${prefix}-`))
  for (const name of ['node_modules', 'environments', 'docs'])
    await symlink(join(root, name), join(room, name))
  return room
}

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs a program of `node_modules`, or a module, with this Node. */
function runNode(argv: string[], cwd: string): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, argv, {
      cwd,
      // A test run inside a test run must not take itself for a part of it.
      env: Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV)/.test(name)),
      ),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended: Ended = { code: 0, stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ended.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      ended.stderr += text
    })
    child.on('error', fail)
    child.on('close', (code) => done({ ...ended, code: code ?? -1 }))
  })
}

const program = (name: string, file: string) => join(root, 'node_modules', name, file)
const tsc = program('typescript', 'bin/tsc')
const vitest = program('vitest', 'vitest.mjs')

/** Runs commands as a reader would type them, one after the other; stops at the first that fails unless it is the last. */
class Shell {
  cwd: string
  env: Record<string, string> = {}
  private readonly room: string

  constructor(room: string) {
    this.room = room
    this.cwd = room
  }

  async run(commands: readonly string[], { interrupt }: { interrupt: boolean }): Promise<Ended> {
    let stdout = ''
    for (const [index, command] of commands.entries()) {
      const ended = await this.one(command, interrupt)
      stdout += ended.stdout
      if (index === commands.length - 1) return { ...ended, stdout }
      expect(ended.code, `${command}\n${ended.stdout}${ended.stderr}`).toBe(0)
    }
    return { code: 0, stdout, stderr: '' }
  }

  private async one(command: string, interrupt: boolean): Promise<Ended> {
    const argv = argumentsOf(command)
    if (argv[0] === 'npx') argv.shift()
    const [name, ...rest] = argv
    if (name === 'quintain') {
      // A worker loads everything anew; a page's few orders need no second one.
      if (rest[0] === 'eval' && !rest.includes('--workers')) rest.push('--workers', '1')
      return this.quintain(rest, interrupt)
    }
    const nothing = { code: 0, stdout: '', stderr: '' }
    if (name === 'cd') {
      this.cwd = resolve(this.cwd, rest[0] ?? '')
      expect(existsSync(this.cwd), `${command}: no such folder`).toBe(true)
      return nothing
    }
    if (name === 'export') {
      // Endpoints and keys of a page are examples; the fake model's are used.
      return nothing
    }
    // Packages are found in the room's node_modules, which is this repository's.
    if (command === 'npm install') return nothing
    if (command === 'npm test') return runNode([vitest, 'run', '--root', this.cwd], this.cwd)
    if (command === 'npm run check') return runNode([tsc], this.cwd)
    if (name === 'node') return runNode(rest, this.cwd)
    throw new Error(`docs/snippets.test.ts does not know how to run ${JSON.stringify(command)}`)
  }

  private async quintain(argv: string[], interrupt: boolean): Promise<Ended> {
    let stdout = ''
    let stderr = ''
    const controller = new AbortController()
    const begun = () => {
      if (argv[0] === 'serve') return stdout.includes('/metrics')
      return argv[0] === 'serve-model' ? stdout.includes('/v1') : this.hasRecorded(argv)
    }
    const watch = interrupt ? setInterval(() => begun() && controller.abort(), 5) : undefined
    try {
      const code = await runCli(argv, {
        stdout: { write: (text) => (stdout += text) },
        stderr: { write: (text) => (stderr += text) },
        env: { ...process.env, ...this.env },
        cwd: this.cwd,
        ...(interrupt ? { signal: controller.signal } : {}),
      })
      return { code, stdout: stdout.replaceAll(`${this.room}/`, ''), stderr }
    } finally {
      clearInterval(watch)
    }
  }

  /** The first attempt is on disk. */
  private hasRecorded(argv: string[]): boolean {
    const attempts = join(this.cwd, argv[argv.indexOf('--out') + 1] ?? '', runFiles.attempts)
    return (statSync(attempts, { throwIfNoEntry: false })?.size ?? 0) > 0
  }
}

/** The module that a `ts` block stands for. */
function moduleOf({ code, words }: Block): string {
  const part = words['part']
  if (part === undefined) return code
  const wrap = wrappers[part]
  if (wrap === undefined) throw new Error(`there is no wrapper "${part}" in docs/snippets/wrappers.ts`)
  return wrap(code)
}

const title = (page: string, { line, language, words }: Block) =>
  `${page}:${line} ${language}${words['file'] === undefined ? '' : ` ${words['file']}`}`

test('every ts block type-checks', async () => {
  const room = await makeRoom('docs-types')
  try {
    const origin = new Map<string, string>()
    for (const page of pages) {
      for (const block of blocksOf(textOfPage(page))) {
        if (block.language !== 'ts') continue
        const folder = join('pages', page.replaceAll('/', '-').replace(/\.md$/, ''))
        const file = join(folder, block.words['file'] ?? `line-${block.line}.ts`)
        expect(origin.get(file), `${page}: ${file} is given twice`).toBeUndefined()
        origin.set(file, `${page}:${block.line}`)
        await mkdir(join(room, dirname(file)), { recursive: true })
        await writeFile(join(room, file), moduleOf(block))
      }
    }
    await writeFile(join(room, 'package.json'), '{ "type": "module" }')
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: { noEmit: true },
      include: ['pages'],
    }
    await writeFile(join(room, 'tsconfig.json'), JSON.stringify(config))
    const { code, stdout } = await runNode([tsc, '-p', '.', '--pretty', 'false'], room)
    const named = stdout.replace(/^(\S+?)\(/gm, (all, file: string) => `${origin.get(file) ?? file}, ${all}`)
    expect(code, named).toBe(0)
    expect(origin.size).toBeGreaterThan(0)
  } finally {
    await rm(room, { recursive: true, force: true })
  }
})

for (const page of pages) {
  describe(page, () => {
    const blocks = blocksOf(textOfPage(page))
    let room: string
    let shell: Shell
    let printed = ''
    beforeAll(async () => {
      room = await makeRoom('docs')
      shell = new Shell(room)
    })
    // One server for all blocks of a page that have it say the same: a run that is resumed asks where it asked before.
    const fakes = new Map<string, FakeModel>()
    async function fakeSaying(text: string): Promise<FakeModel> {
      const fake = fakes.get(text) ?? (await startFakeModel({ latencyMs: 30, text }))
      fakes.set(text, fake)
      return fake
    }
    afterAll(async () => {
      for (const fake of fakes.values()) await fake.close()
      await rm(room, { recursive: true, force: true })
    })

    for (const block of blocks) {
      const { language, words, code } = block
      const name = title(page, block)
      if (words['skip'] !== undefined) {
        test.skip(`${name} (not run: ${words['skip']})`)
        continue
      }
      if (language === 'ts' && words['part'] === undefined) {
        test(name, async () => {
          const file = join(room, words['file'] ?? `line-${block.line}.ts`)
          await mkdir(dirname(file), { recursive: true })
          await writeFile(file, code)
          if (code.includes('export default environment(')) await solveByOracle(file, shell, words['options'])
          else if (words['file'] === undefined) {
            const ended = await runNode([file], room)
            expect(ended.code, ended.stderr).toBe(0)
            printed = ended.stdout
          }
        })
      } else if (language === 'sh') {
        test(`${name} ${commandsOf(code)[0] ?? ''}`, async () => {
          const fake = 'model' in words ? await fakeSaying(words['model'] || 'ok') : undefined
          shell.env = fake === undefined ? {} : { OPENAI_BASE_URL: fake.url, OPENAI_API_KEY: 'none' }
          const ended = await shell.run(commandsOf(code), { interrupt: 'interrupt' in words })
          printed = ended.stdout
          const wanted = Number(words['exit'] ?? 0)
          expect(ended.code, `${code}${ended.stdout}${ended.stderr}`).toBe(wanted)
        })
      } else if (language === 'text' && 'output' in words) {
        test(`${name} is what the command before it prints`, () => {
          expect(outputDifference(code, printed), printed).toBeUndefined()
        })
      } else if (language === 'json') {
        test(`${name} ${words['record'] ?? ''}`, () => {
          const value: unknown = JSON.parse(code)
          const record = words['record']
          if (record === undefined) return
          const schema = recordSchemas[record as keyof typeof recordSchemas]
          expect(schema, `no record schema "${record}"`).toBeDefined()
          // What a schema does not know is dropped by it, so an invented field shows.
          expect(schema.parse(value)).toEqual(value)
        })
      }
    }

    test('links lead somewhere', () => {
      const broken = linksOf(textOfPage(page)).filter(
        (link) => !existsSync(resolve(root, dirname(page), link)),
      )
      expect(broken).toEqual([])
    })
  })
}

/** An environment of the manual loads, and its oracle, where it has one, solves its tasks. */
async function solveByOracle(file: string, shell: Shell, options: string | undefined): Promise<void> {
  const oracle = /^ {2}(\*|async \*)?oracle\b/m.test(readFileSync(file, 'utf8'))
  const folder = `oracle-${maskedLine(file).replace(/\W+/g, '-')}`
  const argv = [
    'quintain',
    'eval',
    file,
    '--policy',
    `script:${oracle ? 'oracle' : 'noop'}`,
    '-n',
    '5',
    '--quiet',
  ]
  const more = (options ?? '').split(',').flatMap((option) => (option === '' ? [] : ['--option', option]))
  const command = [...argv, ...more, ...(oracle ? ['--threshold', '1'] : []), '--out', join('runs', folder)]
  const ended = await shell.run([command.map((word) => `"${word}"`).join(' ')], { interrupt: false })
  expect(ended.code, `${ended.stdout}${ended.stderr}`).toBe(0)
}

describe('the manual names all there is', () => {
  test('outcomes, fault owners and tool errors in the failure model', () => {
    const text = textOfPage('docs/failure-model.md')
    for (const word of [...outcomes, ...faultOwners, ...toolErrorCodes]) expect(text).toContain(`\`${word}\``)
  })

  test('every error code with its exit code', () => {
    const rows = textOfPage('docs/failure-model.md').matchAll(/^\| `(\w+)` +\| (\d) +\|/gm)
    const told = new Map([...rows].map(([, code = '', exit]) => [code, Number(exit)]))
    const source = readFileSync(join(root, 'packages/quintain/src/core/errors.ts'), 'utf8')
    const codes = [...source.matchAll(/^ {2}\| '(\w+)'$/gm)].map(([, code]) => code as ErrorCode)
    expect(codes.length).toBeGreaterThan(20)
    expect(Object.fromEntries(told)).toEqual(
      Object.fromEntries(codes.map((code) => [code, exitCodeOfError(code)])),
    )
  })

  test('every exit code', () => {
    const text = textOfPage('docs/failure-model.md')
    for (const code of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`^\\| ${code} +\\|`, 'm'))
  })

  test('every recipe, and every loss with its numbers', () => {
    const text = textOfPage('docs/algorithms.md')
    const row = (name: string) => new RegExp(`^\\| \`${name}\` \\|.*$`, 'm').exec(text)?.[0]
    for (const [name, { source }] of Object.entries(recipes))
      expect(row(name), name).toContain(source.split(';')[0])
    for (const [name, { numbers }] of Object.entries(losses)) {
      expect(row(name), name).toBeDefined()
      for (const number of Object.keys(numbers)) expect(text, `${name} ${number}`).toContain(`\`${number}\``)
    }
  })

  test('every watch with its threshold', () => {
    const text = textOfPage('docs/train.md')
    for (const { name, threshold } of watches)
      expect(text).toMatch(new RegExp(`^\\| \`${name}\` \\| ${threshold} \\|`, 'm'))
  })

  test('default limits in the contract', () => {
    const text = textOfPage('docs/contract.md')
    for (const [name, value] of Object.entries(defaultLimits)) {
      expect(text).toMatch(new RegExp(`^\\| \`${name}\` .*\`${value}\``, 'm'))
    }
  })

  test('every field of a definition and a world in the contract', () => {
    const text = textOfPage('docs/contract.md')
    const source = readFileSync(join(root, 'packages/quintain/src/core/environment.ts'), 'utf8')
    for (const type of ['Definition', 'World', 'Turn', 'TaskInput', 'Limits', 'Transcript', 'Permissions']) {
      const body = new RegExp(`^export interface ${type}\\b[\\s\\S]*?\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(
        source,
      )?.[1]
      const fields = [...(body ?? '').matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, field]) => field)
      expect(fields.length, type).toBeGreaterThan(3)
      for (const field of fields) expect(text, `${type}.${field}`).toMatch(new RegExp(`\`${field}\\b`))
    }
  })

  test('every option of evaluate() and resume(), and every field of their result', () => {
    const parts = textOfPage('docs/evaluate.md').split(/^## /m)
    const sources = ['evaluate.ts', 'evaluate-all.ts', 'evaluate-options.ts', 'engine/run-options.ts']
      .map((file) => readFileSync(join(root, 'packages/quintain/src', file), 'utf8'))
      .join('\n')
    const fieldsOf = (type: string) => {
      const body = new RegExp(`^export interface ${type}\\b[\\s\\S]*?\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(
        sources,
      )?.[1]
      return [...(body ?? '').matchAll(/^ {2}(\w+)\??[:(]/gm)].map(([, field = '']) => field)
    }
    const told = (heading: string) => {
      const part = parts.find((text) => text.startsWith(heading)) ?? ''
      return [...part.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
        [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
      )
    }
    const control = fieldsOf('RunControl')
    const shared = [...fieldsOf('SharedOptions'), ...fieldsOf('PlanOptions')]
    expect(told('Options of `evaluate()`').sort()).toEqual(
      [...fieldsOf('AgentOptions'), ...shared, ...control].sort(),
    )
    expect(told('Several players').sort()).toEqual(
      [...fieldsOf('EvaluateAllOptions'), ...fieldsOf('EvaluateAllResult')].sort(),
    )
    expect(told('Options of `resume()`').sort()).toEqual(
      [...fieldsOf('ResumeRunOptions'), ...fieldsOf('ExtendOptions'), ...control].sort(),
    )
    expect(told('What comes back').sort()).toEqual(fieldsOf('RunResult').sort())
    expect(control.length).toBeGreaterThan(5)
  })

  test('every file of a run and every record in the records', () => {
    const text = textOfPage('docs/records.md')
    for (const file of Object.values(runFiles)) expect(text).toContain(file)
    for (const name of Object.keys(recordSchemas)) expect(text).toContain(`quintain.${name}`)
  })

  test('every door with its planes, and every option of serve', async () => {
    const text = textOfPage('docs/doors.md')
    const [head = [], ...rows] = planeCells(await allDoors())
    const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
    const table = [
      line(head),
      `|${head.map(() => '---').join('|')}|`,
      ...rows.map(([door, ...cells]) => line([`\`${door}\``, ...cells])),
    ]
    expect(text).toContain(`\n\n${table.join('\n')}\n\n`)
    let help = ''
    const io = { stdout: { write: (part: string) => (help += part) }, stderr: { write: () => {} }, env: {} }
    await runCli(['serve', '--help'], { ...io, cwd: root })
    const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = '']) => flag)
    expect(flags.length).toBeGreaterThan(20)
    const elsewhere = [
      '--help',
      '--base-url',
      '--server',
      '--api-key-env',
      '--price',
      '--isolation',
      '--door',
    ]
    for (const flag of flags.filter((one) => !elsewhere.includes(one)))
      expect(text.includes(flag), flag).toBe(true)
  })

  test('every folder and room in the README', () => {
    const text = textOfPage('README.md')
    const folders = ['packages', 'environments', 'conformance', 'bench', 'docs', 'scripts']
    for (const folder of folders.filter((name) => existsSync(join(root, name))))
      expect(text).toContain(`${folder}/`)
    const source = join(root, 'packages/quintain/src')
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      if (entry.isDirectory())
        expect(text, `room ${entry.name}`).toMatch(new RegExp(`^\\| \`${entry.name}\``, 'm'))
    }
  })
})
