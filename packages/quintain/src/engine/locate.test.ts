import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changedFiles, environmentDigest, locateEnvironment } from './locate.ts'

let root: string
let pkg: string

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-locate-')))
  pkg = join(root, 'env')
  await mkdir(join(pkg, 'src'), { recursive: true })
  await mkdir(join(pkg, 'data'))
  await writeFile(
    join(pkg, 'package.json'),
    JSON.stringify({
      name: 'env',
      version: '1.2.3',
      exports: './dist/index.js',
      files: ['dist', 'notes.txt'],
      dependencies: { linked: '*' },
      quintain: { contract: 1, source: './src/index.ts' },
    }),
  )
  await writeFile(join(pkg, 'src', 'index.ts'), 'export default 1\n')
  await writeFile(join(pkg, 'data', 'words.txt'), 'crane\n')
  await writeFile(join(pkg, 'tasks.jsonl'), '{"id":"a"}\n')
  await writeFile(join(pkg, '.gitignore'), '# made here\n/out/\n')
})

afterAll(() => rm(root, { recursive: true, force: true }))

const digest = async () => environmentDigest(await locateEnvironment(pkg), {})

describe('the digest of an environment', () => {
  test('does not move with what a shell, an editor or a person leaves beside it', async () => {
    const before = await digest()
    for (const stray of [
      'before.txt',
      'server.log',
      'o1',
      'README.md',
      'server.pid',
      'page.html',
      'cost.svg',
    ]) {
      await writeFile(join(pkg, stray), `${stray}\n`)
    }
    await mkdir(join(pkg, 'out'))
    await writeFile(join(pkg, 'out', 'x.json'), '{}')
    await mkdir(join(pkg, 'runs', 'r1'), { recursive: true })
    await writeFile(join(pkg, 'runs', 'r1', 'orders.jsonl'), '')
    await writeFile(join(pkg, 'src', 'index.test.ts'), 'test\n')
    expect(await digest()).toEqual(before)
  })

  test('moves with code, data, what is published, and options, and says which file it was', async () => {
    const before = await digest()
    for (const [path, text] of [
      ['src/index.ts', 'export default 2\n'],
      ['data/words.txt', 'slate\n'],
      ['tasks.jsonl', '{"id":"b"}\n'],
      ['notes.txt', 'published\n'],
    ] as const) {
      await writeFile(join(pkg, path), text)
    }
    const after = await digest()
    expect(after.digest).not.toBe(before.digest)
    expect(changedFiles(before.files, after.files).sort()).toEqual([
      'changed data/words.txt',
      'changed src/index.ts',
      'changed tasks.jsonl',
      'new notes.txt',
    ])
    await rm(join(pkg, 'tasks.jsonl'))
    expect(changedFiles(after.files, (await digest()).files)).toEqual(['gone tasks.jsonl'])
    const location = await locateEnvironment(pkg)
    const one = await environmentDigest(location, { level: 1 })
    expect(one.digest).not.toBe((await environmentDigest(location, { level: 2 })).digest)
  })
})

describe('what the process of an environment may read', () => {
  test('covers a link out of node_modules, and what the linked package needs, but no folder in between', async () => {
    const elsewhere = join(root, 'elsewhere', 'packages', 'linked')
    await mkdir(elsewhere, { recursive: true })
    await mkdir(join(root, 'elsewhere', 'node_modules'))
    await mkdir(join(pkg, 'node_modules'))
    await symlink(elsewhere, join(pkg, 'node_modules', 'linked'))
    const { readRoots, isPath } = await locateEnvironment(pkg)
    expect(readRoots).toEqual(
      expect.arrayContaining([
        pkg,
        join(pkg, 'node_modules'),
        elsewhere,
        join(root, 'elsewhere', 'node_modules'),
      ]),
    )
    expect(readRoots).not.toContain(root)
    expect(readRoots).not.toContain(join(root, 'elsewhere'))
    expect(isPath).toBe(true)
  })
})

describe('an environment that is not there', () => {
  test.each([
    ['./nowhere', /there is no .*nowhere/],
    ['no-such-package', /no package of that name is installed here/],
  ])('%s is told so', async (reference, message) => {
    await expect(locateEnvironment(reference, root)).rejects.toMatchObject({
      code: 'environment_not_found',
      message: expect.stringMatching(message) as string,
    })
  })

  test('a contract of a newer Quintain is refused', async () => {
    const newer = join(root, 'newer')
    await mkdir(newer)
    await writeFile(join(newer, 'package.json'), JSON.stringify({ name: 'n', quintain: { contract: 9 } }))
    await expect(locateEnvironment(newer)).rejects.toMatchObject({ code: 'contract_unsupported' })
  })
})
