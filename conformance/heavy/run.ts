// TRL's own `GRPOTrainer` with a tiny random model on the CPU, on the ORS door, from its address alone. Run by hand: it
// installs PyTorch. What went over the wire is kept as a transcript, which `replay.ts` holds new servers against.
// `node conformance/heavy/run.ts [gsm8k,hostile]`; the transcript is written where nothing is named.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orsDoor } from '../../packages/quintain/src/doors/ors/door.ts'
import { openSessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { Tally } from '../tally.ts'
import { Handles } from './exchange.ts'
import { played, usual } from './played.ts'
import { type RecordingProxy, recordingProxy } from './recording-proxy.ts'
import { settledOf } from './settled.ts'
import { checkTraining, train } from './trainer.ts'
import { trainingOf } from './training.ts'
import { type Scene, writeTranscript } from './transcript.ts'

const folder = import.meta.dirname
const python = await pythonEnvironment(folder, (text) => console.log(`heavy: ${text}`), {
  python: 'python3.11',
})
if ('unavailable' in python) {
  console.log(`heavy: skipped: ${python.unavailable}\n0 passed, 0 failed, 1 skipped`)
  process.exit(0)
}
const tally = new Tally('heavy')

/** Holds the rewards of a scene against what the server said in each session. */
function checkRewards({ environment, exchanges, rollouts }: Scene): void {
  const settled = settledOf(exchanges)
  for (const { session, id, reward, finished } of rollouts) {
    const server = settled.get(session) ?? { reward: null, finished: false }
    const single = server.reward === null ? null : Math.fround(server.reward)
    tally.check(
      `${environment}: ${session} (${id}) is rewarded as the server said`,
      [reward, finished],
      [single, server.finished],
    )
  }
  // Nobody's score, which the trainer must not take for 0.
  const without = rollouts.filter(({ session }) => (settled.get(session)?.errors ?? 1) > 0)
  tally.check(
    `${environment}: ${without.length} rollouts that failed or called nothing have no reward`,
    without.filter(({ reward }) => reward !== null),
    [],
  )
}

const runs = mkdtempSync(join(tmpdir(), 'quintain-heavy-'))
const scenes: Scene[] = []
let versions: Record<string, string> = {}
const chosen = process.argv[2]?.split(',')
/** Keeps what was played so far, if nobody chose and all was right. */
function keep(): void {
  if (chosen !== undefined || tally.failed > 0) return
  const date = new Date().toISOString().slice(0, 10)
  const transcripts = join(folder, 'transcripts')
  mkdirSync(transcripts, { recursive: true })
  writeTranscript(join(transcripts, `trl-openreward-${date}.jsonl`), { date, versions, scenes })
  console.log(`heavy: wrote transcripts/trl-openreward-${date}.jsonl`)
}

try {
  for (const name of chosen ?? usual) {
    const env = played[name]!
    const dir = join(runs, name)
    const core = await openSessionCore({ env, dir, workers: 1 })
    const door = await orsDoor.open([core], { host: '127.0.0.1', port: 0, log: console.log })
    let proxy: RecordingProxy | undefined
    try {
      const training = await trainingOf(name, { core, env, dir: `${dir}-oracle`, from: 'from_' })
      proxy = await recordingProxy(door.addresses[0]!.url)
      const wish = { url: proxy.url, steps: 2, ...training }
      const told = await train(python.interpreter, 'trl_openreward.py', wish)
      versions = told.versions
      const handles = new Handles()
      const exchanges = proxy.exchanges.map((one) => handles.stable(one))
      const rollouts = told.rollouts.map((one) => ({ ...one, session: handles.known(one.session) }))
      const scene: Scene = { environment: name, exchanges, rollouts, steps: told.steps }
      scenes.push(scene)
      checkRewards(scene)
      tally.check(`${name}: no session is left`, core.stats().open, 0)
      const settled = settledOf(exchanges)
      const lost = [...proxy.unanswered].map((id) => handles.known(id))
      // A session that failed is gone, and says so.
      const alive = lost.filter((session) => (settled.get(session)?.errors ?? 0) === 0)
      tally.check(`${name}: no sign of life is refused while the session is sound`, alive, [])
      await core.close()
      await checkTraining(tally, { name, told, wish, run: dir })
      console.log(`heavy: ${name} rewards ${JSON.stringify(rollouts.map(({ id, reward }) => [id, reward]))}`)
      for (const step of told.steps) console.log(`heavy: ${name} step ${JSON.stringify(step)}`)
      keep()
    } finally {
      await proxy?.close()
      await door.close()
      await core.close()
    }
  }
} finally {
  rmSync(runs, { recursive: true, force: true })
}
console.log(`${tally.passed} passed, ${tally.failed} failed, 0 skipped`)
process.exit(tally.failed === 0 ? 0 : 1)
