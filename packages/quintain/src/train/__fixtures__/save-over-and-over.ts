import { writeEngineState } from '../engine-state.ts'
import { savedState } from './saved-state.ts'

// Writes checkpoint after checkpoint to one folder until it is killed; a line for each that was written.
const folder = process.argv[2]!
for (let version = 1; ; version++) {
  await writeEngineState(folder, savedState(version))
  process.stdout.write(`${version}\n`)
}
