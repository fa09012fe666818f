import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Harness } from '../../core/index.ts'
import { startRun } from '../../engine/index.ts'
import { allDoors } from '../serve/door-names.ts'
import { openSessionCore } from '../session/index.ts'
import { desk } from './__fixtures__/desk.ts'
import { examplesOf } from './parity-table.ts'
import { readEpisodes } from './read-episodes.ts'
import { runParity } from './run-parity.ts'

/** What models write in the place of arguments. */
const written = ['{"text": oops}', '["a"]', '"{\\"text\\":\\"double\\"}"', '', '{"text":"plain"}']

const odd: Harness = {
  name: 'odd@1',
  carries: { turns: false, tools: true, images: true },
  async run({ tools }) {
    for (const [place, args] of written.entries())
      await tools.run([{ id: `${place}`, name: 'note', arguments: args }], { truncated: false })
    return { outcome: 'completed', answer: 'Done.' }
  },
}

test('arguments that are no object are lost by name, where a protocol cannot carry them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quintain-odd-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const shared = { env: desk, isolation: 'inline' as const, options: { kinds: ['plain'] } }
  await startRun({ ...shared, dir: join(folder, 'run'), seats: { agent: { agent: odd } } })
  const run = await readEpisodes(join(folder, 'run'))
  expect(run.episodes[0]!.moves).toHaveLength(written.length + 1)
  const core = await openSessionCore({ ...shared, dir: join(folder, 'served') })
  onTestFinished(() => core.close())
  const parity = await runParity({ core, runs: [run], doors: await allDoors(), log: () => {} })
  expect(examplesOf(parity)).toEqual([])
  const cells = Object.fromEntries(
    parity.rows[0]!.cells.map(({ way, equal, losses }) => [way, [equal, losses]]),
  )
  const lost = [0, { 'arguments that are no object': 1 }]
  expect(cells).toEqual({
    session: [1, {}],
    native: [1, {}],
    ors: lost,
    openenv: lost,
    'nemo-gym': lost,
    hud: lost,
  })
}, 60_000)
