// The same episodes through every door: four environments are played in the engine by a script that knows the answers, one
// that moves at random and one that does nothing, and their moves are played again through each door in its own protocol.
// `node conformance/parity/check.ts [ENVIRONMENT…]`
import { fileURLToPath } from 'node:url'
import {
  columnNotes,
  type EpisodeParity,
  environmentParity,
  examplesOf,
  isSame,
  mergeParity,
  parityMarkdown,
} from '../../packages/quintain/src/doors/episodes/index.ts'
import { allDoors } from '../../packages/quintain/src/doors/serve/door-names.ts'
import { QuintainError } from '../../packages/quintain/src/index.ts'
import { openSandboxDriver } from '../../packages/quintain/src/sandbox-drivers.ts'
import { environments } from './environments.ts'
import { pages, tableOf } from './pages.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const wanted = process.argv.slice(2)
const counts = { passed: 0, failed: 0, skipped: 0 }
const say = (line: string) => process.stdout.write(`${line}\n`)
const doors = await allDoors()
const parts: EpisodeParity[] = []
for (const [name, tasks] of Object.entries(environments)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const part = await parityOf(name, tasks)
  if (part === undefined) continue
  parts.push(part)
  for (const { environment, player, cells } of part.rows) {
    for (const { way, differing, equal, lost } of cells) {
      const isGood = differing === 0 && equal + lost > 0
      counts[isGood ? 'passed' : 'failed']++
      if (!isGood) say(`FAILED ${environment}, ${player}, ${way}`)
    }
  }
}
const parity = mergeParity(parts)
const table = parityMarkdown(parity)
say(`\n${table}\n`)
for (const line of [...columnNotes(parity), ...parity.notes, ...examplesOf(parity)]) say(line)
if (parts.length > 0 && !isSame(parity)) say('not the same behind every door')
checkPages()
say(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed > 0 ? 1 : 0

async function parityOf(name: string, tasks: number): Promise<EpisodeParity | undefined> {
  try {
    return await environmentParity({
      env: `environments/${name}`,
      cwd: root,
      tasks,
      doors,
      workers: 1,
      openSandbox: openSandboxDriver,
      log: say,
      say: (what) => say(`${name}: ${what}`),
    })
  } catch (thrown) {
    if (!(QuintainError.isInstance(thrown) && thrown.code === 'needs_unmet')) throw thrown
    say(`skipped: ${name}: ${thrown.message}`)
    counts.skipped++
    return undefined
  }
}

/** Pages hold what was printed, where everything that they tell of was played. */
function checkPages(): void {
  if (parts.length < Object.keys(environments).length) return
  for (const page of pages) {
    const isThere = tableOf(page) === table
    counts[isThere ? 'passed' : 'failed']++
    if (!isThere) say(`FAILED ${page} holds another table than this one`)
  }
}
