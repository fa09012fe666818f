import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { type Finding, type HostedPackage, importEvals, importRft } from '../doors/index.ts'
import { plural, printableLine } from '../report/index.ts'
import type { CliIo } from './io.ts'
import { checkedTarget, copyTemplate, nextSteps, ownDependency, templateOf } from './new-package.ts'

/** Where a package goes, and what it is called. */
export interface HostedTarget {
  out?: string
  name?: string
}

export interface RftOptions extends HostedTarget {
  grader?: string
  train?: string
  valid?: string
  job?: string
}

/** Makes an environment package of the files of a hosted reinforcement fine-tuning. */
export async function importRftCommand({ out, name, ...files }: RftOptions, io: CliIo): Promise<void> {
  const { grader, train, valid, job } = files
  if (train === undefined)
    throw new QuintainError(
      'usage',
      'Give the training file: `quintain import openai-rft --grader grader.json --train train.jsonl`.',
    )
  if (grader === undefined && job === undefined)
    throw new QuintainError(
      'usage',
      'Give the grader (--grader grader.json), or a saved job that holds it (--job job.json).',
    )
  const at = (path: string) => resolve(io.cwd, path)
  await makePackage(
    { ...(out === undefined ? {} : { out }), name: name ?? (out === undefined ? 'hosted-rft' : named(out)) },
    (dir) =>
      importRft(
        {
          train: at(train),
          ...(grader === undefined ? {} : { grader: at(grader) }),
          ...(valid === undefined ? {} : { valid: at(valid) }),
          ...(job === undefined ? {} : { job: at(job) }),
        },
        dir,
      ),
    io,
  )
}

/** Makes an environment package of the files of hosted evals. */
export async function importEvalsCommand(
  files: readonly string[],
  { out, name }: HostedTarget,
  io: CliIo,
): Promise<void> {
  await makePackage(
    {
      ...(out === undefined ? {} : { out }),
      name: name ?? (out === undefined ? 'hosted-evals' : named(out)),
    },
    (dir) =>
      importEvals(
        files.map((file) => resolve(io.cwd, file)),
        dir,
      ),
    io,
  )
}

function named(out: string): string {
  return (
    basename(resolve(out))
      .toLowerCase()
      .replace(/[^a-z0-9._~-]+/g, '-')
      .replace(/^[._-]+|[-.]+$/g, '') || 'hosted'
  )
}

/** Nothing of a package is in its folder before all of it is made. */
async function makePackage(
  { out, name }: { out?: string; name: string },
  make: (dir: string) => Promise<HostedPackage>,
  io: CliIo,
): Promise<void> {
  const target = await checkedTarget(name, out, io.cwd)
  const draft = `${target}.making-${process.pid}-${Date.now()}`
  try {
    await mkdir(dirname(draft), { recursive: true })
    const made = await make(draft).catch((thrown: unknown) => tellRefusal(thrown, io))
    const own = await ownDependency(target)
    const blanks = blanksOf(made, { name, own })
    await copyTemplate(templateOf('hosted'), draft, (text) =>
      text.replaceAll(/__[A-Z]+__/g, (blank) => blanks[blank] ?? blank),
    )
    const formed = made.output ? [] : ['src/as-asked.ts']
    const unneeded = [...formed, ...(made.tools ? [] : ['src/declared-tools.ts'])]
    for (const file of unneeded) await rm(join(draft, file))
    await mkdir(target, { recursive: true })
    for (const entry of await readdir(draft)) await rename(join(draft, entry), join(target, entry))
    const shown = relative(io.cwd, target) || '.'
    for (const line of toldOf(made, { name, shown, io })) io.stdout.write(`${printableLine(line)}\n`)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** All that keeps the package from being made, a line each, before the error that counts them. */
function tellRefusal(thrown: unknown, io: CliIo): never {
  const findings = QuintainError.isInstance(thrown) ? thrown.facts['findings'] : undefined
  if (Array.isArray(findings))
    for (const finding of findings as readonly Finding[])
      io.stderr.write(`${printableLine(lineOf(finding))}\n`)
  throw thrown
}

function lineOf({ severity, place, message }: Finding): string {
  return `  ${severity === 'guess' ? 'guessed' : severity}: ${place}: ${message}`
}

function judgesFlag({ judges }: HostedPackage): string {
  return judges.map((judge) => ` --judge ${judge}=MODEL`).join('')
}

function blanksOf(made: HostedPackage, { name, own }: { name: string; own: string }): Record<string, string> {
  const { kind, ungradable, secrets, noop, judged, split } = made.blanks
  return {
    __NAME__: name,
    __QUINTAIN__: own,
    __KIND__: kind,
    __TASKS__: String(made.tasks),
    __GRADERS__: made.graders
      .map((grader) => `${grader.name} (${grader.type})`)
      .join(', ')
      .replaceAll(/[\r\n|`]+/g, ' '),
    __SPLIT__: split,
    __JUDGES__: judgesFlag(made),
    __PYTHON__: made.python
      ? 'Its Python grader runs in boxes: see docs/python-graders.md for the Python and the packages that it takes.'
      : '',
    __UNGRADABLE__: String(ungradable),
    __SECRETS__: String(secrets),
    __NOOP__: String(noop),
    __JUDGED__: String(judged),
  }
}

function toldOf(
  made: HostedPackage,
  { name, shown, io }: { name: string; shown: string; io: CliIo },
): string[] {
  const { findings, splits, graders } = made
  const told = findings.map(lineOf)
  return [
    `Made ${name} in ${shown}:`,
    `  ${plural(made.tasks, 'task')} (${Object.entries(splits)
      .map(([split, n]) => `${split} ${n}`)
      .join(', ')})`,
    `  ${plural(graders.length, 'grader')}: ${graders.map((grader) => `${grader.name} (${grader.type})`).join(', ')}`,
    ...(told.length === 0 ? [] : ['', `${plural(told.length, 'finding')}, all in lint.json:`, ...told]),
    '',
    'PRIVACY: rows were copied as they are, and tasks.jsonl holds their answers.',
    '',
    ...nextSteps(shown, io, [
      '  npm test',
      `  npx quintain eval . --policy script:noop --split ${made.blanks.split} --tasks 10${judgesFlag(made)}`,
    ]),
  ]
}
