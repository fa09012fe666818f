import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { environment } from '../../core/index.ts'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import { openSessionCore } from '../session/index.ts'
import type { ListedTask, ServedEnvironment, SessionCore } from '../session/session.ts'
import { exportVerifiers } from './export-verifiers.ts'
import { packageNames, pyproject, pythonVersion, tomlString } from './package-text.ts'

const run = promisify(execFile)
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'quintain-export-'))
  folders.push(made)
  return made
}

/** Runs Python with some JSON on its standard input; undefined where there is none that reads TOML. */
async function python(script: string, input: unknown): Promise<unknown> {
  try {
    await run('python3', ['-c', 'import tomllib'])
  } catch {
    return undefined
  }
  const file = join(folder(), 'input.json')
  writeFileSync(file, JSON.stringify(input))
  const { stdout } = await run('python3', ['-c', script, file], { maxBuffer: 2 ** 26 })
  return JSON.parse(stdout)
}

/** Text with everything that ends a string, a comment or a line somewhere. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '"',
        '"""',
        "'",
        "'''",
        '\\',
        '\n',
        '\r',
        '\u2028',
        '\u0000',
        '\u007f',
        '%s',
        '{x}',
        '`',
        '#',
        '\ud800',
        'é',
        '😀',
        '")\nimport os',
      ),
    )
    .map((parts) => parts.join('')),
)

const served = (given: Partial<ServedEnvironment>): ServedEnvironment => ({
  ...fakeCore().environment,
  ...given,
})

/** A core whose environment and one task say hostile things everywhere. */
function hostileCore(text: string): SessionCore {
  const core = fakeCore()
  const task: ListedTask = {
    id: text,
    split: text,
    index: 0,
    task: { id: text, split: text, prompt: text, data: { [text]: text } },
  }
  const about = { name: text, description: text, rewards: { [text]: 0.5 }, metrics: [text] }
  return {
    ...core,
    environment: served(about),
    splits: [{ name: text, type: 'test', tasks: 1 }],
    tasks: async () => [task],
  }
}

describe('a package for verifiers', () => {
  test('is Python and TOML whatever the environment says, and says the same', async () => {
    const texts = ['\n', ...fc.sample(hostile, 40)]
    const written = await Promise.all(
      texts.flatMap((text) =>
        (['v1', 'v0'] as const).map(async (version) => {
          const out = folder()
          await exportVerifiers({ core: hostileCore(text), reference: text, out, for: version, url: text })
          return { out, text: text.toWellFormed() }
        }),
      ),
    )
    const script = `
import json, pathlib, sys, tomllib, unicodedata
read = []
for one in json.load(open(sys.argv[1])):
    out = pathlib.Path(one["out"])
    for file in out.glob("*/*.py"):
        compile(file.read_bytes(), str(file), "exec")
    project = tomllib.loads((out / "pyproject.toml").read_text("utf-8"))["project"]
    about = json.loads((out / "quintain_fake" / "environment.json").read_text("utf-8"))
    with (out / "quintain_fake" / "tasks.jsonl").open(encoding="utf-8") as lines:
        tasks = [json.loads(line) for line in lines]
    read.append([project["name"], project["description"], about["name"], list(about["rewards"]), tasks])
print(json.dumps(read))
`
    const read = (await python(
      script,
      written.map(({ out }) => ({ out })),
    )) as [string, string, string, string[], ListedTask[]][] | undefined
    if (read === undefined) return
    for (const [at, [name, description, own, rewards, tasks]] of read.entries()) {
      const { text } = written[at]!
      expect(name).toBe('quintain-fake')
      expect(description).not.toMatch(/[\r\n]/)
      expect([own, rewards, tasks].map((value) => JSON.stringify(value).toWellFormed())).toEqual(
        [own, rewards, tasks].map((value) => JSON.stringify(value)),
      )
      expect(own.toWellFormed()).toBe(text)
      expect(tasks.map(({ id }) => id.toWellFormed())).toEqual([text])
    }
  }, 60_000)

  test('holds the public part of every task, its rewards and their weights, and no secret', async () => {
    const env = environment({
      tasks: ['train', 'test'].flatMap((split) =>
        [0, 1].map((n) => ({
          id: `${split}-${n}`,
          split,
          prompt: `Question ${n}?`,
          data: { level: n },
          secret: { gold: `GOLD-${split}-${n}` },
        })),
      ),
      rewards: { right: { weight: 0.75, reward: () => 1 }, neat: { weight: 0.25, reward: () => 0 } },
      metrics: { words: () => 1 },
    })
    const core = await openSessionCore({ env, dir: join(folder(), 'run') })
    onTestFinished(() => core.close())
    for (const version of ['v1', 'v0'] as const) {
      const out = join(folder(), 'package')
      mkdirSync(out)
      const { files } = await exportVerifiers({ core, reference: 'env', out, for: version })
      const texts = files.map((file) => readFileSync(join(out, file), 'utf8'))
      expect(texts.join('\n')).not.toContain('GOLD')
      const read = (name: string) => texts[files.findIndex((file) => file.endsWith(name))]!
      const tasks = read('tasks.jsonl')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ListedTask)
      expect(tasks.map(({ id, index }) => [id, index])).toEqual([
        ['train-0', 0],
        ['train-1', 1],
        ['test-0', 0],
        ['test-1', 1],
      ])
      expect(tasks[1]!.task).toMatchObject({ prompt: 'Question 1?', data: { level: 1 } })
      expect(JSON.parse(read('environment.json'))).toMatchObject({
        for: version,
        protocol: 1,
        digest: core.environment.digest,
        rewards: { right: 0.75, neat: 0.25 },
        metrics: ['words'],
        default_split: 'test',
        url: null,
      })
      expect(read('pyproject.toml')).toContain(
        version === 'v1' ? '"verifiers>=0.3.1,<0.5"' : '"verifiers>=0.2,<0.3"',
      )
    }
  })

  test('is named after the environment', () => {
    expect(packageNames(served({ slug: 'two_words' }))).toEqual({
      distribution: 'quintain-two-words',
      module: 'quintain_two_words',
    })
    const text = pyproject({
      names: packageNames(served({})),
      environment: served({ description: '' }),
      requires: [],
      python: '>=3.11',
    })
    expect(text).toContain('description = "@quintain/fake"')
  })

  test.each([
    ['1.2.3', '1.2.3'],
    ['1.2.3-alpha.4', '1.2.3a4'],
    ['1.2.3-beta', '1.2.3b0'],
    ['1.2.3-rc.1', '1.2.3rc1'],
    ['1.2.3-canary.7', '1.2.3.dev0'],
    ['1.2.3-rc.1.x', '1.2.3.dev0'],
    ['1.2.3+build', '1.2.3'],
    ['next', '0.0.0.dev0'],
  ])('of version %s has version %s', (version, wanted) => {
    expect(pythonVersion(version)).toBe(wanted)
  })

  test('strings of TOML hold no character that TOML forbids', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(tomlString(text)).toMatch(/^"(?:[^"\\\u0000-\u001f\u007f]|\\["\\bfnrt]|\\u[0-9a-fA-F]{4})*"$/u)
      }),
    )
  })
})
