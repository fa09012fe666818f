import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from './run-cli.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

let root: string
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-init-copy-')))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
  await files('theirs/coin', {
    'package.json': JSON.stringify({
      name: '@them/coin',
      license: 'MIT',
      quintain: { contract: 1, source: './src/index.ts' },
      files: ['dist', 'sides.json'],
      scripts: { build: 'their own' },
      dependencies: { quintain: '0.1.0', zod: '4.6.7' },
    }),
    'README.md':
      '# @them/coin\n\nA [Quintain](../../README.md) environment; see [the source](src/index.ts).\n',
    'sides.json': '["heads", "tails"]',
    'dist/old.js': 'old',
    'src/index.ts': `import { readFileSync } from 'node:fs'
import { environment } from 'quintain'

const sides = JSON.parse(readFileSync(new URL('../sides.json', import.meta.url), 'utf8')) as string[]

/** Of @them/coin. */
export default environment({
  tasks: sides.map((side, i) => ({ id: \`throw-\${i}\`, secret: side })),
  world: ({ secret }) => {
    const state = { right: false }
    return {
      open: () => 'Call it.',
      reply: (said) => {
        state.right = said === secret
        return { content: '', done: 'thrown' }
      },
      finish: () => state,
    }
  },
  rewards: { right: ({ state }) => Number(state.right) },
  success: ({ rewards }) => rewards.right === 1,
  *oracle({ task }) {
    yield task.secret
  },
})
`,
    'src/index.test.ts': `import fc from 'fast-check'
import { testEnvironment } from 'quintain/vitest'
import { expect, test } from 'vitest'
import env from './index.ts'

testEnvironment(env)

test('draws', () => {
  fc.assert(fc.property(fc.boolean(), (side) => {
    expect(typeof side).toBe('boolean')
  }))
})
`,
  })
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function files(folder: string, contents: Record<string, string>) {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(join(root, folder, name, '..'), { recursive: true })
    await writeFile(join(root, folder, name), text)
  }
}

async function init(...argv: string[]) {
  let [out, err] = ['', '']
  const code = await runCli(['init', ...argv], {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: {},
    cwd: root,
  })
  return { code, out, err }
}

function run(script: string, ...argv: string[]) {
  const path = join(repository, 'node_modules', script)
  const { status, stdout } = spawnSync(process.execPath, [path, ...argv], { encoding: 'utf8' })
  return { status, stdout }
}

describe('init --copy', () => {
  test('makes a package of its own that type-checks and passes its tests', async () => {
    const made = await init('my-coin', '--copy', 'theirs/coin')
    expect(made.code, made.err).toBe(0)
    expect(made.out).toContain('a copy of @them/coin')
    expect(made.out).toContain('licence is MIT')
    const dir = join(root, 'my-coin')
    expect((await readdir(dir)).sort()).toEqual([
      '.gitignore',
      'README.md',
      'package.json',
      'sides.json',
      'src',
      'tsconfig.build.json',
      'tsconfig.json',
    ])
    const manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as unknown
    expect(manifest).toMatchObject({
      name: 'my-coin',
      private: true,
      license: 'MIT',
      files: ['dist', 'sides.json'],
      scripts: { build: 'tsc -p tsconfig.build.json', test: expect.stringContaining('vitest run') },
      dependencies: { quintain: expect.stringMatching(/^file:/), zod: '4.6.7' },
      // What the tests of the original found beside it.
      devDependencies: { vitest: expect.any(String), 'fast-check': expect.stringMatching(/^\d/) },
    })
    expect(await readFile(join(dir, 'README.md'), 'utf8')).toBe(
      '# my-coin\n\nA Quintain environment; see [the source](src/index.ts).\n',
    )
    expect(await readFile(join(dir, 'src/index.ts'), 'utf8')).toContain('Of my-coin.')
    expect(run('typescript/bin/tsc', '-p', dir)).toEqual({ status: 0, stdout: '' })
    const tests = run('vitest/vitest.mjs', 'run', '--root', dir)
    expect(tests.status, tests.stdout).toBe(0)
  })

  test('knows the environments of the checkout by name, and they compile as packages of their own', async () => {
    for (const name of ['orders', 'wordle', 'gsm8k']) {
      expect(await init(`my-${name}`, '--copy', name)).toMatchObject({ code: 0 })
      const dir = join(root, `my-${name}`)
      expect(run('typescript/bin/tsc', '-p', dir)).toEqual({ status: 0, stdout: '' })
      expect(await readFile(join(dir, 'README.md'), 'utf8')).not.toMatch(/\]\(\.\.|@quintain\//)
    }
  })

  test.each([
    [['x', '--copy', 'nothing-of-that-name'], 'There is no environment "nothing-of-that-name" to copy'],
    [['x', '--copy', 'built'], '@them/built is here as built JavaScript only'],
    [['--copy', 'theirs/coin'], 'Give the copy a name'],
    [['x', '--copy', 'theirs/coin', '--from', 'x.jsonl'], '--from or --copy'],
    [['theirs', '--copy', 'theirs/coin'], 'is not empty'],
    [['X Y', '--copy', 'theirs/coin'], 'no name for an npm package'],
    [['../my-desk', '--copy', 'theirs/coin'], '--dir ../my-desk'],
  ])('%j is refused and leaves nothing behind', async (argv, message) => {
    await files('built', {
      'package.json': '{"name":"@them/built","quintain":{"contract":1,"source":"./src/index.ts"}}',
    })
    const { code, err } = await init(...argv)
    expect(err).toContain(message)
    expect(code).toBe(2)
    expect(existsSync(join(root, 'x'))).toBe(false)
    expect((await readdir(root)).filter((name) => name.includes('making'))).toEqual([])
  })
})
