import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { foldRun, type Harness, readTrajectory } from '../../packages/quintain/src/core/index.ts'
import { evaluate } from '../../packages/quintain/src/index.ts'
import { faultsOfGraph } from './check-graph.ts'
import type { Example } from './examples.ts'
import { folderOf } from './install.ts'

const orders = join(import.meta.dirname, '..', '..', 'environments', 'orders')

/** Plays an example with the oracle in the place of its model. Gives what is wrong; nothing when all is as it should be. */
export async function playExample(example: Example, stream: boolean): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'quintain-agents-'))
  // As a user sets it: the example hands it on to its agent.
  process.env['STREAM'] = stream ? '1' : '0'
  try {
    const file = pathToFileURL(join(folderOf(example.name), 'quintain.ts')).href
    const { default: agent } = (await import(`${file}?${stream}`)) as { default: Harness }
    const run = await evaluate(example.ownTools ? folderOf(example.name) : orders, {
      agent,
      policy: 'script:oracle',
      tasks: example.tasks,
      ...(example.ownTools ? {} : { split: 'test' }),
      dir: join(dir, 'run'),
    })
    const complaints: string[] = []
    if (run.success.value !== 1 || run.coverage !== 1)
      complaints.push(`success ${run.success.value}, coverage ${run.coverage}`)
    for (const { chosen: attempt } of (await foldRun(join(dir, 'run'))).states) {
      if (attempt === undefined) continue
      const { task, outcome, stop, fault, counts } = attempt
      if (fault !== null) complaints.push(`${task}: ${fault.code}: ${fault.message}`)
      const wanted = example.ownTools ? 'completed' : 'env_done'
      if (outcome !== wanted) complaints.push(`${task}: ${outcome} (${stop})`)
      if (Object.keys(counts.flags ?? {}).length > 0)
        complaints.push(`${task}: ${JSON.stringify(counts.flags)}`)
      const trajectory = await readTrajectory(join(dir, 'run'), attempt)
      complaints.push(...faultsOfGraph(trajectory, counts.turns, example).map((text) => `${task}: ${text}`))
    }
    return complaints
  } finally {
    delete process.env['STREAM']
    rmSync(dir, { recursive: true, force: true })
  }
}
