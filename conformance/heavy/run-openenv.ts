// TRL's own `GRPOTrainer` with a tiny random model on the CPU, on the OpenEnv door, by the class that
// `quintain export openenv` writes. Run by hand, like `run.ts`; what OpenEnv's client needs comes from the environment of
// `conformance/openenv`. `node conformance/heavy/run-openenv.ts [gsm8k,hostile]`
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pythonNames } from '../../packages/quintain/src/doors/openenv/generate/generate-client.ts'
import { exportOpenEnv, openEnvDoor } from '../../packages/quintain/src/doors/openenv/index.ts'
import { openSessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { Tally } from '../tally.ts'
import { played, usual } from './played.ts'
import { checkTraining, train } from './trainer.ts'
import { trainingOf } from './training.ts'

const folder = import.meta.dirname
const environments: string[] = []
for (const one of [folder, join(folder, '../openenv')]) {
  const python = await pythonEnvironment(one, (text) => console.log(`heavy openenv: ${text}`), {
    python: 'python3.11',
  })
  if ('unavailable' in python) {
    console.log(`heavy openenv: skipped: ${python.unavailable}\n0 passed, 0 failed, 1 skipped`)
    process.exit(0)
  }
  environments.push(python.interpreter)
}
const [interpreter, peer] = environments as [string, string]
const packagesOfPeer = join(dirname(peer), '../lib/python3.11/site-packages')
const tally = new Tally('heavy openenv')
const runs = mkdtempSync(join(tmpdir(), 'quintain-heavy-openenv-'))
const wanted = process.argv[2]?.split(',') ?? usual
try {
  for (const name of wanted) {
    const env = played[name]!
    const dir = join(runs, name)
    const core = await openSessionCore({ env, dir, workers: 1 })
    const door = await openEnvDoor.open([core], { host: '127.0.0.1', port: 0, log: console.log })
    try {
      const { url } = door.addresses[0]!
      const out = `${dir}-package`
      mkdirSync(out)
      await exportOpenEnv({ core, reference: './env', out, url })
      const training = await trainingOf(name, { core, env, dir: `${dir}-oracle`, from: 'from_2' })
      const generated = { packages: [out, packagesOfPeer], ...pythonNames(core.environment) }
      const wish = { url, steps: 2, ...training, ...generated }
      const told = await train(interpreter, 'trl_openenv.py', wish)
      await core.close()
      const faults = told.rollouts.filter(({ id }) => id === 'broken' || id === 'unscored')
      tally.check(
        `${name}: ${faults.length} rollouts that failed have no reward`,
        faults.filter(({ reward }) => reward !== null),
        [],
      )
      await checkTraining(tally, { name, told, wish, run: dir })
      const { rollouts, steps } = told
      console.log(
        `heavy openenv: ${name} rewards ${JSON.stringify(rollouts.map(({ id, reward }) => [id, reward]))}`,
      )
      for (const step of steps) console.log(`heavy openenv: ${name} step ${JSON.stringify(step)}`)
    } finally {
      await door.close()
      await core.close()
    }
  }
} finally {
  rmSync(runs, { recursive: true, force: true })
}
console.log(`${tally.passed} passed, ${tally.failed} failed, 0 skipped`)
process.exit(tally.failed === 0 ? 0 : 1)
