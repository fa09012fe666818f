import { afterAll, describe } from 'vitest'
import { candidates, sayMissing } from './available-drivers.ts'
import { boxSuite, type Lacks } from './box-suite.ts'

const lacking: Record<string, Lacks> = {
  process: { readOnlyFiles: true, disk: true },
  bash: { processes: true, bytes: true, modes: true },
}

const all = await candidates()
all.forEach(sayMissing)

describe.each(all)('driver $driver.name', ({ driver, missing }) => {
  describe.skipIf(missing !== undefined)(missing ?? 'a box', () => {
    afterAll(() => driver.close?.())
    boxSuite(driver, lacking[driver.name])
  })
})
