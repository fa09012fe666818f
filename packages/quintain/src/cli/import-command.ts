import { basename, extname, relative, resolve } from 'node:path'
import {
  type ForeignFormat,
  type ImportedRun,
  type ImportForeignOptions,
  importForeign,
  importRun,
} from '../doors/index.ts'
import { formatText, plural, printableLine, styleFor, summarize } from '../report/index.ts'
import type { CliIo } from './io.ts'
import { newRunDir } from './run-path.ts'

/** Makes a run of a file of recorded conversations, and prints what it says. */
export async function importCommand(
  file: string,
  { out, quiet, ...options }: { as?: string; out?: string; policy?: string; name?: string; quiet?: boolean },
  io: CliIo,
): Promise<void> {
  const path = resolve(io.cwd, file)
  await tellImport(
    await importRun(path, { ...options, out: targetOf(path, { out, ...options }, io) }),
    quiet,
    io,
  )
}

/** Makes a run of what another platform wrote, and prints what it says and what was left out. */
export async function importForeignCommand(
  format: ForeignFormat,
  file: string,
  { out, quiet, ...options }: Omit<ImportForeignOptions, 'out'> & { out?: string; quiet?: boolean },
  io: CliIo,
): Promise<void> {
  const path = resolve(io.cwd, file)
  const target = targetOf(path, { out, ...options }, io)
  await tellImport(await importForeign(format, path, { ...options, out: target }), quiet, io)
}

function targetOf(
  path: string,
  { out, name, policy }: { out?: string | undefined; name?: string; policy?: string },
  io: CliIo,
): string {
  if (out !== undefined) return resolve(io.cwd, out)
  return newRunDir(io.cwd, name ?? 'imported', policy ?? basename(path, extname(path)))
}

/** Lines of what was left out that are told; the others are counted. */
const mostTold = 20

async function tellImport(imported: ImportedRun, quiet: boolean | undefined, io: CliIo): Promise<void> {
  const shown = relative(io.cwd, imported.dir) || '.'
  const summary = await summarize(imported.dir)
  io.stdout.write(
    formatText({ ...summary, run: { ...summary.run, dir: shown } }, { style: styleFor(io.stdout, io.env) }),
  )
  const say = (text: string) => io.stderr.write(`${printableLine(text, 240)}\n`)
  const { dropped } = imported
  // Told however quiet: a figure of a part must not pass for one of the whole.
  if (dropped.length > 0) {
    say(`Left out ${plural(dropped.length, 'conversation')} that could not be read:`)
    for (const line of dropped.slice(0, mostTold)) say(`  ${line}`)
    if (dropped.length > mostTold) say(`  and ${dropped.length - mostTold} more`)
  }
  if (quiet === true) return
  say('')
  for (const warning of imported.warnings) say(`Note: ${warning}`)
  say(`The rewards are those of the file (${imported.format}); nothing was graded here.`)
  say(`Run: ${shown}`)
  say(`Look at one: npx quintain show ${shown} --worst`)
}
