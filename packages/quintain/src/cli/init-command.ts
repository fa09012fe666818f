import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, extname, join, relative, resolve, sep } from 'node:path'
import { QuintainError } from '../core/index.ts'
import type { ProposedEnvironment } from '../doors/index.ts'
import { plural, printableLine } from '../report/index.ts'
import type { CliIo } from './io.ts'
import { checkedTarget, copyTemplate, nextSteps, ownDependency, templateOf } from './new-package.ts'

/** What a new package is made of; from scratch when none is given. */
export interface InitOptions {
  /** A file, the name of an example, or nothing named at all. */
  agent?: string | true
  from?: string
  as?: string
  copy?: string
  dir?: string
}

/**
 * Makes a new environment package: from scratch, round an agent that is there already, from recorded conversations, or as a
 * copy of an environment.
 */
export async function initCommand(
  name: string | undefined,
  { agent, from, as, copy, dir }: InitOptions,
  io: CliIo,
): Promise<void> {
  const ways = Object.entries({ agent, from, copy }).filter(([, value]) => value !== undefined)
  if (ways.length > 1) {
    throw new QuintainError('usage', `Give --${ways.map(([way]) => way).join(' or --')}, not both.`)
  }
  if (copy !== undefined && as === undefined) {
    const { initCopy } = await import('./init-copy.ts')
    return await initCopy(name, { copy, ...(dir === undefined ? {} : { dir }) }, io)
  }
  if (from !== undefined) {
    return await initFrom(
      name,
      { from, ...(as === undefined ? {} : { as }), ...(dir === undefined ? {} : { dir }) },
      io,
    )
  }
  if (as !== undefined) throw new QuintainError('usage', '--as says what the file of --from is; give both.')
  if (agent === true) return await (await import('./new-agent.ts')).listAgents(io)
  const agentFile = agent === undefined ? undefined : resolve(io.cwd, agent)
  if (agent !== undefined && agentFile !== undefined) {
    const found = await stat(agentFile).catch(() => undefined)
    if (!found?.isFile()) {
      const { agentExamples, initAgent, unknownAgent } = await import('./new-agent.ts')
      if (!agentExamples.includes(agent)) throw unknownAgent(agent, agentFile)
      return await initAgent(agent, { name, dir }, io)
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
    ...nextSteps(shown, io, ['  npm test', '  npx quintain eval . --policy script:oracle']),
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
      '  npm test',
      `  npx quintain eval . --policy recorded:recordings.jsonl -r ${blanks.repeats}`,
    ]),
  ]
}
