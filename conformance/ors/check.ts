// The Open Reward Standard with the clients that speak it: `ors-sdk`, `openreward`, and TRL's OpenReward adapter, which
// builds dataset, tools and rewards from the address alone. Episodes that scripts played in the engine are played again
// through the door: same texts, same reward, once, on the last call. `node conformance/ors/check.ts [wordle,hostile]`
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orsDoor } from '../../packages/quintain/src/doors/ors/door.ts'
import {
  type CoreOptions,
  openSessionCore,
  type SessionCore,
} from '../../packages/quintain/src/doors/session/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { Tally } from '../tally.ts'
import { checkClient, checkTrl } from './client-checks.ts'
import { checkDocExample } from './doc-example.ts'
import { hostile } from './hostile.ts'
import { checkHostile, checkHostileTrl } from './hostile-checks.ts'
import { asker, type Bench } from './peers.ts'
import { record } from './record.ts'

const folder = import.meta.dirname
const clients = ['ors', 'openreward'] as const
const [wanted = 'wordle,gsm8k,orders,hostile'] = process.argv.slice(2)
const names = new Set(wanted.split(','))

const python = await pythonEnvironment(folder, (text) => console.log(`ors: ${text}`), {
  python: 'python3.11',
})
if ('unavailable' in python) {
  console.log(`ors: skipped: ${python.unavailable}\n0 passed, 0 failed, 1 skipped`)
  process.exit(0)
}
const tally = new Tally('ors')
const { interpreter } = python
const bench: Bench = { check: tally.check.bind(tally), ask: asker(interpreter) }
const runs = mkdtempSync(join(tmpdir(), 'quintain-ors-'))

/** Files under a folder that hold a text. */
function filesWith(dir: string, text: string): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map(({ parentPath, name }) => join(parentPath, name))
  if (files.length === 0) throw new Error(`nothing was recorded in ${dir}`)
  return files.filter((file) => readFileSync(file).includes(text))
}

/** Serves an environment while it is asked, to whoever has the key where there is one. */
async function serving(
  options: CoreOptions & { key?: string },
  use: (served: { core: SessionCore; url: string }) => Promise<void>,
): Promise<void> {
  const { key, ...given } = options
  const core = await openSessionCore(given)
  const token = key === undefined ? {} : { token: key }
  const door = await orsDoor.open([core], { host: '127.0.0.1', port: 0, log: console.log, ...token })
  try {
    await use({ core, url: door.addresses[0]!.url })
    bench.check(`${core.environment.slug}: no session is left`, core.stats().open, 0)
  } finally {
    await door.close()
    await core.close()
  }
}

try {
  for (const name of names) {
    if (name === 'hostile') continue
    const env = join(folder, '../../environments', name)
    await serving({ env, dir: join(runs, name), workers: 1 }, async ({ core, url }) => {
      const play = (policy: string, tasks: number) =>
        record({ core, env, dir: join(runs, `${name}-${policy}`), policy: `script:${policy}`, tasks })
      const episodes = [...(await play('oracle', 4)), ...(await play('noop', 1))]
      for (const client of clients) await checkClient(bench, client, { core, url, episodes })
      await checkTrl(bench, { core, url, episodes })
      if (name === 'wordle') await checkDocExample(bench, url)
    })
  }
  if (names.has('hostile')) {
    const key = 'a-key-that-opens-this-server'
    const dir = join(runs, 'hostile')
    await serving({ env: hostile, dir, key }, async (served) => {
      // With a key `openreward` sends it in X-Secrets too, of its own accord.
      const keyed: Bench = { ...bench, ask: asker(interpreter, key) }
      for (const client of clients) await checkHostile(keyed, client, served)
      await checkHostileTrl(keyed, served)
    })
    bench.check('hostile: no record holds the key', filesWith(dir, key), [])
  }
} finally {
  rmSync(runs, { recursive: true, force: true })
}
console.log(`${tally.passed} passed, ${tally.failed} failed, 0 skipped`)
process.exit(tally.failed === 0 ? 0 : 1)
