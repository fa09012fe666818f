import { createHash } from 'node:crypto'
import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { canonicalJson, contractVersion, framedDigest, QuintainError } from '../core/index.ts'

/** Where an environment's code lies, found without running any of it. */
export interface EnvironmentLocation {
  name: string
  version: string
  contract: number
  /** URL of the module whose default export is the environment. */
  entry: string
  packageDir: string
  /** Files and folders that its process must be able to read: itself and what it depends on. */
  readRoots: string[]
  /** The reference as it was given. */
  reference: string
  /** It is a path, and not the name of an installed package. */
  isPath: boolean
}

interface PackageJson {
  name?: string
  version?: string
  exports?: unknown
  main?: string
  files?: string[]
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  quintain?: { contract?: number; source?: string }
}

/**
 * Finds an environment by package name, folder or file.
 * Throws `environment_not_found` and `contract_unsupported`.
 */
export async function locateEnvironment(
  reference: string,
  cwd: string = process.cwd(),
): Promise<EnvironmentLocation> {
  const found = find(reference, cwd)
  const packageDir = realpathSync(found.packageDir)
  const manifest = await readPackage(packageDir)
  const contract = manifest.quintain?.contract ?? contractVersion
  if (contract > contractVersion) {
    throw new QuintainError(
      'contract_unsupported',
      `${manifest.name ?? reference} is written for contract ${contract}; this Quintain speaks up to ${contractVersion}. Install a newer quintain.`,
      { facts: { contract } },
    )
  }
  const file = found.file === undefined ? entryOf(packageDir, manifest, reference) : realpathSync(found.file)
  return {
    name: manifest.name ?? relative(cwd, file),
    version: manifest.version ?? '0.0.0',
    contract,
    entry: pathToFileURL(file).href,
    packageDir,
    readRoots: readRoots(packageDir, manifest),
    reference,
    isPath: found.isPath,
  }
}

function find(reference: string, cwd: string): { packageDir: string; file?: string; isPath: boolean } {
  const path = isAbsolute(reference) ? reference : resolve(cwd, reference)
  const looksLikePath = /^\.{0,2}[/\\]/.test(reference) || isAbsolute(reference)
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) {
      if (existsSync(join(path, 'package.json'))) return { packageDir: path, isPath: true }
      throw notFound(reference, `${path} has no package.json`)
    }
    let dir = dirname(path)
    while (!existsSync(join(dir, 'package.json'))) {
      const parent = dirname(dir)
      if (parent === dir) return { packageDir: dirname(path), file: path, isPath: true }
      dir = parent
    }
    return { packageDir: dir, file: path, isPath: true }
  }
  if (!looksLikePath) {
    for (let dir = cwd; ; dir = dirname(dir)) {
      const candidate = join(dir, 'node_modules', reference)
      if (existsSync(join(candidate, 'package.json'))) return { packageDir: candidate, isPath: false }
      if (dirname(dir) === dir) break
    }
  }
  throw notFound(
    reference,
    looksLikePath
      ? `there is no ${path}`
      : `there is no such folder, and no package of that name is installed here (npm install ${reference})`,
  )
}

function notFound(reference: string, why: string): QuintainError {
  return new QuintainError('environment_not_found', `Environment "${reference}" was not found: ${why}.`, {
    facts: { reference },
  })
}

async function readPackage(dir: string): Promise<PackageJson> {
  const path = join(dir, 'package.json')
  if (!existsSync(path)) return {}
  let read: unknown
  try {
    read = JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new QuintainError('environment_not_found', `${path} is not valid JSON.`, { cause, facts: { path } })
  }
  const { error, data } = packageJson.safeParse(read)
  if (data !== undefined) return data as PackageJson
  const issue = error!.issues[0]!
  const field = issue.path.join('.')
  throw new QuintainError(
    'environment_load_failed',
    `${path}: ${field === '' ? 'the file' : field} is not valid (${issue.message}).`,
    { facts: { path, field } },
  )
}

const names = z.record(z.string(), z.string()).optional()
/** What is read of a `package.json`; the rest of it is npm's. */
const packageJson = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  main: z.string().optional(),
  files: z.array(z.string()).optional(),
  dependencies: names,
  peerDependencies: names,
  devDependencies: names,
  quintain: z
    .looseObject({ contract: z.int().positive().optional(), source: z.string().optional() })
    .optional(),
})

/** Source where it is at hand (a checkout), else what the package exports. */
function entryOf(packageDir: string, manifest: PackageJson, reference: string): string {
  const installed = packageDir.split(sep).includes('node_modules')
  const { source } = manifest.quintain ?? {}
  if (!installed && source !== undefined && existsSync(join(packageDir, source)))
    return join(packageDir, source)
  const target = exportTarget(manifest.exports) ?? manifest.main ?? 'index.js'
  const file = join(packageDir, target)
  if (existsSync(file)) return file
  throw notFound(reference, `its entry ${relative(packageDir, file)} does not exist; build the package first`)
}

