import { bwrapDriver } from 'quintain/sandbox'
import { testEnvironment } from 'quintain/vitest'
import { describe, expect, test } from 'vitest'
import terminal from './index.ts'
import { taskFolders } from './task-folder.ts'

const driver = bwrapDriver()
const found = await driver.available()
await driver.close?.()
const missing = found.available ? undefined : found.reason
if (missing !== undefined) process.stderr.write(`terminal tasks are not played: ${missing}\n`)

// Four tasks of different kinds; all of them are played in tasks.test.ts.
describe.skipIf(missing !== undefined)(missing ?? 'in boxes', () => testEnvironment(terminal, { tasks: 4 }))

test('what lies in the box of a task has a digest of its own', () => {
  const digests = taskFolders().map(({ filesDigest }) => filesDigest)
  expect(new Set(digests).size).toBe(digests.length)
})
