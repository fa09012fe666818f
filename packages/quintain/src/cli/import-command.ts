import { basename, extname, relative, resolve } from 'node:path'
import { importRun } from '../doors/index.ts'
import { formatText, printableLine, styleFor, summarize } from '../report/index.ts'
import type { CliIo } from './io.ts'
import { newRunDir } from './run-path.ts'

/** Makes a run of a file of recorded conversations, and prints what it says. */
export async function importCommand(
  file: string,
  { out, quiet, ...options }: { as?: string; out?: string; policy?: string; name?: string; quiet?: boolean },
  io: CliIo,
): Promise<void> {
  const path = resolve(io.cwd, file)
  const dir =
    out === undefined
      ? newRunDir(io.cwd, options.name ?? 'imported', options.policy ?? basename(path, extname(path)))
      : resolve(io.cwd, out)
  const imported = await importRun(path, { ...options, out: dir })
  const shown = relative(io.cwd, imported.dir) || '.'
  const summary = await summarize(imported.dir)
  io.stdout.write(
    formatText({ ...summary, run: { ...summary.run, dir: shown } }, { style: styleFor(io.stdout, io.env) }),
  )
  if (quiet === true) return
  const say = (text: string) => io.stderr.write(`${printableLine(text)}\n`)
  say('')
  for (const warning of imported.warnings) say(`Note: ${warning}`)
  say(`The rewards are those of the file (${imported.format}); nothing was graded here.`)
  say(`Run: ${shown}`)
  say(`Look at one: npx quintain show ${shown} --worst`)
}
