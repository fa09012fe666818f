import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nativeProtocol } from '../native/protocol.ts'
import type { DoorExport, ExportDoorOptions } from '../serve/export-door.ts'
import type { SessionCore } from '../session/session.ts'
import { type PackageNames, packageNames, pyproject } from './package-text.ts'
import { pythonV0 } from './python-v0.ts'
import { pythonV1 } from './python-v1.ts'
import { readme } from './readme.ts'

/** What each version of `verifiers` asks of a package. */
const versions = {
  v1: {
    files: pythonV1,
    requires: ['verifiers>=0.3.1,<0.5', 'openai>=2.9', 'httpx>=0.27'],
    python: '>=3.11,<3.14',
  },
  v0: { files: pythonV0, requires: ['verifiers>=0.2,<0.3', 'datasets>=3'], python: '>=3.11,<3.14' },
} as const

/** Tasks that are read at a time. */
const page = 500

/**
 * Writes a Python package by which `verifiers` plays an environment: v1 is what its releases from 0.3 on are, v0 what the
 * `prime` command line pins. The package plays on a server of the environment and holds the public part of its tasks; it
 * grades nothing by itself.
 */
export async function exportVerifiers(options: ExportDoorOptions): Promise<DoorExport> {
  const { core, reference, out, url, for: version = 'v1' } = options
  const { environment, splits } = core
  const names = packageNames(environment)
  const { files, requires, python } = versions[version]
  const tables = '\n[tool.verifiers.eval]\nnum_examples = 5\nrollouts_per_example = 1\n'
  const about = {
    format: 'quintain.verifiers',
    for: version,
    protocol: nativeProtocol,
    ...environment,
    splits,
    default_split: (splits.find(({ type }) => type === 'test') ?? splits[0])?.name ?? 'test',
    reference,
    serve_arguments: options.serveArguments ?? [],
    url: url ?? null,
  }
  const written: Record<string, string> = {
    'pyproject.toml': pyproject({
      names,
      environment,
      requires,
      python,
      ...(version === 'v0' ? { tables } : {}),
    }),
    'README.md': readme({ environment, names, reference, version, url }),
    ...within(names, files),
    ...within(names, { 'environment.json': `${JSON.stringify(about, null, 2)}\n`, 'py.typed': '' }),
  }
  await mkdir(join(out, names.module), { recursive: true })
  for (const [name, text] of Object.entries(written)) await writeFile(join(out, name), text)
  const tasks = join(names.module, 'tasks.jsonl')
  await writeTasks(core, join(out, tasks))
  return { files: [...Object.keys(written), tasks].sort(), notes: notesOf(core, { names, url }) }
}

function within({ module }: PackageNames, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [join(module, name), text]))
}

/** The tasks as listings show them: there is no secret in those. */
async function writeTasks(core: SessionCore, path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (const { name, tasks } of core.splits) {
      for (let from = 0; from < tasks; from += page) {
        const listed = await core.tasks(name, from, Math.min(tasks, from + page))
        await file.write(listed.map((task) => `${JSON.stringify(task)}\n`).join(''))
      }
    }
  } finally {
    await file.close()
  }
}

function notesOf(
  { environment }: SessionCore,
  { names, url }: { names: PackageNames; url?: string | undefined },
) {
  const notes = [
    `Install quintain-client (the folder python/ of Quintain), then this package: pip install . gives ${names.distribution}.`,
  ]
  if (url === undefined)
    notes.push(
      'It starts its server by `npx quintain serve`, in the folder that QUINTAIN_CWD names (the current one without it); QUINTAIN_URL names a server that runs already.',
    )
  if (environment.needs.includes('groupRewards'))
    notes.push('Rewards that see all rollouts of a task are left out: each episode is graded by itself.')
  return notes
}
