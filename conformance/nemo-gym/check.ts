// The NeMo Gym door and its real peers. verifiers v1, by its own taskset `nemo_gym` and no Python of ours, plays wordle,
// gsm8k and orders from exported rows and a URL with a model that says what the engine's own agents said, and must come to
// the engine's rewards. nemo-gym's own contract helper, its environment server and its agents talk to the same server.
// `node conformance/nemo-gym/check.ts`
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exportNemoGym, nemoGymDoor } from '../../packages/quintain/src/doors/nemo-gym/index.ts'
import { openSessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { startFakeModel } from '../../packages/quintain/src/models/fake-server.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { Tally } from '../tally.ts'
import { type Graded, type Replies, recordRun } from '../verifiers-export/recorded-model.ts'
import { root } from '../verifiers-export/served.ts'
import { nemoEnvironment } from './nemo-environment.ts'
import { spokenReply } from './spoken.ts'
import { evalRows, type Rollout } from './verifiers-eval.ts'

const run = promisify(execFile)
const tasks = 3
const environments = [
  { name: 'wordle', policies: ['script:solver'], tools: ['say'] },
  { name: 'gsm8k', policies: ['script:oracle'], tools: [] },
  { name: 'orders', policies: ['script:oracle'], tools: undefined },
] as const

const work = mkdtempSync(join(tmpdir(), 'quintain-nemo-gym-'))
const say = (text: string) => process.stderr.write(`nemo-gym: ${text}\n`)
const [only, onlyEnvironment] = process.argv.slice(2)
const tally = new Tally('nemo-gym')
let skipped = 0

/** What the engine's agents said, by environment and policy. */
const replies = new Map<string, Replies>()
const model = await startFakeModel({
  record: false,
  script: ({ body }) => spokenReply(replies.get((body as { model: string }).model) ?? new Map(), body),
})
const opened: { close(): Promise<void> }[] = []

const places = new Map<string, { url: string; rows: string }>()

/** An environment behind the door, with its rows. */
async function served(name: string): Promise<{ url: string; rows: string }> {
  const known = places.get(name)
  if (known !== undefined) return known
  const reference = join(root, 'environments', name)
  const core = await openSessionCore({ env: reference, dir: join(work, 'served', name), workers: 1 })
  const door = await nemoGymDoor.open([core], { host: '127.0.0.1', port: 0, log: say })
  opened.push(door, core)
  const out = join(work, 'rows', name)
  mkdirSync(out, { recursive: true })
  await exportNemoGym({ core, reference: `environments/${name}`, out })
  const rows = join(out, 'resources_servers', core.environment.slug, 'data', 'test.jsonl')
  const place = { url: door.addresses[0]!.url, rows }
  places.set(name, place)
  return place
}

function agrees(rollout: Rollout | undefined, { rewards, metrics }: Graded): unknown {
  if (rollout === undefined) return 'was not played'
  const named = { ...rewards, ...metrics }
  const shown = Object.fromEntries(Object.keys(named).map((name) => [name, rollout.metrics[name] ?? null]))
  const { error, reward } = rollout
  return { error, reward, shown, masked: rollout.metrics['mask_sample'] }
}

async function playWithVerifiers(): Promise<void> {
  const python = await pythonEnvironment(join(import.meta.dirname, '../verifiers-export/v1'), say)
  if ('unavailable' in python) {
    process.stdout.write(`nemo-gym: verifiers skipped: ${python.unavailable}\n`)
    skipped++
    return
  }
  for (const { name, policies, tools } of environments) {
    if (onlyEnvironment !== undefined && onlyEnvironment !== name) continue
    const { url, rows } = await served(name)
    for (const policy of policies) {
      const key = `${name}/${policy.replace('script:', '')}`
      const said: Replies = new Map()
      const dir = join(work, 'runs', key)
      const options = {
        env: join(root, 'environments', name),
        dir,
        tasks,
        split: 'test',
        workers: 1,
        maxTries: 1,
      }
      const graded = await recordRun({ ...options, seats: { agent: { policy } } }, said)
      replies.set(key, said)
      say(`verifiers plays ${key}`)
      const out = join(work, 'out', key)
      mkdirSync(out, { recursive: true })
      const served = { rows, url, tasks, out }
      const rollouts = await evalRows({ ...served, python, model: { url: model.url, name: key } })
      for (const wanted of graded) {
        const found = rollouts.find(({ task }) => task === wanted.task)
        const { reward, rewards, metrics } = wanted
        const expected = { error: null, reward, shown: { ...rewards, ...metrics }, masked: 0 }
        tally.check(`verifiers ${key} ${wanted.task}`, agrees(found, wanted), expected)
        if (tools !== undefined)
          tally.check(`verifiers ${key} ${wanted.task}: its tools`, found?.tools, tools)
      }
    }
  }
}

async function playWithNemoGym(): Promise<void> {
  const python = await nemoEnvironment(say)
  if ('unavailable' in python) {
    process.stdout.write(`nemo-gym: nemo-gym skipped: ${python.unavailable}\n`)
    skipped++
    return
  }
  const { url, rows } = await served('wordle')
  say('nemo-gym plays wordle')
  const { stdout } = await run(
    python.interpreter,
    [join(import.meta.dirname, 'peer.py'), url, join(rows, '..')],
    { maxBuffer: 2 ** 26, timeout: 300_000 },
  )
  const told = stdout
    .split('\n')
    .filter((line) => line.startsWith('{"name"'))
    .map((line) => JSON.parse(line) as { name: string; ok: boolean; detail: unknown })
  tally.check('nemo-gym was asked everything', told.length, 12)
  for (const { name, ok, detail } of told) tally.check(`nemo-gym ${name}`, ok || detail, true)
}

try {
  if (only === undefined || only === 'nemo-gym') await playWithNemoGym()
  if (only === undefined || only === 'verifiers') await playWithVerifiers()
} finally {
  for (const one of opened) await one.close()
  await model.close()
  rmSync(work, { recursive: true, force: true })
}
console.log(`${tally.passed} passed, ${tally.failed} failed, ${skipped} skipped`)
process.exit(tally.failed === 0 ? 0 : 1)
