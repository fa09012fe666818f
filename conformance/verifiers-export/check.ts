// Exported packages in the real frameworks: verifiers v1 and v0 play wordle, gsm8k and orders with a model that says what
// the engine's own agents said, and must come to the engine's rewards; a server that dies must be an error, not a zero.
// `node conformance/verifiers-export/check.ts`, or with `v1` or `v0` for one of them.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { exportVerifiers } from '../../packages/quintain/src/doors/verifiers/index.ts'
import { startFakeModel } from '../../packages/quintain/src/models/fake-server.ts'
import { createChatModel } from '../../packages/quintain/src/models/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { Tally } from '../tally.ts'
import { type EvalOptions, evalV0, evalV1, install, type Rollout } from './frameworks.ts'
import { type Graded, type Replies, recordRun, replyFrom } from './recorded-model.ts'
import { quintain, root, type Served, serve } from './served.ts'

const tasks = 3
/** An agent that guesses one word again and again, since no model plays as a policy that knows the task. */
const stubborn = 'stubborn'
const environments = [
  { name: 'wordle', policies: ['script:solver', stubborn], own: true },
  { name: 'gsm8k', policies: ['script:oracle', stubborn], own: false },
  { name: 'orders', policies: ['script:oracle', 'script:yes'], own: false },
] as const
const frameworks = [
  { version: 'v1', evaluate: evalV1 },
  { version: 'v0', evaluate: evalV0 },
] as const

const work = mkdtempSync(join(tmpdir(), 'quintain-verifiers-'))
const say = (text: string) => process.stderr.write(`verifiers-export: ${text}\n`)
const tally = new Tally('verifiers-export')
let skipped = 0

/** What the engine gave, by environment and policy, and what its agents said. */
const graded = new Map<string, Graded[]>()
const replies = new Map<string, Replies>()
/** Told of each request of a model, by its name. */
const onRequest = new Map<string, () => void>()

const key = (name: string, policy: string) => `${name}/${policy.replace('script:', '')}`

async function record(): Promise<void> {
  for (const { name, policies } of environments) {
    for (const policy of policies) {
      const said: Replies = new Map()
      const dir = join(work, 'runs', key(name, policy))
      const env = join(root, 'environments', name)
      const agent =
        policy === stubborn ? { model: createChatModel({ model: policy, baseUrl: model.url }) } : { policy }
      const run = { env, dir, tasks, split: 'test', seats: { agent }, workers: 1, maxTries: 1 }
      graded.set(key(name, policy), await recordRun(run, said))
      replies.set(key(name, policy), said)
    }
  }
}

async function exportAll(version: 'v1' | 'v0'): Promise<string[]> {
  const folders: string[] = []
  for (const { name } of environments) {
    const reference = `environments/${name}`
    const dir = join(work, 'exports', `${version}-${name}`)
    const core = await openSessionCore({ env: join(root, reference), dir, workers: 1 })
    const out = join(work, 'packages', version, name)
    mkdirSync(out, { recursive: true })
    await exportVerifiers({ core, reference, out, for: version })
    await core.close()
    folders.push(out)
  }
  return folders
}

/** A rollout as the engine would have it, by the names that the framework shows. */
function agrees(rollout: Rollout | undefined, wanted: Graded): unknown {
  if (rollout === undefined) return 'was not played'
  const { error, reward, rewards, metrics } = rollout
  const taken = (from: Record<string, number | null>, names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, from[name] ?? null]))
  return {
    error,
    reward,
    rewards: taken(rewards, wanted.rewards),
    metrics: taken(metrics, wanted.metrics),
    success: metrics['success'],
  }
}

function expectedOf({ reward, rewards, metrics, success }: Graded): unknown {
  return { error: null, reward, rewards, metrics, success: success === null ? undefined : Number(success) }
}

const model = await startFakeModel({
  record: false,
  script: ({ body }) => {
    const { model: name } = body as { model: string }
    if (name === stubborn) return { kind: 'ok', message: { content: '[crane]' } }
    onRequest.get(name)?.()
    return replyFrom(replies.get(name.replace('dying-', '')) ?? new Map(), body)
  },
})
const servers: Served[] = []

try {
  say('recording what the engine gives')
  await record()
  const [only] = process.argv.slice(2)
  for (const { version, evaluate } of frameworks) {
    if (only !== undefined && only !== version) continue
    const python = await pythonEnvironment(join(import.meta.dirname, version), say)
    if ('unavailable' in python) {
      process.stdout.write(`verifiers-export: ${version} skipped: ${python.unavailable}\n`)
      skipped++
      continue
    }
    say(`exporting for ${version}`)
    await install(python, await exportAll(version))
    for (const { name, policies, own } of environments) {
      const server = own
        ? undefined
        : await serve(`environments/${name}`, join(work, `serve-${version}-${name}`))
      if (server !== undefined) servers.push(server)
      const env: Record<string, string> =
        server === undefined
          ? { QUINTAIN_CWD: root, QUINTAIN_COMMAND: quintain.join(' ') }
          : { QUINTAIN_URL: server.url }
      // Of the version that is on its way out one player an environment is enough: each evaluation starts a Python of its own.
      for (const policy of version === 'v0' ? policies.slice(0, 1) : policies) {
        const rollouts = await play(evaluate, { python, name, policy, env, label: version })
        for (const wanted of graded.get(key(name, policy))!) {
          const found = rollouts.find(({ task }) => task === wanted.task)
          tally.check(
            `${version} ${key(name, policy)} ${wanted.task}`,
            agrees(found, wanted),
            expectedOf(wanted),
          )
        }
      }
      await server?.stop()
    }
    const server = await serve('environments/wordle', join(work, `serve-${version}-dying`))
    servers.push(server)
    let asked = 0
    onRequest.set('dying-wordle/solver', () => {
      if (++asked === 2) server.kill()
    })
    const env = { QUINTAIN_URL: server.url }
    const lost = await play(evaluate, {
      python,
      name: 'dying-wordle',
      policy: 'script:random',
      env,
      label: version,
    })
    tally.check(`${version} a server that dies: every rollout is there`, lost.length, tasks)
    for (const { task, error, reward, rewards } of lost) {
      tally.check(`${version} a server that dies: ${task} is an error`, error !== null, true)
      tally.check(`${version} a server that dies: ${task} has no reward`, reward, null)
      tally.check(`${version} a server that dies: ${task} has no part of it`, rewards['game'] ?? null, null)
    }
  }
} finally {
  for (const server of servers) server.kill()
  await model.close()
  rmSync(work, { recursive: true, force: true })
}
console.log(`${tally.passed} passed, ${tally.failed} failed, ${skipped} skipped`)
process.exit(tally.failed === 0 ? 0 : 1)

async function play(
  evaluate: (options: EvalOptions) => Promise<Rollout[]>,
  {
    name,
    policy,
    label,
    ...rest
  }: Pick<EvalOptions, 'python' | 'env'> & {
    name: string
    policy: string
    label: string
  },
): Promise<Rollout[]> {
  say(`${label}: ${key(name, policy)}`)
  const out = join(work, 'out', label, key(name, policy))
  mkdirSync(out, { recursive: true })
  return evaluate({
    ...rest,
    distribution: `quintain-${name.replace('dying-', '')}`,
    model: { url: model.url, name: key(name, policy) },
    tasks,
    out,
  })
}
