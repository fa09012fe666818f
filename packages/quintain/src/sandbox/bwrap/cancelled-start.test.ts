import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bwrapDriver } from './driver.ts'

const driver = bwrapDriver()
const found = await driver.available()
if (!found.available) process.stderr.write(`cancelled starts are NOT tested here: ${found.reason}\n`)

test.skipIf(!found.available)(
  'a box that is given up while it starts is gone, whenever that is',
  async () => {
    for (let ms = 0; ms < 40; ms++) {
      const over = new AbortController()
      const starting = driver.start({ signal: over.signal }).then(
        (box) => box.stop(),
        (error: unknown) => expect(String(error)).toMatch(/cancelled|abort/i),
      )
      await pause(ms)
      over.abort()
      await starting
    }
  },
)
