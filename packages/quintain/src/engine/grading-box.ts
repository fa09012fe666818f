import {
  type Box,
  type BoxOptions,
  FaultError,
  QuintainError,
  type SandboxDriver,
  type Snapshot,
} from '../core/index.ts'
import { artefactFiles, isWithoutEmptyFolders, restorable } from './artefacts.ts'

/** Where graders' commands start, unless they say otherwise: a folder that no artefact is in. */
const gradingFolder = '/grade'

/**
 * A fresh box for graders, with the artefacts in it. They are files that nothing in the box can change where the driver
 * can promise that for so many and at these places; elsewhere they are copies that the graded code may change, which
 * changes nothing that was collected. An agent can bring about the one or the other, and neither can make it a fault.
 *
 * Tests that are given as read-only are ordinary files only in a driver without walls, which promises nothing anyway.
 */
export async function startGradingBox(
  driver: SandboxDriver,
  given: BoxOptions,
  artefacts: Snapshot | undefined,
  how: 'read-only' | 'writable' | 'none',
): Promise<Box> {
  const options: BoxOptions = { workdir: gradingFolder, ...given }
  const { readOnlyFiles: tests } = options
  if (artefacts !== undefined && how === 'read-only' && isWithoutEmptyFolders(artefacts)) {
    const box = await unlessRefused(() =>
      driver.start({ ...options, readOnlyFiles: { ...artefactFiles(artefacts), ...tests } }),
    )
    if (box !== undefined) return box
  }
  const box = await startWithTests(driver, options)
  if (artefacts !== undefined) await putBack(box, restorable(artefacts))
  return box
}

async function startWithTests(driver: SandboxDriver, options: BoxOptions): Promise<Box> {
  const { readOnlyFiles, files, ...rest } = options
  if (readOnlyFiles === undefined || driver.isolation === 'namespaces' || driver.isolation === 'container')
    return driver.start(options)
  const box = await unlessRefused(() => driver.start(options))
  return box ?? driver.start({ ...rest, files: { ...files, ...readOnlyFiles } })
}

/** Undefined when the driver cannot honour what it was asked for. */
async function unlessRefused(start: () => Promise<Box>): Promise<Box | undefined> {
  try {
    return await start()
  } catch (thrown) {
    if (QuintainError.isInstance(thrown) && thrown.code === 'options_invalid') return undefined
    throw thrown
  }
}

async function putBack(box: Box, artefacts: Snapshot): Promise<void> {
  const put = await box.restore(artefacts)
  if (put.ok) return
  await box.stop()
  throw new FaultError({
    owner: 'sandbox',
    code: 'artefacts_not_restored',
    message: `the artefacts could not be put into the grading box: ${put.reason}: ${put.message}`,
    retryable: false,
  })
}
