/** Opens the run of its argument, says how that went, and keeps it open until it is killed. */
import { QuintainError } from '../errors.ts'
import { Journal } from '../journal.ts'

try {
  await Journal.open(process.argv[2]!)
  process.send?.('open')
} catch (error) {
  process.send?.(QuintainError.isInstance(error) ? error.code : String(error))
}
setInterval(() => {}, 1_000)
process.on('disconnect', () => process.exit(0))
