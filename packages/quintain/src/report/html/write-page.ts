import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { checkTarget, type OutputKind, outputError } from '../output-file.ts'
import { printableLine } from '../printable.ts'
import { type RunSummary, summarize } from '../summarize.ts'
import { distributionsOf } from './distributions.ts'
import { embedOrder } from './embed-order.ts'
import { linkScript } from './link-script.ts'
import { dataElement, packText } from './pack-data.ts'
import { embeddedText, pageBody } from './page.ts'
import { dataIds } from './page-data.ts'
import { pageHead } from './page-head.ts'
import { pageStyle } from './page-style.ts'
import { indexOf, readRows } from './read-rows.ts'
import { writeChunks } from './write-chunks.ts'

export interface HtmlReportOptions {
  /** The run as people type it; what the page names it by. Default: `dir`. */
  run?: string
  /** Share of orders that must be scored for a headline, 1 when absent. */
  minCoverage?: number
  /** Most megabytes (10^6 bytes) of the file; trajectories are left out to keep it, 30 when absent. */
  maxMb?: number
  /** Overwrite a file that is no report of ours. */
  force?: boolean
}

export interface HtmlReport {
  file: string
  bytes: number
  /** Trajectories in the page, of those that the run has. */
  embedded: number
  recorded: number
  /** What the page says of that. */
  said: string
  summary: RunSummary
}

/** The beginning of every page of ours: a file that begins so may be overwritten. */
const mark = '<!doctype html>\n<!-- quintain report 1 -->\n'
const kind: OutputKind = { name: 'report', mark, smaller: 'hold fewer trajectories: --html-max-mb' }

const entry = new URL(`./client/main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** A new file of texts and of what is in another file, one after the other. Gives its size in bytes. */
async function writeWhole(path: string, parts: readonly (string | FileHandle)[]): Promise<number> {
  const made = await open(path, 'wx')
  try {
    for (const part of parts) {
      if (typeof part === 'string') await made.appendFile(part)
      else
        for await (const piece of part.createReadStream({ start: 0, autoClose: false }))
          await made.appendFile(piece)
    }
    return (await made.stat()).size
  } finally {
    await made.close()
  }
}

/**
 * Writes what a run says as one HTML file that loads nothing: the report of `summarize`, pictures, every order, and as many
 * trajectories as fit into `maxMb` (what did not succeed first). The same run gives the same bytes. Reads publishable
 * records only, and holds one chunk of trajectories at a time.
 *
 * The file appears whole or not at all. Throws `output_exists`, `output_io` and `disk_full` for the file, and what
 * `foldRun` throws for the run.
 *
 * @example await writeHtmlReport('runs/x', 'x.html', { maxMb: 10 })
 */
export async function writeHtmlReport(
  dir: string,
  file: string,
  { run = dir, minCoverage = 1, maxMb = 30, force = false }: HtmlReportOptions = {},
): Promise<HtmlReport> {
  const target = resolve(file)
  const stem = join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}`)
  const temporary = [`${stem}.chunks`, `${stem}.page`] as const
  try {
    await checkTarget(target, kind, force)
    const found = await summarize(dir, { minCoverage })
    const summary = { ...found, run: { ...found.run, dir: run } }
    const fold = await readRows(dir)
    const values = distributionsOf(fold)
    const index = dataElement(dataIds.index, await packText(JSON.stringify(indexOf(fold, run))))
    const script = linkScript(entry)
    const { name, version } = summary.run.environment
    const head = pageHead({
      mark,
      title: `${printableLine(`${name} ${version}`, 120)} · Quintain report`,
      style: pageStyle,
      script,
    })
    const recorded = fold.states.filter(({ chosen }) => chosen !== undefined)
    const before = (embedded: number): { said: string; text: string } => {
      const said = embeddedText(embedded, recorded.length, fold.states.length)
      const body = pageBody(summary, values, said).text
      return { said, text: `${head}${body}${index}<script>${script}</script>\n` }
    }
    // Which chunk a trajectory is in takes a few bytes a row, once it is packed.
    const overhead = Buffer.byteLength(before(0).text) + 3 * fold.states.length + 1_000
    const maxBytes = maxMb * 1e6 - overhead
    const parts = recorded.reduce(
      (sum, { chosen }) => sum + chosen!.parts.trajectory[1] + (chosen!.parts.verdict?.[1] ?? 0),
      0,
    )
    // Where all fit however badly they pack, repeats of a task stay together, and pack well.
    const all = parts * 1.4 <= maxBytes
    const order = all ? [...fold.states.keys()] : embedOrder(fold.states)

    const chunks = await open(temporary[0], 'wx+')
    try {
      // Nobody else needs its name, and without one it is gone even when the process is killed. Not every system allows it.
      await rm(temporary[0]).catch(() => {})
      const written = await writeChunks({ dir, states: fold.states, order, file: chunks, maxBytes })
      const places = dataElement(dataIds.places, await packText(JSON.stringify(written.places)))
      const { said, text } = before(written.embedded)
      const bytes = await writeWhole(temporary[1], [text, chunks, `${places}</body></html>\n`])
      await rename(temporary[1], target)
      return { file: target, bytes, embedded: written.embedded, recorded: recorded.length, said, summary }
    } finally {
      await chunks.close()
    }
  } catch (error) {
    throw outputError(error, file, kind)
  } finally {
    // What went wrong is told; that there is nothing to remove is not.
    await Promise.all(temporary.map((path) => rm(path, { force: true }).catch(() => {})))
  }
}
