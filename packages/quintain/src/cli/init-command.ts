import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { QuintainError } from '../core/index.ts'
import { printableLine } from '../report/index.ts'
import type { CliIo } from './io.ts'

/** The package that this code belongs to, from `src/cli` as from `dist/cli`. */
const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

/** A name that npm accepts for a new package: lower case, no spaces, at most 214 characters. */
const npmName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

function checkName(name: string): void {
  if (npmName.test(name) && name.length <= 214 && name !== 'node_modules' && name !== 'favicon.ico') return
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

/** This package as a dependency: its version, or where it lies when it runs from a checkout that is not published. */
async function ownDependency(from: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string
    private?: boolean
  }
  if (manifest.private !== true) return manifest.version
  return `file:${relative(from, packageRoot).split(sep).join('/')}`
}

async function copyTemplate(from: string, to: string, replace: (text: string) => string): Promise<string[]> {
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

/** Makes a new environment package, from scratch or round an agent that is there already. */
export async function initCommand(
  name: string | undefined,
  { agent, dir }: { agent?: string; dir?: string },
  io: CliIo,
): Promise<void> {
  const agentFile = agent === undefined ? undefined : resolve(io.cwd, agent)
  if (agentFile !== undefined) {
    const found = await stat(agentFile).catch(() => undefined)
    if (!found?.isFile()) {
      throw new QuintainError('usage', `There is no agent file ${agentFile}.`, { facts: { agent } })
    }
  }
  const packageName =
    name ??
    (agentFile === undefined ? undefined : `${basename(agentFile, extname(agentFile)).toLowerCase()}-evals`)
  if (packageName === undefined) {
    throw new QuintainError('usage', 'Give the new package a name: `npx quintain init my-environment`.')
  }
  checkName(packageName)
  const target = resolve(io.cwd, dir ?? packageName.replace(/^@[^/]+\//, ''))
  const present = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new QuintainError('usage', `${target} cannot be used: it is no folder that can be read.`, {
      cause: error,
    })
  })
  if (present.length > 0) {
    throw new QuintainError(
      'usage',
      `${target} is not empty; nothing was written. Choose another name or --dir.`,
      {
        facts: { target },
      },
    )
  }
  const template = join(packageRoot, 'template', agentFile === undefined ? 'environment' : 'agent')
  if (!existsSync(template)) {
    throw new QuintainError('internal', `The template ${template} is missing from this installation.`)
  }
  await mkdir(target, { recursive: true })
  const own = await ownDependency(target)
  let agentImport = ''
  if (agentFile !== undefined) {
    // Relative to src/, where the template's own agent.ts imports it.
    agentImport = relative(join(target, 'src'), agentFile).split(sep).join('/')
    if (!agentImport.startsWith('.')) agentImport = `./${agentImport}`
  }
  const written = await copyTemplate(template, target, (text) =>
    text
      .replaceAll('__NAME__', () => packageName)
      .replaceAll('__QUINTAIN__', () => own)
      .replaceAll('__AGENT__', () => agentImport),
  )
  const shown = relative(io.cwd, target) || '.'
  const oldNode = nodeTooOldOfNpm(io.env['npm_config_user_agent'])
  const lines = [
    `Made ${packageName} in ${shown}:`,
    ...written.map((file) => `  ${relative(io.cwd, file)}`),
    '',
    ...(agentFile === undefined
      ? []
      : [
          'src/agent.ts imports the default export of your file: a function that is given a text and gives back a text, or',
          'a promise of one. Is yours another export, or called otherwise? Change the two lines there.',
          '',
        ]),
    'Next:',
    `  cd ${shown}`,
    '  npm install',
    ...(oldNode === undefined
      ? []
      : [
          `  npm install -D node@24    # your npm runs on Node ${oldNode}, and quintain needs 22.18 or newer`,
        ]),
    '  npm test',
    '  npx quintain eval . --policy script:oracle',
  ]
  for (const line of lines) io.stdout.write(`${printableLine(line)}\n`)
}

/** Folder of the package's own files; for tests. */
export const templateFolder: string = join(dirname(packageRoot), basename(packageRoot), 'template')
