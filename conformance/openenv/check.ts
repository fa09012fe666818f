// OpenEnv with its own clients: `GenericEnvClient`, `MCPToolClient`, `openenv validate --url`, and the packages that we
// generate, whose class for TRL is driven as its trainer does. Episodes that scripts played in the engine are played again
// through the door: same texts, same reward, once. `node conformance/openenv/check.ts`
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pythonNames } from '../../packages/quintain/src/doors/openenv/generate/generate-client.ts'
import { exportOpenEnv, openEnvDoor } from '../../packages/quintain/src/doors/openenv/index.ts'
import { type CoreOptions, openSessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { record } from '../ors/record.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { checkEpisodes, checkLost, checkValidator, type Served } from './client-checks.ts'
import { checkHostile } from './hostile-checks.ts'
import { Peers } from './peers.ts'

const folder = import.meta.dirname
const python = await pythonEnvironment(folder, (text) => console.log(`openenv: ${text}`), {
  python: 'python3.11',
})
if ('unavailable' in python) {
  console.log(`openenv: skipped: ${python.unavailable}\n0 passed, 0 failed, 1 skipped`)
  process.exit(0)
}
const peers = new Peers(python.interpreter)
const runs = mkdtempSync(join(tmpdir(), 'quintain-openenv-'))

/** Serves an environment while it is asked, with a generated package beside it. */
async function serving(
  options: CoreOptions,
  use: (served: Served) => Promise<void>,
  token?: string,
): Promise<void> {
  const core = await openSessionCore(options)
  const wanted = token === undefined ? {} : { token }
  const door = await openEnvDoor.open([core], { host: '127.0.0.1', port: 0, log: console.log, ...wanted })
  try {
    const { url } = door.addresses[0]!
    const out = join(runs, `${core.environment.slug}-package`)
    mkdirSync(out)
    await exportOpenEnv({ core, reference: './env', out, url })
    await use({ core, url, generated: { package: out, ...pythonNames(core.environment) }, ...wanted })
  } finally {
    await door.close()
    await core.close()
  }
}

try {
  for (const name of ['wordle', 'gsm8k', 'orders']) {
    const env = join(folder, '../../environments', name)
    await serving({ env, dir: join(runs, name), workers: 1 }, async (served) => {
      const play = (policy: string, tasks: number) =>
        record({
          core: served.core,
          env,
          dir: join(runs, `${name}-${policy}`),
          policy: `script:${policy}`,
          tasks,
        })
      const episodes = [...(await play('oracle', 3)), ...(await play('noop', 1))]
      await checkValidator(peers, served)
      await checkEpisodes(peers, { ...served, episodes })
      peers.check(`${name}: no session is left`, served.core.stats().open, 0)
    })
  }
  const { slow } = await import('./slow.ts')
  await serving(
    { env: slow, dir: join(runs, 'slow') },
    (served) => checkLost(peers, served),
    'a token of these tests',
  )
  await checkHostile(peers, runs)
} finally {
  rmSync(runs, { recursive: true, force: true })
}
console.log(`${peers.passed} passed, ${peers.failed} failed, 0 skipped`)
process.exit(peers.failed === 0 ? 0 : 1)
