import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { checkDoor } from '../doors/serve/check-door.ts'
import type { DoorName } from '../doors/serve/door.ts'
import type { DoorExport, ExportDoorOptions } from '../doors/serve/export-door.ts'
import { printableLine } from '../report/index.ts'
import type { CliIo } from './io.ts'
import { type CoreFlags, openCores } from './open-cores.ts'

export type DoorExportFormat = 'openenv' | 'nemo-gym' | 'hud' | 'verifiers'

export interface ExportDoorFlags extends CoreFlags {
  out?: string
  url?: string
  for?: 'v1' | 'v0'
  force?: boolean
  lossy?: boolean
}

interface Exporter {
  /** By which what is written reaches the environment. */
  door: DoorName
  write(options: ExportDoorOptions): Promise<DoorExport>
}

const exporters: Readonly<Record<DoorExportFormat, () => Promise<Exporter>>> = {
  openenv: async () => ({
    door: 'openenv',
    write: (await import('../doors/openenv/index.ts')).exportOpenEnv,
  }),
  'nemo-gym': async () => ({
    door: 'nemo-gym',
    write: (await import('../doors/nemo-gym/index.ts')).exportNemoGym,
  }),
  hud: async () => ({ door: 'hud', write: (await import('../doors/hud/index.ts')).exportHud }),
  verifiers: async () => ({
    door: 'native',
    write: (await import('../doors/verifiers/index.ts')).exportVerifiers,
  }),
}

/**
 * Writes what the other side of a door needs of an environment: a client, rows, a package, a configuration. Throws
 * `needs_unmet` as `serve` does, `usage` without a folder, and `output_exists` for one that holds something.
 */
export async function exportDoorCommand(
  format: DoorExportFormat,
  env: string,
  flags: ExportDoorFlags,
  io: CliIo,
): Promise<void> {
  if (flags.out === undefined)
    throw new QuintainError('usage', 'Say where to: --out FOLDER. Several files are written.')
  const out = resolve(io.cwd, flags.out)
  await checkFolder(out, flags)
  checkUrl(flags.url)
  const exporter = await exporters[format]()
  const { loadDoor } = await import('../doors/serve/door-names.ts')
  const door = await loadDoor(exporter.door)
  // Nothing is played, but tasks are looked at as sessions would see them, which takes a run.
  const scratch = await mkdtemp(join(tmpdir(), 'quintain-export-'))
  try {
    const { cores, closeModels } = await openCores([env], { ...flags, out: join(scratch, 'run') }, io)
    const core = cores[0]!
    try {
      const losses = checkDoor(door, core.environment, { lossy: flags.lossy === true })
      await mkdir(out, { recursive: true })
      const path = resolve(io.cwd, env)
      const written = await exporter.write({
        core,
        reference: existsSync(path) ? path : env,
        serveArguments: serveArguments(flags),
        out,
        ...(flags.url === undefined ? {} : { url: flags.url }),
        ...(flags.for === undefined ? {} : { for: flags.for }),
      })
      const shown = relative(io.cwd, out) || '.'
      io.stdout.write(written.files.map((file) => `${printableLine(join(shown, file))}\n`).join(''))
      const notes = written.notes.filter((note) => !losses.includes(note))
      for (const note of [...notes, ...losses.map((loss) => `Lost: ${loss}`)])
        io.stderr.write(`${printableLine(note, 1_000)}\n`)
    } finally {
      await core.close()
      await closeModels()
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function checkFolder(out: string, { force }: ExportDoorFlags): Promise<void> {
  const found = await readdir(out).catch((error: NodeJS.ErrnoException) => error)
  if (!Array.isArray(found)) {
    if (found.code === 'ENOENT') return
    throw new QuintainError('output_io', `${out} is no folder that can be written to.`, {
      cause: found,
      facts: { folder: out },
    })
  }
  if (found.length === 0 || force === true) return
  throw new QuintainError(
    'output_exists',
    `${out} holds something. Name another folder, or write over it with --force; files of other names stay.`,
    { facts: { folder: out } },
  )
}

function checkUrl(url: string | undefined): void {
  if (url === undefined || URL.canParse(url)) return
  throw new QuintainError(
    'usage',
    `--url ${JSON.stringify(url)} is no address: write http://127.0.0.1:8000.`,
    {
      facts: { url },
    },
  )
}

/** The same flags for `serve`, as words. */
function serveArguments(flags: ExportDoorFlags): string[] {
  const { tasks, split, option = [], seed, limit = [], seat = [], judge = [], sandbox } = flags
  const pairs: [string, string | number | undefined][] = [
    ['--tasks', tasks],
    ['--split', split],
    ['--seed', seed],
    ['--sandbox', sandbox],
    ...option.map((text): [string, string] => ['--option', text]),
    ...limit.map((text): [string, string] => ['--limit', text]),
    ...seat.map((text): [string, string] => ['--seat', text]),
    ...judge.map((text): [string, string] => ['--judge', text]),
  ]
  return pairs.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag}=${value}`]))
}
