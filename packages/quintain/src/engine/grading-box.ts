import {
  type Box,
  type BoxLimits,
  type BoxOptions,
  defaultBoxLimits,
  FaultError,
  isThrown,
  QuintainError,
  type SandboxDriver,
  type Snapshot,
} from '../core/index.ts'
import { artefactFiles, isWithoutEmptyFolders, restorable } from './artefacts.ts'

/** Where graders' commands start, unless they say otherwise: a folder that no artefact is in. */
const gradingFolder = '/grade'
/** What a file takes of a file system in memory: whole pages, and some for its name. */
const pageBytes = 4096
const nameBytes = 1024

/** A grading box, and what became of the artefacts in it. */
export interface GradingBoxStart {
  box: Box
  artefacts: 'read-only' | 'writable' | 'none'
  /** So many could not be put into it. */
  notRestored: number
}

/**
 * A fresh box for graders, with the artefacts in it. They are files that nothing in the box can change where the driver
 * can promise that for so many and at these places; elsewhere they are copies that the graded code may change, which
 * changes nothing that was collected. An agent can bring about the one or the other, and files that cannot be put back at
 * all: none of it is a fault. What is missing is missing, as it would be had the agent not made it.
 *
 * Tests that are given as read-only are ordinary files only in a driver without walls, which promises nothing anyway.
 */
export async function startGradingBox(
  driver: SandboxDriver,
  given: BoxOptions,
  artefacts: Snapshot | undefined,
  how: 'read-only' | 'writable' | 'none',
): Promise<GradingBoxStart> {
  const options: BoxOptions = { workdir: gradingFolder, ...given }
  if (artefacts === undefined || how === 'none')
    return { box: await startWithTests(driver, options), artefacts: 'none', notRestored: 0 }
  options.limits = withRoom(options.limits, artefacts)
  if (how === 'read-only' && isWithoutEmptyFolders(artefacts)) {
    const readOnlyFiles = { ...artefactFiles(artefacts), ...options.readOnlyFiles }
    const box = await unlessRefused(() => driver.start({ ...options, readOnlyFiles }))
    if (box !== undefined) return { box, artefacts: 'read-only', notRestored: 0 }
  }
  const box = await startWithTests(driver, options)
  try {
    return { box, artefacts: 'writable', notRestored: await putBack(box, restorable(artefacts)) }
  } catch (thrown) {
    await box.stop()
    throw thrown
  }
}

/** The limits of a box, and room for the artefacts beside what graders may use: sparse files and second names need some. */
function withRoom(limits: BoxOptions['limits'], { entries }: Snapshot): Partial<BoxLimits> {
  let bytes = 0
  for (const entry of entries) {
    bytes += nameBytes
    if (entry.kind === 'file') bytes += Math.ceil(entry.data.length / pageBytes) * pageBytes
  }
  const diskMb = limits?.diskMb ?? defaultBoxLimits.diskMb
  return { ...limits, diskMb: diskMb + Math.ceil(bytes / 2 ** 20) }
}

async function startWithTests(driver: SandboxDriver, options: BoxOptions): Promise<Box> {
  const { readOnlyFiles, files, ...rest } = options
  if (readOnlyFiles === undefined || driver.isolation === 'namespaces' || driver.isolation === 'container')
    return driver.start(options)
  const box = await unlessRefused(() => driver.start(options))
  return box ?? driver.start({ ...rest, files: { ...files, ...readOnlyFiles } })
}

/** Undefined when the driver cannot honour what it was asked for, or no box came up with these files. */
async function unlessRefused(start: () => Promise<Box>): Promise<Box | undefined> {
  try {
    return await start()
  } catch (thrown) {
    if (QuintainError.isInstance(thrown) && thrown.code === 'options_invalid') return undefined
    if (isThrown(thrown, FaultError) && thrown.fault.code === 'sandbox_start_failed') return undefined
    throw thrown
  }
}

/** Puts artefacts into a box, and says how many are not there afterwards. */
async function putBack(box: Box, artefacts: Snapshot): Promise<number> {
  const put = await box.restore(artefacts)
  if (put.ok) return 0
  const { entries } = artefacts
  // Names are enough: of files that are too large for it, a snapshot says that they are.
  const there = await box.snapshot(topOf(entries), { maxBytes: 0, maxEntries: 2 * entries.length })
  const names = new Set(there.entries.map(({ path }) => path))
  for (const { path, reason } of there.skipped) if (reason === 'too_large') names.add(path)
  return Math.max(1, entries.filter(({ path }) => !names.has(path)).length)
}

/** The entries that are in none of the others. In order of their paths, what is in a folder comes after it. */
function topOf(entries: Snapshot['entries']): string[] {
  const top: string[] = []
  for (const path of entries.map((entry) => `${entry.path}/`).sort())
    if (top.length === 0 || !path.startsWith(`${top.at(-1)}/`)) top.push(path.slice(0, -1))
  return top
}
