// HUD's control channel with the package that speaks it, `hud`: its client, its runner, and its command line with an agent
// of its own whose model is a script. Episodes that scripts played in the engine are played again through the door: same
// texts, same reward. `node conformance/hud/check.ts`
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportHud, hudDoor } from '../../packages/quintain/src/doors/hud/index.ts'
import {
  type CoreOptions,
  openSessionCore,
  type SessionCore,
} from '../../packages/quintain/src/doors/session/index.ts'
import { openSandboxDriver } from '../../packages/quintain/src/sandbox-drivers.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { Tally } from '../tally.ts'
import {
  type Bench,
  checkChannel,
  checkEval,
  checkFaults,
  checkJob,
  checkSplitCommands,
  faultyEpisodes,
  type Served,
} from './checks.ts'
import { type HudEpisode, record } from './episodes.ts'
import { faulty } from './faulty.ts'
import { HudProgram, wished } from './peers.ts'

const folder = import.meta.dirname
const python = await pythonEnvironment(folder, (text) => console.log(`hud: ${text}`), {
  python: 'python3.11',
})
if ('unavailable' in python) {
  console.log(`hud: skipped: ${python.unavailable}\n0 passed, 0 failed, 1 skipped`)
  process.exit(0)
}
const program = new HudProgram(python.interpreter)
const tally = new Tally('hud')
const bench: Bench = { program, tally }
const runs = mkdtempSync(join(tmpdir(), 'quintain-hud-'))

const cores: SessionCore[] = []
const open = async (env: CoreOptions['env'], name: string): Promise<SessionCore> => {
  const dir = join(runs, name)
  const core = await openSessionCore({ env, dir, workers: 1, openSandbox: openSandboxDriver })
  cores.push(core)
  return core
}

try {
  const recorded: (readonly HudEpisode[])[] = []
  for (const name of ['gsm8k', 'wordle', 'orders', 'terminal']) {
    const env = join(folder, '../../environments', name)
    const core = await open(env, name)
    recorded.push(await record(core, { env, dir: join(runs, name), tasks: { oracle: 4, noop: 1 } }))
  }
  await open(faulty, 'faulty')
  recorded.push(faultyEpisodes)
  const door = await hudDoor.open(cores, { host: '127.0.0.1', port: 0, log: console.log })
  const all: Served[] = []
  for (const [place, core] of cores.entries()) {
    const out = mkdtempSync(join(runs, 'rows-'))
    await exportHud({ core, reference: 'environment', out })
    const { slug } = core.environment
    const { url } = door.addresses[place]!
    all.push({ slug, url, tasks: join(out, 'tasks.jsonl'), episodes: recorded[place]! })
  }
  const [gsm8k, wordle, orders] = all as [Served, Served, Served]
  const [first] = gsm8k.episodes as [HudEpisode]
  const told = await program.play({
    jobs: all.map(({ url, tasks, episodes }) => ({ url, tasks, episodes: wished(episodes) })),
    channel: { url: gsm8k.url, split: first.split, task: first.task, answer: first.answer },
  })
  for (const served of all.slice(0, -1)) checkJob(bench, served, told.jobs[all.indexOf(served)]!)
  checkFaults(bench, told.jobs.at(-1)!)
  checkChannel(bench, first, told.channel)
  await checkEval(bench, wordle)
  await checkEval(bench, orders)
  await checkSplitCommands(bench, gsm8k)
  for (const core of cores) tally.check(`${core.environment.slug}: no session is left`, core.stats().open, 0)
  await door.close()
} finally {
  for (const core of cores) await core.close()
  program.close()
  rmSync(runs, { recursive: true, force: true })
}
console.log(`${tally.passed} passed, ${tally.failed} failed, 0 skipped`)
process.exit(tally.failed === 0 ? 0 : 1)
