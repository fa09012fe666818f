import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { canary, endServed, folderWith, shop } from './__fixtures__/served.ts'
import { runCli } from './run-cli.ts'

afterEach(endServed)

async function exported(cwd: string, argv: readonly string[]) {
  let out = ''
  let err = ''
  const code = await runCli(['export', ...argv], {
    stdout: {
      write: (text: string) => {
        out += text
      },
    },
    stderr: {
      write: (text: string) => {
        err += text
      },
    },
    env: {},
    cwd,
  })
  return { code, out, err }
}

/** Files under a folder by their path in it. */
async function filesIn(dir: string): Promise<Map<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.slice(dir.length + 1), await readFile(file, 'utf8')] as const),
    ),
  )
}

describe('quintain export for the other side of a door', () => {
  test.each([
    ['openenv', []],
    ['nemo-gym', []],
    ['hud', []],
    ['verifiers', ['--for=v1']],
    ['verifiers', ['--for=v0']],
  ])('%s %j: all files are told, no secret is in them, no run is left', async (format, flags) => {
    const cwd = await folderWith({ shop })
    const argv = [format, './shop', '--out', 'written', '--isolation', 'inline', ...flags]
    const { code, out, err } = await exported(cwd, argv)
    expect(err).not.toMatch(/^error/m)
    expect(code).toBe(0)
    const files = await filesIn(join(cwd, 'written'))
    expect(out.trim().split('\n').sort()).toEqual(
      [...files.keys()].map((name) => join('written', name)).sort(),
    )
    expect(files.size).toBeGreaterThan(0)
    for (const [name, text] of files) expect(text, name).not.toContain(canary)
    expect(out + err).not.toContain(canary)
    expect((await readdir(cwd)).sort()).toEqual(['node_modules', 'shop', 'written'])
  })

  test.each([
    ['openenv', []],
    ['nemo-gym', []],
    ['verifiers', ['--for=v1']],
    ['verifiers', ['--for=v0']],
  ])(
    '%s %j: an environment by a relative path is found from wherever what was written is moved to',
    async (format, flags) => {
      const cwd = await folderWith({ shop })
      const argv = [format, './shop', '--out', 'written', '--isolation', 'inline', ...flags]
      expect((await exported(cwd, argv)).code).toBe(0)
      const texts = [...(await filesIn(join(cwd, 'written'))).values()].join('\n')
      expect(texts).toContain(join(cwd, 'shop'))
      expect(texts).not.toMatch(/["' ]\.\/shop/)
    },
  )

  test('a folder that holds something is kept, unless --force says otherwise', async () => {
    const cwd = await folderWith({ shop })
    await mkdir(join(cwd, 'written'))
    await writeFile(join(cwd, 'written', 'mine'), 'mine')
    const argv = ['hud', './shop', '--out', 'written', '--isolation', 'inline']
    expect(await exported(cwd, argv)).toMatchObject({ code: 2, out: '', err: /output_exists/ })
    expect(await readdir(join(cwd, 'written'))).toEqual(['mine'])
    expect(await exported(cwd, [...argv, '--force'])).toMatchObject({ code: 0 })
    expect(await readFile(join(cwd, 'written', 'mine'), 'utf8')).toBe('mine')
  })

  test('what cannot be written is refused before any folder is made', async () => {
    const cwd = await folderWith({ shop })
    const rest = ['./shop', '--isolation', 'inline']
    expect(await exported(cwd, ['hud', ...rest])).toMatchObject({ code: 2, err: /--out FOLDER/ })
    const out = ['--out', 'written']
    expect(await exported(cwd, ['hud', ...rest, ...out, '--url', 'nowhere'])).toMatchObject({ code: 2 })
    expect(await exported(cwd, ['hud', './shops', ...out])).toMatchObject({ code: 4 })
    expect(await exported(cwd, ['verifiers', ...rest, ...out, '--for', 'v2'])).toMatchObject({ code: 2 })
    expect((await readdir(cwd)).sort()).toEqual(['node_modules', 'shop'])
  })

  test('is apart from writing graders for hosted platforms', async () => {
    const cwd = await folderWith({ shop })
    expect(await exported(cwd, ['nowhere', './shop'])).toMatchObject({ code: 2, err: /openai/ })
  })
})
