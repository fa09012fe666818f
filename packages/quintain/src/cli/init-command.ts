import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { QuintainError } from '../core/index.ts'
import type { ProposedEnvironment } from '../doors/index.ts'
import { plural, printableLine } from '../report/index.ts'
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

/** Where a new package goes: a folder that is absent or empty. Throws `usage`. */
async function checkedTarget(packageName: string, dir: string | undefined, cwd: string): Promise<string> {
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

function templateOf(name: 'environment' | 'agent' | 'recorded'): string {
  const template = join(packageRoot, 'template', name)
  if (existsSync(template)) return template
  throw new QuintainError('internal', `The template ${template} is missing from this installation.`)
}

/** The commands that come next, and before them the Node that is missing. */
function nextSteps(shown: string, io: CliIo, last: readonly string[]): string[] {
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
    '  npm test',
    ...last,
  ]
}

/** Makes a new environment package, from scratch, round an agent that is there already, or from recorded conversations. */
export async function initCommand(
  name: string | undefined,
  { agent, from, as, dir }: { agent?: string; from?: string; as?: string; dir?: string },
  io: CliIo,
): Promise<void> {
  if (from !== undefined) {
    if (agent !== undefined) throw new QuintainError('usage', 'Give --agent or --from, not both.')
    return await initFrom(
      name,
      { from, ...(as === undefined ? {} : { as }), ...(dir === undefined ? {} : { dir }) },
      io,
    )
  }
  if (as !== undefined) throw new QuintainError('usage', '--as says what the file of --from is; give both.')
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
  const target = await checkedTarget(packageName, dir, io.cwd)
  const template = templateOf(agentFile === undefined ? 'environment' : 'agent')
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
    ...nextSteps(shown, io, ['  npx quintain eval . --policy script:oracle']),
  ]
  for (const line of lines) io.stdout.write(`${printableLine(line)}\n`)
}

/** A name for the package of a file: `Support Traces.jsonl` gives `support-traces`. */
function nameOfFile(path: string): string {
  const name = basename(path, extname(path))
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
  return name === '' ? 'recorded' : name
}

/** Makes a package of recorded conversations; nothing of it is in its folder before all of it is made. */
async function initFrom(
  name: string | undefined,
  { from, as, dir }: { from: string; as?: string; dir?: string },
  io: CliIo,
): Promise<void> {
  const path = resolve(io.cwd, from)
  const packageName = name ?? nameOfFile(path)
  const target = await checkedTarget(packageName, dir, io.cwd)
  const template = templateOf('recorded')
  const draft = `${target}.making-${process.pid}-${Date.now()}`
  try {
    const { environmentFromRecordings } = await import('../doors/index.ts')
    const made = await environmentFromRecordings(path, draft, as === undefined ? {} : { as })
    const own = await ownDependency(target)
    await copyTemplate(template, draft, (text) =>
      text
        .replaceAll('__NAME__', () => packageName)
        .replaceAll('__QUINTAIN__', () => own)
        .replaceAll('__TURNS__', () => String(made.blanks.turns))
        .replaceAll('__REPEATS__', () => String(made.blanks.repeats))
        .replaceAll('__SOURCE__', () => made.blanks.source),
    )
    // Into the folder, and not in its place: it may be the one that somebody stands in.
    await mkdir(target, { recursive: true })
    for (const entry of await readdir(draft)) await rename(join(draft, entry), join(target, entry))
    await rm(draft, { recursive: true, force: true })
    const shown = relative(io.cwd, target) || '.'
    for (const line of madeFrom(made, packageName, shown, io)) io.stdout.write(`${printableLine(line)}\n`)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

const shownUnread = 20

function madeFrom(made: ProposedEnvironment, name: string, shown: string, io: CliIo): string[] {
  const { tasks, tools, conversations, unread, remarks, blanks } = made
  const inferred = tools.filter(({ described }) => !described).length
  const rewarded = tasks
    .flatMap(({ recordings }) => recordings)
    .filter(({ reward }) => reward !== null).length
  const problems = unread.slice(0, shownUnread).map(({ place, problem }) => `  ${place}: ${problem}`)
  if (unread.length > shownUnread)
    problems.push(`  … and ${unread.length - shownUnread} more, all in TODO.md`)
  return [
    `Made ${name} in ${shown}:`,
    `  ${plural(tasks.length, 'task')} of ${plural(conversations, 'conversation')} (${made.format}), ${rewarded} of them with a recorded reward`,
    `  ${plural(tools.length, 'tool')}${inferred === 0 ? '' : `, the parameters of ${inferred} inferred from calls`}`,
    ...(unread.length === 0
      ? []
      : [`  ${unread.length} could not be read:`, ...problems.map((line) => `  ${line}`)]),
    ...remarks.map((remark) => `  ${remark}`),
    '',
    'PRIVACY: prompts, answers and tool results were copied as they were recorded, with the names, addresses and numbers that',
    `people wrote into them. Read ${join(shown, 'tasks.jsonl')} and ${join(shown, 'recordings.jsonl')} before anybody else does.`,
    '',
    'Nothing is decided: every task is unscored until src/decisions.ts says what counts as done. TODO.md has the questions.',
    '',
    ...nextSteps(shown, io, [
      `  npx quintain eval . --policy recorded:recordings.jsonl -r ${blanks.repeats}`,
    ]),
  ]
}

/** Folder of the package's own files; for tests. */
export const templateFolder: string = join(dirname(packageRoot), basename(packageRoot), 'template')
