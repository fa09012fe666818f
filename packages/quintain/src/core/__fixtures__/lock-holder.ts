/** Tries for the lock of the folder in its argument whenever it is told `go`, and gives it back when told `release`. */
import { QuintainError } from '../errors.ts'
import { lockFolder } from '../lock.ts'

let lock: { release(): Promise<void> } | undefined
process.on('message', async (word) => {
  if (word === 'release') {
    await lock?.release()
    process.send?.('released')
    return
  }
  try {
    lock = await lockFolder(process.argv[2]!)
    process.send?.('held')
  } catch (error) {
    process.send?.(QuintainError.isInstance(error) ? error.code : String(error))
  }
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
