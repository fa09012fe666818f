// Cases of area `outcome`: each runs real rollouts through `evaluate` and reads the run's own records back.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type AgentFunction,
  type AttemptRecord,
  chooseAttempt,
  type EvaluateOptions,
  environment,
  evaluate,
  type Fault,
  foldRun,
  type Harness,
  type Model,
  ModelFault,
  type OrderState,
  type RunResult,
  resume,
} from '../../packages/quintain/src/index.ts'
import { startFakeModel } from '../../packages/quintain/src/models/fake-server.ts'
import { createChatModel } from '../../packages/quintain/src/models/index.ts'
import { processDriver } from '../../packages/quintain/src/sandbox/index.ts'
import { processesWith } from '../../packages/quintain/src/sandbox/process-table.ts'
import { rewardFromFile } from '../../packages/quintain/src/scoring/index.ts'
import type { Ops } from './runner/case.ts'

/** A second of a case is so many milliseconds here: long enough to be told apart, short enough to wait for. */
const scaledSecond = 5
const shortMs = 60

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

const never = () => new Promise<never>(() => {})

const providerDown: Fault = {
  owner: 'provider',
  stage: 'model',
  code: 'http_503',
  message: 'the provider is down',
  retryable: true,
}

/** Runs in a folder of its own and gives the result with the states of its orders. */
async function recorded(
  env: Parameters<typeof evaluate>[0],
  options: EvaluateOptions,
): Promise<{ run: RunResult; states: OrderState<AttemptRecord>[] }> {
  const dir = await mkdtemp(join(tmpdir(), 'quintain-case-'))
  try {
    const run = await evaluate(env, { ...options, dir })
    return { run, states: (await foldRun(dir)).states }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** How a case's words for an agent's end come about. */
function agentThat(ends: string): AgentFunction {
  switch (ends) {
    case 'timeout':
    case 'cancelled':
      return never
    case 'error':
    case 'crash':
      return () => {
        throw new Error('the agent broke')
      }
    default:
      return () => 'done'
  }
}

/** A reward that does what a case says of its verifier. */
function rewardThat(verifier: unknown): () => number | Promise<number> {
  if (typeof verifier === 'object' && verifier !== null && 'reward' in verifier) {
    return () => (verifier as { reward: number }).reward
  }
  if (verifier === 'timeout') return never
  if (verifier === 'ok' || verifier === 'pass') return () => 1
  if (verifier === 'fail') return () => 0
  return () => {
    throw new Error(`the verifier broke: ${String(verifier)}`)
  }
}

/** A client whose provider fails once and answers then: the fault is recovered before anybody hears of it. */
async function modelThatRecovers() {
  const fake = await startFakeModel({ script: [{ kind: 'status', status: 503, body: {} }], text: 'done' })
  const model = createChatModel({ model: 'fake', baseUrl: fake.url, retry: { maxRetries: 2, baseMs: 1 } })
  return {
    model,
    async close() {
      await model.close?.()
      await fake.close()
    },
  }
}

function modelThatFails(): Model {
  return {
    id: 'failing',
    generate: () => Promise.reject(new ModelFault(providerDown)),
  }
}

async function trial(agent: unknown, verifier: unknown, providerFault?: unknown) {
  const env = environment({
    tasks: [{ id: 'trial', prompt: 'go' }],
    rewards: { verifier: rewardThat(verifier) },
    success: ({ rewards }) => rewards.verifier === 1,
  })
  const controller = new AbortController()
  if (agent === 'cancelled') setTimeout(() => controller.abort(), shortMs)
  const recovering = providerFault === 'recovered' ? await modelThatRecovers() : undefined
  const plays = agentThat(String(agent))
  const player: EvaluateOptions =
    recovering !== undefined
      ? {
          model: recovering.model,
          agent: async (turn) => {
            await turn.model.doGenerate({
              prompt: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
            })
            return plays(turn)
          },
        }
      : providerFault === undefined
        ? { agent: plays }
        : { model: modelThatFails() }
  try {
    return await recorded(env, {
      ...player,
      limits: { wall: recovering === undefined ? shortMs : 10 * shortMs, grade: shortMs },
      maxTries: 1,
      signal: controller.signal,
      graceMs: 1,
    })
  } finally {
    await recovering?.close()
  }
}

function statusWord(state: OrderState<AttemptRecord>): string {
  const owner = state.chosen?.fault?.owner
  if (owner === undefined) return state.status
  return owner === 'grader' ? 'verifier_error' : `${owner}_error`
}

/** Which attempts a run's records hold when its only order ended as `status` says, before and after a resume. */
async function resumed(status: string) {
  const env = environment({
    tasks: [{ id: 'trial', prompt: 'go' }],
    rewards: {
      verifier: rewardThat(
        status.startsWith('verifier') ? (status.endsWith('timeout') ? 'timeout' : 'crash') : { reward: 1 },
      ),
    },
    success: () => true,
  })
  const byVerifier = status.startsWith('verifier')
  const agent = /timeout/.test(status) && !byVerifier ? 'timeout' : status.replace(/^agent_/, '')
  const provider = !byVerifier && /provider|infra|sandbox|fault|env|setup|start|judge/.test(status)
  const controller = new AbortController()
  if (status === 'cancelled') setTimeout(() => controller.abort(), shortMs)
  const dir = await mkdtemp(join(tmpdir(), 'quintain-case-'))
  try {
    // Who plays is the same before and after; only what becomes of it is not.
    const first = agentThat(agent)
    let isAgain = false
    const plays: AgentFunction = (turn) => (isAgain ? 'done' : first(turn))
    const player = provider ? { model: modelThatFails() } : { agent: plays }
    await evaluate(env, {
      ...player,
      dir,
      limits: { wall: status === 'cancelled' ? 60_000 : shortMs, grade: shortMs },
      maxTries: 1,
      signal: controller.signal,
      graceMs: 1,
    })
    const before = (await foldRun(dir)).states[0]!
    isAgain = true
    await resume(dir, {
      ...player,
      env,
      maxTries: 1,
    })
    const after = (await foldRun(dir)).states[0]!
    return { retried: after.tries > before.tries, in_pass_at_k: before.status === 'scored' }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** An environment whose rollouts go as a case lists them: `ok`, or a fault on the first try. */
function rolloutsThat(kinds: readonly string[], options: { faultsLast: boolean; group: boolean }) {
  const tries = new Map<number, number>()
  const model: Model = {
    id: 'by-the-case',
    async generate(_request, { repeat = 0 }) {
      const nth = (tries.get(repeat) ?? 0) + 1
      tries.set(repeat, nth)
      const kind = kinds[repeat]!
      if (kind !== 'ok' && (options.faultsLast || nth === 1)) {
        throw new ModelFault({ ...providerDown, retryable: !options.faultsLast })
      }
      return { message: { role: 'assistant', content: `${repeat}` }, finish: 'stop', costUsd: 0 }
    },
  }
  const env = environment({
    tasks: [{ id: 'task', prompt: 'go' }],
    rewards: { own: () => 1 },
    ...(options.group
      ? {
          groupRewards: {
            rank: {
              reward: ({ members }: { members: readonly { id: string }[] }) =>
                Object.fromEntries(members.map(({ id }, place) => [id, place])),
            },
          },
        }
      : {}),
  })
  return { env, model, repeats: kinds.length }
}

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))

export const ops: Ops = {
  async 'trial.classify'(input) {
    const { run, states } = await trial(input['agent'], input['verifier'], input['provider_fault'])
    const [state] = states
    return {
      reward: state!.status === 'scored' ? state!.chosen!.verdict!.reward : null,
      timed_out: state!.chosen?.outcome === 'wall_limit',
      scored: state!.status === 'scored',
      status: statusWord(state!),
      counted_as_zero: state!.status !== 'scored' && run.summary.reward.observed === 0,
    }
  },

  async 'trial.count'(input) {
    const { states } = await trial(input['agent'], input['verifier'])
    const buckets: Record<string, number> = {}
    for (const state of states) {
      const word = statusWord(state) === 'verifier_error' ? 'verifier_errored' : statusWord(state)
      buckets[word] = (buckets[word] ?? 0) + 1
    }
    return { buckets, sum: Object.values(buckets).reduce((sum, count) => sum + count, 0) }
  },

  async 'trial.deadline'(input) {
    const of = (name: string) => (typeof input[name] === 'number' ? input[name] * scaledSecond : undefined)
    const setup = of('verifier_setup_s') ?? 0
    const grading = of('verify_s') ?? of('grading_needs_s') ?? 1
    const gradeLimit = of('verify_limit_s') ?? of('grading_limit_s') ?? 10_000
    const wait = of('gateway_wait_s') ?? 0
    const own = Math.max(0, (of('agent_used_s') ?? 0) - wait)
    const model: Model = {
      id: 'busy',
      async generate(_request, { onWait }) {
        onWait?.(true)
        await pause(wait)
        onWait?.(false)
        await pause(own)
        const timing = { totalMs: wait + own, waitMs: wait }
        return { message: { role: 'assistant', content: 'done' }, finish: 'stop', costUsd: 0, timing }
      },
    }
    const env = environment({
      tasks: [{ id: 'trial', prompt: 'go' }],
      // What must stand before anything is graded is settled with the world, outside the grading budget.
      world: () => ({ finish: async () => pause(setup) }),
      rewards: { verifier: async () => pause(grading).then(() => 1) },
    })
    const agentLimit = of('agent_limit_s')
    const { states } = await recorded(env, {
      model,
      maxTries: 1,
      limits: { grade: gradeLimit, ...(agentLimit === undefined ? {} : { wall: agentLimit }) },
    })
    return { graded: states[0]!.status === 'scored', timed_out: states[0]!.chosen?.outcome === 'wall_limit' }
  },

  /** The verifier writes its reward where it is told to, prints its marker where there is one, and then hangs or ends. */
  async 'trial.reward'(input) {
    const box = await processDriver().start()
    try {
      const { reward_file: file, stdout_marker: marker, timeout_after_write: hangs } = input
      const steps = [
        file === null || file === undefined ? ':' : 'printf %s "$1" > reward.txt',
        marker === null || marker === undefined ? ':' : 'echo "$2"',
        hangs === true ? 'sleep 60' : ':',
      ]
      const command = ['sh', '-c', steps.join('; '), 'verifier', String(file), String(marker)]
      await box.exec(command, { wallMs: hangs === true ? 500 : 10_000 })
      const reward = await rewardFromFile(box, 'reward.txt')
      return typeof reward === 'number' ? { reward } : { reward: null, reason: reward.reason }
    } finally {
      await box.stop()
    }
  },

  'trial.resume': (input) => resumed(String(input['status'])),

  'trial.resume.pick'(input) {
    const attempts = (input['attempts'] as { n: number; reward?: number; status?: string }[]).map(
      (attempt) => ({
        n: attempt.n,
        outcome: attempt.status === 'cancelled' ? ('cancelled' as const) : ('completed' as const),
        fault:
          attempt.status === undefined || attempt.status === 'cancelled' || attempt.reward !== undefined
            ? null
            : { ...providerDown, owner: 'grader' as const, code: attempt.status },
        verdict:
          attempt.reward === undefined
            ? null
            : { reward: attempt.reward, success: null, rewards: {}, metrics: {} },
      }),
    )
    return { chosen: chooseAttempt(attempts)?.n ?? null }
  },

  async 'trial.stop_reason'(input) {
    const harness: Harness = {
      name: 'case@1',
      carries: { turns: true, tools: true, images: true },
      run: async () => ({ outcome: 'agent_error', stop: String(input['harness']) }),
    }
    const env = environment({ tasks: [{ id: 'trial', prompt: 'go' }], rewards: { any: () => 0 } })
    const { states } = await recorded(env, { model: modelThatFails(), harness })
    return { stop_reason: states[0]!.chosen?.stop }
  },

  async 'group.run'(input) {
    const kinds = input['rollouts'] as string[]
    const { env, model, repeats } = rolloutsThat(kinds, { faultsLast: false, group: true })
    const { run, states } = await recorded(env, { model, repeats, maxTries: 2 })
    return {
      group_kept: states.every(({ chosen }) => chosen?.verdict?.rewards['rank'] != null),
      replacements: run.summary.attempts.retries,
    }
  },

  async 'batch.build'(input) {
    const kinds = input['rollouts'] as string[]
    const { env, model, repeats } = rolloutsThat(kinds, { faultsLast: true, group: false })
    const { states } = await recorded(env, { model, repeats, maxTries: 1 })
    // What can be built from a run are its scored rollouts; faults are none.
    return { built: states.some(({ status }) => status === 'scored') }
  },

  async drain(input) {
    const env = environment({ tasks: [{ id: 'eval', prompt: 'go' }], rewards: { any: () => 1 } })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), shortMs)
    const running = recorded(env, {
      agent: never,
      repeats: Math.max(1, Number(input['eval_in_flight'] ?? 1)),
      signal: controller.signal,
      graceMs: shortMs,
    })
    const ended = await Promise.race([running.then(() => true), pause(20_000).then(() => false)])
    return { exits: ended }
  },

  async 'scheduler.cancel_long'() {
    const env = environment({ tasks: [{ id: 'long', prompt: 'go' }], rewards: { any: () => 1 } })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), shortMs)
    let running = 0
    const { states } = await recorded(env, {
      agent: ({ signal }) => {
        running++
        return pause(600_000, signal).then(() => {
          running--
          return 'too late'
        })
      },
      signal: controller.signal,
      graceMs: 1,
    })
    await pause(1)
    return { immediate_requeue: states[0]!.tries > 1, accumulates: running > 0 }
  },

  async 'exec.timeout'(input) {
    const mark = `QUINTAIN_CASE=${process.pid}-${performance.now()}`
    const [name = '', value = ''] = mark.split('=')
    const box = await processDriver().start({ env: { [name]: value } })
    try {
      const began = performance.now()
      await box.exec(String(input['cmd']), { wallMs: Number(input['timeout_s']) * 1000 })
      return {
        returns_within_s: (performance.now() - began) / 1000,
        processes_left: processesWith(mark).length,
      }
    } finally {
      await box.stop()
    }
  },

  async 'runner.heartbeat'(input) {
    // The block is real; above a few seconds only its length would be new.
    const blockMs = Math.min(Number(input['sync_judge_s']), 8) * 1000
    const { states } = await recorded(fixture('blocking-judge.ts'), {
      policy: 'script:noop',
      options: { blockMs },
      workers: 1,
    })
    return { run_failed_by_runner: states[0]!.status !== 'scored' }
  },

  async 'worker.crash'() {
    const { states } = await recorded(fixture('crashing-world.ts'), {
      policy: 'script:noop',
      workers: 1,
      maxTries: 1,
    })
    const { status, chosen } = states[0]!
    // From the start of the attempt, in whose first turn the worker ends, to the end that the run has recorded for it.
    const surfaced = Date.parse(chosen?.end ?? '') - Date.parse(chosen?.start ?? '')
    return {
      surfaced_within_s: surfaced / 1000,
      code: chosen?.fault?.code,
      waits_forever: status === 'pending',
    }
  },
}
