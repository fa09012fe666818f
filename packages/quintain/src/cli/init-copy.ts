import { existsSync, globSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { printableLine } from '../report/index.ts'
import type { CliIo } from './io.ts'
import { checkedTarget, nextSteps, ownDependency, packageRoot, templateOf } from './new-package.ts'

type Json = Record<string, unknown>

/** What is made anew in a copy, or belongs to the folder that was copied. */
const leftOut = new Set([
  'node_modules',
  'dist',
  'runs',
  '.git',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
])

/** An environment's package with its source. */
interface Original {
  dir: string
  manifest: Json & { name: string }
}

/**
 * Makes a package of an environment's source: renamed, with what its tests and its compiler need. Nothing of it is in its
 * folder before all of it is made.
 *
 * Throws `usage`, with what to give instead, for an environment that is not here or is here without its source.
 */
export async function initCopy(
  name: string | undefined,
  { copy, dir }: { copy: string; dir?: string },
  io: CliIo,
): Promise<void> {
  if (name === undefined)
    throw new QuintainError('usage', `Give the copy a name: \`npx quintain init my-desk --copy ${copy}\`.`)
  const original = await originalOf(copy, io.cwd)
  const target = await checkedTarget(name, dir, io.cwd)
  const draft = `${target}.making-${process.pid}-${Date.now()}`
  try {
    await cp(original.dir, draft, {
      recursive: true,
      filter: (path) => !leftOut.has(relative(original.dir, path).split(/[\\/]/)[0] ?? ''),
    })
    await renameIn(draft, original, name)
    await writeScaffold(draft, original, { name, own: await ownDependency(target) })
    await mkdir(target, { recursive: true })
    for (const entry of await readdir(draft)) await rename(join(draft, entry), join(target, entry))
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  const shown = relative(io.cwd, target) || '.'
  const licence = original.manifest['license']
  const lines = [
    `Made ${name} in ${shown}, a copy of ${original.manifest.name} with its tests.`,
    ...(typeof licence === 'string'
      ? [`Its licence is ${licence}, and that of what you keep of it stays so.`]
      : []),
    '',
    ...nextSteps(shown, io, ['  npm test', '  npx quintain eval . --policy script:oracle']),
  ]
  for (const line of lines) io.stdout.write(`${printableLine(line)}\n`)
}

/** Finds an environment by the name of its folder in the checkout, by its path, or as an installed package. */
async function originalOf(copy: string, cwd: string): Promise<Original> {
  const places = [
    resolve(cwd, copy),
    ...(/^[\w-]+$/.test(copy) ? [resolve(packageRoot, '../../environments', copy)] : []),
    ...nodeModules(cwd).flatMap((modules) => [join(modules, copy), join(modules, '@quintain', copy)]),
  ]
  let built: string | undefined
  for (const dir of places) {
    const manifest = await manifestIn(dir)
    if (manifest === undefined) continue
    const { source } = manifest['quintain'] as { source?: unknown }
    if (typeof source === 'string' && existsSync(join(dir, source))) return { dir, manifest }
    built ??= manifest.name
  }
  if (built !== undefined) {
    throw new QuintainError(
      'usage',
      `${built} is here as built JavaScript only, as packages are published. --copy needs its source: a checkout of the repository, and there \`npx quintain init my-copy --copy ${copy} --dir ../my-copy\`, or the path of one.`,
      { facts: { copy } },
    )
  }
  throw new QuintainError(
    'usage',
    `There is no environment ${JSON.stringify(copy)} to copy. Give the path of one with its source (a folder whose package.json has "quintain"), or the name of a folder of environments/ when you work in a checkout.`,
    { facts: { copy } },
  )
}

function nodeModules(cwd: string): string[] {
  const found: string[] = []
  for (let dir = cwd; ; dir = dirname(dir)) {
    found.push(join(dir, 'node_modules'))
    if (dirname(dir) === dir) return found
  }
}

/** The manifest of an environment's package; undefined where there is none. */
async function manifestIn(dir: string): Promise<Original['manifest'] | undefined> {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'))
    if (typeof manifest !== 'object' || manifest === null) return undefined
    const { name, quintain } = manifest as Json
    return typeof name === 'string' && typeof quintain === 'object' && quintain !== null
      ? { ...(manifest as Json), name }
      : undefined
  } catch {
    return undefined
  }
}

/** Puts the new name in the place of the old one, and takes links out that lead out of the folder. */
async function renameIn(draft: string, { manifest, dir }: Original, name: string): Promise<void> {
  for (const file of globSync('**/*.{ts,md}', { cwd: draft })) {
    const path = join(draft, file)
    const text = await readFile(path, 'utf8')
    let renamed = text
      .replaceAll(manifest.name, () => name)
      .replaceAll(new RegExp(`\\./environments/${basename(dir)}\\b`, 'g'), '.')
    if (file.endsWith('.md')) renamed = renamed.replace(/\[([^\]]*)\]\((?:\.\.\/)[^)]*\)/g, '$1')
    if (renamed !== text) await writeFile(path, renamed)
  }
}