function exportTarget(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports
  if (typeof exports !== 'object' || exports === null) return undefined
  const map = exports as Record<string, unknown>
  if ('.' in map) return exportTarget(map['.'])
  for (const condition of ['import', 'node', 'default']) {
    const target = exportTarget(map[condition])
    if (target !== undefined) return target
  }
  return undefined
}

/** A package that a link leads to, and the `node_modules` above it, which hold what it needs in turn. */
function withModules(dir: string): string[] {
  const roots = [dir]
  for (let at = dir; dirname(at) !== at; at = dirname(at)) {
    const modules = join(at, 'node_modules')
    if (existsSync(modules)) roots.push(modules)
  }
  return roots
}

/** The package, every `node_modules` above it, and where its links lead; never the folders in between, which may hold keys. */
function readRoots(packageDir: string, manifest: PackageJson): string[] {
  const roots = new Set<string>([packageDir])
  const dependencies = Object.keys({
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...manifest.devDependencies,
  })
  for (let dir = packageDir; ; dir = dirname(dir)) {
    const modules = join(dir, 'node_modules')
    if (existsSync(modules)) {
      roots.add(modules)
      for (const name of dependencies) {
        const installed = join(modules, name)
        if (existsSync(installed)) for (const root of withModules(realpathSync(installed))) roots.add(root)
      }
    }
    if (dirname(dir) === dir) break
  }
  return [...roots]
}

const leftOut = new Set([
  'node_modules',
  'runs',
  'coverage',
  'dist',
  'package-lock.json',
  'npm-shrinkwrap.json',
])
/** Files beside the package's own folders that a shell, a server, a person or a report of ours leaves there; listed in `files`, they count. */
const strayFile = /^[^.]*$|\.(md|txt|log|out|err|pid|tmp|tgz|html|svg)$/i

/** What an environment is made of: the digest of the whole, and of each file by path. */
export interface EnvironmentDigest {
  /** Hex SHA-256 of the files, sorted and length-framed, the package's own lock, and the options. */
  digest: string
  files: Record<string, string>
}

/** The identity of an environment. Notes, logs and what `.gitignore` names beside its folders are no part of it. */
export async function environmentDigest(
  location: EnvironmentLocation,
  options: Record<string, unknown>,
): Promise<EnvironmentDigest> {
  const { packageDir } = location
  const fromDist = location.entry.includes('/dist/')
  const manifest = await readPackage(packageDir)
  const listed = new Set(manifest.files?.map((name) => name.replace(/^\.\//, '').replace(/\/$/, '')))
  const ignored = await ignoredNames(packageDir)
  const paths: string[] = []
  const walk = async (dir: string): Promise<void> => {
    for (const entry of await readdir(join(packageDir, dir), { withFileTypes: true })) {
      const { name } = entry
      const path = dir === '' ? name : `${dir}/${name}`
      if (name.startsWith('.')) continue
      if (leftOut.has(name) && !(fromDist && name === 'dist')) continue
      if (ignored.has(name) && !listed.has(path) && !(fromDist && name === 'dist')) continue
      if (/\.test(-d)?\.[cm]?[jt]s$/.test(name)) continue
      if (dir === '' && entry.isFile() && strayFile.test(name) && !listed.has(name)) continue
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) paths.push(path)
    }
  }
  await walk('')
  for (const lock of ['package-lock.json', 'npm-shrinkwrap.json']) {
    if (existsSync(join(packageDir, lock))) paths.push(lock)
  }
  const files: Record<string, string> = {}
  for (const path of paths.sort()) files[path] = await fileDigest(join(packageDir, path))
  return { digest: framedDigest([...Object.entries(files).flat(), canonicalJson(options)]), files }
}

/** Plain names in the package's `.gitignore`; patterns are left to git. */
async function ignoredNames(packageDir: string): Promise<Set<string>> {
  const text = await readFile(join(packageDir, '.gitignore'), 'utf8').catch(() => '')
  const names = text
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/^\//, '').replace(/\/$/, ''))
    .filter((line) => line !== '' && !/^[#!]|[*?[/]/.test(line))
  return new Set(names)
}

/** How two states of an environment differ, for people: `changed src/index.ts, new notes.ts`; empty when the files are equal. */
export function changedFiles(before: Record<string, string>, now: Record<string, string>): string[] {
  const changes: string[] = []
  for (const [path, digest] of Object.entries(now)) {
    if (before[path] === undefined) changes.push(`new ${path}`)
    else if (before[path] !== digest) changes.push(`changed ${path}`)
  }
  for (const path of Object.keys(before)) if (now[path] === undefined) changes.push(`gone ${path}`)
  return changes
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
