import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { QuintainError } from '../core/index.ts'
import type { CliIo } from './io.ts'

/** The package that this code belongs to, from `src/cli` as from `dist/cli`. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

/** A name that npm accepts for a new package: lower case, no spaces, at most 214 characters. */
const npmName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

function checkName(name: string): void {
  if (npmName.test(name) && name.length <= 214 && name !== 'node_modules' && name !== 'favicon.ico') return
  if (/^[./\\]|[/\\]$/.test(name) || /^[^@].*[/\\]/.test(name))
    throw new QuintainError(
      'usage',
      `${JSON.stringify(name)} is a path, and what is asked for is the package's name; say where it is to be with --dir: NAME --dir ${name}`,
      { facts: { name } },
    )
  const better = name
    .toLowerCase()
    .replace(/[^a-z0-9._~/@-]+/g, '-')
    .replace(/^[._-]+|[-.]+$/g, '')
  throw new QuintainError(
    'usage',
    `${JSON.stringify(name)} is no name for an npm package${npmName.test(better) ? `; try "${better}"` : ': use lower case letters, digits, "-" and "."'}.`,
    { facts: { name } },
  )
}

/**
 * This package as a dependency: its version, or where it lies when it runs from a checkout that is not published, or the
 * tarball that it was installed from.
 */
export async function ownDependency(from: string, root = packageRoot): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    version: string
    private?: boolean
  }
  const place = manifest.private === true ? root : await tarballOf(root)
  return place === undefined ? manifest.version : fileDependency(from, place)
}

/** A folder or a tarball as a dependency of a package elsewhere. */
export function fileDependency(from: string, place: string): string {
  return `file:${relative(from, place).split(sep).join('/')}`
}

/** The tarball that the project round an installed package names as where it is from, while that is there. */
async function tarballOf(root: string): Promise<string | undefined> {
  const project = resolve(root, '..', '..')
  const text = await readFile(join(project, 'package.json'), 'utf8').catch(() => '{}')
  try {
    const { dependencies, devDependencies } = JSON.parse(text) as Partial<
      Record<'dependencies' | 'devDependencies', Record<string, string>>
    >
    const named = dependencies?.['quintain'] ?? devDependencies?.['quintain']
    if (named === undefined || !/^file:.*\.tgz$/.test(named)) return undefined
    const tarball = resolve(project, named.slice('file:'.length))
    return existsSync(tarball) ? tarball : undefined
  } catch {
    return undefined
  }
}

export async function copyTemplate(
  from: string,
  to: string,
  replace: (text: string) => string,
): Promise<string[]> {
  const written: string[] = []
  for (const entry of await readdir(from, { withFileTypes: true })) {
    // npm leaves files named .gitignore out of what it publishes.
    const name = entry.name.replace(/^_gitignore$/, '.gitignore')
    const target = join(to, name)
    if (entry.isDirectory()) {
      await mkdir(target, { recursive: true })
      written.push(...(await copyTemplate(join(from, entry.name), target, replace)))
    } else {
      await writeFile(target, replace(await readFile(join(from, entry.name), 'utf8')), { flag: 'wx' })
      written.push(target)
    }
  }
  return written
}

/** The Node that npm says it runs on, where that is older than this package can use. */
function nodeTooOldOfNpm(userAgent: string | undefined): string | undefined {
  const [, version, major = '', minor = ''] = /\bnode\/v((\d+)\.(\d+)\.\d+)/.exec(userAgent ?? '') ?? []
  if (version === undefined) return undefined
  const old = Number(major) < 22 || (Number(major) === 22 && Number(minor) < 18)
  return old ? version : undefined
}

/** Where a new package goes: a folder that is absent or empty. Throws `usage`. */
export async function checkedTarget(
  packageName: string,
  dir: string | undefined,
  cwd: string,
): Promise<string> {
  checkName(packageName)
  const target = resolve(cwd, dir ?? packageName.replace(/^@[^/]+\//, ''))
  const present = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new QuintainError('usage', `${target} cannot be used: it is no folder that can be read.`, {
      cause: error,
    })
  })
  if (present.length === 0) return target
  throw new QuintainError(
    'usage',
    `${target} is not empty; nothing was written. Choose another name or --dir.`,
    { facts: { target } },
  )
}

export function templateOf(name: 'environment' | 'agent' | 'recorded' | 'hosted'): string {
  const template = join(packageRoot, 'template', name)
  if (existsSync(template)) return template
  throw new QuintainError('internal', `The template ${template} is missing from this installation.`)
}

/** The commands that come next, and before them the Node that is missing. */
export function nextSteps(shown: string, io: CliIo, last: readonly string[]): string[] {
  const oldNode = nodeTooOldOfNpm(io.env['npm_config_user_agent'])
  return [
    'Next:',
    `  cd ${shown}`,
    '  npm install',
    ...(oldNode === undefined
      ? []
      : [
          `  npm install -D node@24    # your npm runs on Node ${oldNode}, and quintain needs 22.18 or newer`,
        ]),
    ...last,
  ]
}