/** Manifest, compiler settings and ignored files, as a new package has them. */
async function writeScaffold(
  draft: string,
  { dir, manifest }: Original,
  { name, own }: { name: string; own: string },
): Promise<void> {
  const template = templateOf('environment')
  const plain = JSON.parse(await readFile(join(template, 'package.json'), 'utf8')) as Record<string, Json>
  const dependencies = { ...(manifest['dependencies'] as Json | undefined), quintain: own }
  const devDependencies = {
    ...(manifest['devDependencies'] as Json | undefined),
    ...plain['devDependencies'],
  }
  const known = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)])
  for (const used of await importedPackages(draft))
    if (!known.has(used)) Object.assign(devDependencies, await installed(used, dir))
  const { description, license, quintain, exports, files, engines } = manifest
  const made: Json = {
    name,
    version: '0.1.0',
    private: true,
    description,
    license,
    type: 'module',
    engines,
    quintain,
    exports,
    files,
    scripts: {
      ...plain['scripts'],
      // Those of a whole environment take longer than a unit test.
      test: 'vitest run --testTimeout=60000 --hookTimeout=60000',
      eval: 'quintain eval . --policy script:oracle',
    },
    dependencies,
    devDependencies,
  }
  await writeFile(join(draft, 'package.json'), `${JSON.stringify(made, null, 2)}\n`)
  const settings = JSON.parse(await readFile(join(template, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: Json
  }
  settings.compilerOptions['lib'] = ['es2024', 'esnext.iterator', 'esnext.disposable']
  await writeFile(join(draft, 'tsconfig.json'), `${JSON.stringify(settings, null, 2)}\n`)
  const build = JSON.parse(await readFile(join(template, 'tsconfig.build.json'), 'utf8')) as Json
  build['exclude'] = ['src/**/*.test.ts', 'src/**/__fixtures__']
  await writeFile(join(draft, 'tsconfig.build.json'), `${JSON.stringify(build, null, 2)}\n`)
  await writeFile(join(draft, '.gitignore'), await readFile(join(template, '_gitignore'), 'utf8'))
}

/** Packages that source and tests import, whoever installs them where the original lies. */
async function importedPackages(draft: string): Promise<Set<string>> {
  const found = new Set<string>()
  for (const file of globSync('src/**/*.ts', { cwd: draft })) {
    const text = await readFile(join(draft, file), 'utf8')
    for (const [, from = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"\n]+)['"]/g)) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? ''
      if (name === '' || /^(?:\.|node:)/.test(from) || builtinModules.includes(from)) continue
      found.add(name)
    }
  }
  return found
}

/** A package in the version that the original runs with; nothing for one that is not found, which `npm test` will tell. */
async function installed(name: string, dir: string): Promise<Record<string, string>> {
  for (const modules of nodeModules(dir)) {
    const text = await readFile(join(modules, name, 'package.json'), 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const { version } = JSON.parse(text) as { version?: unknown }
    return typeof version === 'string' ? { [name]: version } : {}
  }
  return {}
}
