import { afterAll, expect, test } from 'vitest'
import { processesWith } from '../process-table.ts'
import { processDriver } from './driver.ts'

const driver = processDriver()
afterAll(() => driver.close?.())

test('at its limit a command ends with all that it started, in its group or not, and what others started goes on', async () => {
  const box = await driver.start()
  const server = await box.exec('setsid sleep 300 >/dev/null 2>&1 & echo $!')
  expect(server.exitCode).toBe(0)
  const result = await box.exec(
    'setsid sh -c "trap : TERM; sleep 300" & (setsid sleep 300 &); sleep 300 & sleep 300',
    { wallMs: 500 },
  )
  expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
  const left = () => processesWith(`QUINTAIN_BOX=${box.workdir.replace(/\/box$/, '')}`)
  await expect.poll(left).toHaveLength(1)
  await box.stop()
  expect(left()).toEqual([])
})
