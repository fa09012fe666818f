import {
  checkJudge,
  checkSandbox,
  createRng,
  type Environment,
  type ErasedDefinition,
  type Fault,
  type GroupMember,
  type Harness,
  isUnscored,
  type Limits,
  type Model,
  messageOf,
  type Need,
  noSandbox,
  type Observation,
  type OutputFormat,
  type PublicTask,
  QuintainError,
  resolveLimits,
  type SandboxDefinition,
  type Script,
  type Seat,
  stackOf,
  type Task,
  virtualClock,
} from '../core/index.ts'
import { chat, toolLoop } from '../harness/index.ts'
import { createRecordedModel, createScriptModel, noop, randomCalls } from '../models/index.ts'
import { absentModel } from './absent-model.ts'
import {
  type AttemptOutput,
  Cancellation,
  faultedAttempt,
  runAttempt,
  type SeatAssignment,
} from './attempt.ts'
import { AttemptBoxes } from './attempt-boxes.ts'
import { type BoxDoor, boxOwner, probeOwner } from './box-protocol.ts'
import { kindOf } from './given.ts'
import { totalReward } from './grade.ts'
import { anyJudge, judgeSeat } from './judge-desk.ts'
import { listTasks } from './list-tasks.ts'
import { openOptions } from './open-options.ts'
import { OutputModel } from './output-model.ts'
import type { OutsideSeat } from './outside-harness.ts'
import type { PlayDoor } from './play.ts'
import { policyName, samplingOf, withScriptedSeats } from './policy.ts'
import type {
  GroupMemberData,
  GroupVerdict,
  HostDescription,
  HostSpec,
  Job,
  PolicySpec,
  TaskQuery,
} from './protocol.ts'
import { hideKeys, redactor } from './redact.ts'
import { type Activity, noOrder, StepFailure, step } from './step.ts'
import { openSummaryOf, openTaskset, publicDigest, type TaskSummary, type Taskset } from './taskset.ts'
import { storedTranscript } from './transcript.ts'

export interface HostOptions {
  env: Environment
  spec: HostSpec
  activity: Activity
  /** The model behind a `model` policy: a client here, or the main process's over the wire. */
  modelOf(id: string, seat: Seat): Model
  /** The boxes of an attempt or of a probe, by `boxOwner`. */
  boxesOf(owner: string): BoxDoor
  /** The harness of the agent's seat beside the world, instead of the one that fits the environment's needs. */
  harness?: Harness
  /** The way to the harnesses of seats that are played from outside. */
  plays?: PlayDoor
}

/** An environment that is loaded with its options, ready to list tasks and to run attempts. One per worker. */
export class EnvironmentHost {
  readonly description: HostDescription
  private readonly rubric: string
  private readonly definition: ErasedDefinition
  private readonly options: HostOptions
  private readonly taskset: Taskset
  private readonly envLimits: Limits | undefined
  private readonly running = new Set<Cancellation>()
  private readonly declared: ReadonlySet<Need>
  private readonly output: OutputFormat | undefined

  private constructor(
    options: HostOptions,
    taskset: Taskset,
    envLimits: Limits | undefined,
    description: HostDescription,
  ) {
    this.options = options
    this.definition = options.env.definition
    this.taskset = taskset
    this.envLimits = envLimits
    this.description = description
    this.rubric = rubricName(description)
    this.declared = new Set(description.needs)
    const { output } = this.definition
    this.output = typeof output === 'function' ? output({ options: options.spec.options as never }) : output
  }

  /** Checks the options and opens the tasks. Throws `options_invalid`, `limits_invalid`, `tasks_invalid`. */
  static async open(options: HostOptions): Promise<EnvironmentHost> {
    const { definition } = options.env
    const opened = await openOptions(definition, options.spec.options)
    const envLimits =
      typeof definition.limits === 'function'
        ? definition.limits({ options: opened as never })
        : definition.limits
    const permissions =
      typeof definition.permissions === 'function'
        ? definition.permissions({ options: opened as never })
        : (definition.permissions ?? {})
    const sandbox = sandboxOf(definition, opened)
    const rewards: HostDescription['rewards'] = {}
    for (const [name, reward] of Object.entries(definition.rewards)) {
      rewards[name] = { kind: 'reward', weight: typeof reward === 'function' ? 1 : reward.weight }
    }
    for (const [name, reward] of Object.entries(definition.groupRewards ?? {})) {
      rewards[name] = { kind: 'group', weight: reward.weight ?? 1 }
    }
    const description: HostDescription = {
      options: opened,
      rewards,
      metrics: Object.keys(definition.metrics ?? {}),
      success: definition.success !== undefined,
      seats: ['agent', ...Object.keys(definition.seats ?? {}).filter((seat) => seat !== 'agent')],
      scripted: Object.entries(definition.seats ?? {}).flatMap(([seat, { play }]) => (play ? [seat] : [])),
      oracle: definition.oracle !== undefined,
      policies: Object.keys(definition.policies ?? {}),
      unplayable: unplayableIn(definition, opened),
      floor: [...(definition.floor ?? [])],
      notes: notesOf(definition, opened),
      needs: [...new Set<Need>([...(definition.needs ?? []), ...(sandbox ? ['sandbox' as const] : [])])],
      limits: Object.freeze(resolveLimits(envLimits, options.spec.limits)),
      permissions,
      judges: judgesOf(definition, opened),
      ...(sandbox === undefined ? {} : { sandbox }),
    }
    const seats = withScriptedSeats(options.spec.seats, description.scripted)
    const runOptions = { ...options, spec: { ...options.spec, options: opened, seats } }
    const taskset = await openTaskset(definition, opened, options.spec.seed)
    return new EnvironmentHost(runOptions, taskset, envLimits, description)
  }

  /** Tasks in order, without anything secret. */
  async *list(query: TaskQuery): AsyncGenerator<TaskSummary, void, undefined> {
    if (query.at !== undefined) {
      for (const index of query.at) yield openSummaryOf(await this.taskset.at(index), index)
      return
    }
    yield* listTasks(this.taskset, query)
  }

  /** What an environment that does not declare its needs asks for, seen by opening the world of a task. Rejects when that world does not open. */
  async probe(index: number): Promise<Need[]> {
    const { definition } = this
    const needs = new Set<Need>(this.description.needs)
    if (Object.keys(definition.groupRewards ?? {}).length > 0) needs.add('groupRewards')
    if (this.description.seats.length > 1) needs.add('seats')
    if (definition.needs === undefined && definition.world !== undefined) {
      const task = await this.taskset.at(index)
      const over = new AbortController()
      const boxes = this.boxesOf(probeOwner)
      const run = <T>(stage: string, what: string, code: () => T | Promise<T>) =>
        step(
          {
            owner: 'world',
            stage,
            what,
            ms: this.description.limits.toolMs!,
            seq: noOrder,
            activity: this.options.activity,
            hold: boxes,
            redact: () => 'its text is left out here, since it may quote the secret; run one task to see it',
          },
          code,
        )
      const world = await run('open', 'world()', () =>
        definition.world!(task, {
          options: this.options.spec.options as never,
          rng: createRng('probe'),
          clock: virtualClock(),
          sandbox: boxes?.forWorld() ?? noSandbox,
          signal: over.signal,
        }),
      )
      try {
        if (await run('open', 'world.reply', () => world.reply !== undefined)) needs.add('turns')
        const tools = await run('tools', 'world.tools()', () => world.tools?.('agent') ?? [])
        if (await run('tools', 'world.tools()', () => tools.length > 0)) needs.add('tools')
      } finally {
        over.abort()
        try {
          await run('close', 'world.close()', () => world.close?.())
        } catch {
          // The probe is only a look; a world that cannot close will say so in its rollouts.
        }
      }
    }
    return [...needs]
  }

  /** Runs one attempt. Never rejects for what the environment or the agent does. */
  async run(job: Job): Promise<AttemptOutput> {
    const { spec } = this.options
    const cancellation = new Cancellation()
    this.running.add(cancellation)
    try {
      const task = await this.taskset.at(job.order.index)
      if (publicDigest(task) !== job.order.taskDigest) {
        throw new QuintainError(
          'run_mismatch',
          `Task ${job.order.task} is not the one that was ordered; its public part has changed. Start a new run.`,
        )
      }
      return await runAttempt({
        definition: this.definition,
        options: spec.options,
        task,
        order: job.order,
        try: job.try,
        seats: this.assignments(job),
        // Those without limits of the task are the same for every attempt.
        limits:
          task.limits === undefined
            ? this.description.limits
            : resolveLimits(this.envLimits, task.limits, spec.limits),
        runSeed: spec.seed,
        rubric: this.rubric,
        cancellation,
        activity: this.options.activity,
        boxes: this.description.sandbox && this.options.boxesOf(boxOwner(job)),
        judges: this.description.judges,
        judgeOf: (judge) => this.judgeOf(judge),
      })
    } catch (thrown) {
      return lostAttempt(job, thrown)
    } finally {
      this.running.delete(cancellation)
    }
  }

  /** Cancels every attempt that runs here. */
  cancel(): void {
    for (const attempt of this.running) attempt.cancel()
  }

  /** Runs the group rewards over the recorded members of a group. Rejects with a `StepFailure` of the grader. */
  async gradeGroup(members: readonly GroupMemberData[]): Promise<GroupVerdict[]> {
    const tasks = await Promise.all(members.map(({ index }) => this.taskset.at(index)))
    const views: GroupMember<unknown, unknown, unknown>[] = members.map((member, place) => ({
      id: member.attempt,
      task: tasks[place]!,
      transcript: storedTranscript(member.trajectory, member),
      state: member.state,
      rewards: member.summary.rewards,
    }))
    const components = members.map((member) => ({ ...member.verdict.components }))
    const controller = new AbortController()
    const withoutSecrets = redactor(tasks.map(({ secret }) => secret))
    const redact = (text: string) => hideKeys(withoutSecrets(text))
    try {
      for (const [name, reward] of Object.entries(this.definition.groupRewards ?? {})) {
        const what = `group reward "${name}"`
        const failed = (code: string, message: string) =>
          new StepFailure({ owner: 'grader', stage: 'group', code, message, retryable: false }, message)
        const tooFew = members.length < (reward.atLeast ?? 2)
        const run = () =>
          step<unknown>(
            {
              owner: 'grader',
              stage: 'group',
              what,
              ms: this.description.limits.gradeMs!,
              seq: noOrder,
              activity: this.options.activity,
              redact,
            },
            () =>
              reward.reward({
                members: views,
                options: this.options.spec.options as never,
                signal: controller.signal,
              }),
          )
        const given = tooFew ? {} : await twice(run)
        if (typeof given !== 'object' || given === null) {
          throw failed(
            'reward_not_a_number',
            `${what} gave ${kindOf(given)}; return a number for each member, by id`,
          )
        }
        for (const [place, member] of members.entries()) {
          const value = (given as Record<string, unknown>)[member.attempt]
          const reason = tooFew
            ? 'group_too_small'
            : isUnscored(value)
              ? redact(String(value.reason)).slice(0, 200)
              : undefined
          if (reason === undefined && (typeof value !== 'number' || !Number.isFinite(value))) {
            throw failed(
              value === undefined ? 'member_without_value' : 'reward_not_a_number',
              `${what} gave no finite number for member ${member.attempt}; return one for each member, by id`,
            )
          }
          components[place]![name] = {
            kind: 'group',
            value: reason === undefined ? (value as number) : null,
            weight: reward.weight ?? 1,
            ...(reason === undefined ? {} : { reason }),
          }
        }
      }
    } finally {
      controller.abort()
    }
    const at = new Date().toISOString()
    return members.map((member, place) => {
      const mine = components[place]!
      const blank = Object.entries(mine).find(
        ([, component]) =>
          component.value === null &&
          component.weight !== 0 &&
          component.kind !== 'metric' &&
          component.seat === undefined,
      )
      const unscored =
        blank === undefined ? undefined : { component: blank[0], reason: blank[1].reason ?? 'unscored' }
      const reward = totalReward(mine)
      if (reward !== null && !Number.isFinite(reward)) {
        const message = 'the weighted sum of the rewards is not finite'
        const code = 'reward_not_finite'
        throw new StepFailure({ owner: 'grader', stage: 'group', code, message, retryable: false }, message)
      }
      const rewards = Object.fromEntries(
        Object.entries(mine).flatMap(([name, { kind, value }]) => (kind === 'metric' ? [] : [[name, value]])),
      )
      const { pending: _p, unscored: _u, ...summary } = member.summary
      const { pending: _vp, unscored: _vu, ...record } = member.verdict
      return {
        attempt: member.attempt,
        order: member.order,
        record: { ...record, at, reward, components: mine, ...(unscored === undefined ? {} : { unscored }) },
        summary: { ...summary, reward, rewards, ...(unscored === undefined ? {} : { unscored }) },
      }
    })
  }

  private boxesOf(owner: string): AttemptBoxes | undefined {
    return this.description.sandbox && new AttemptBoxes(this.options.boxesOf(owner))
  }

  private assignments(job: Job): Record<Seat, SeatAssignment> {
    const { spec } = this.options
    const assignments: Record<Seat, SeatAssignment> = {}
    for (const [seat, policy] of Object.entries(spec.seats)) {
      const loop = { escalate: spec.escalate && seat === 'agent' }
      const own = seat === 'agent' ? this.options.harness : undefined
      const outside = this.outside(seat, policy, job)
      assignments[seat] = {
        policy: policyName(policy),
        harness: ({ tools }) =>
          own ?? (seat !== 'agent' || tools || this.declared.has('tools') ? toolLoop(loop) : chat(loop)),
        ownProgram: own !== undefined || outside !== undefined,
        sampling: policy.kind === 'model' ? samplingOf(job.sampling ?? spec.sampling, job.order) : {},
        createModel: (context) => this.createModel(policy, job, context),
        ...(outside === undefined ? {} : { outside }),
      }
    }
    return assignments
  }

  /** How a seat is played whose harness is in the main process. */
  private outside(seat: Seat, policy: PolicySpec, job: Job): OutsideSeat | undefined {
    const { spec, plays } = this.options
    const name = spec.outside?.[seat]
    if (name === undefined || plays === undefined) return undefined
    return {
      name,
      hasModel: policy.kind !== 'agent',
      modelIsHere: policy.kind === 'script' || policy.kind === 'recorded',
      play: (start, side) => plays.play(job, start, side),
    }
  }

  private judgeOf(judge: string): Model {
    const { judges = {} } = this.options.spec
    const id = judges[judge] ?? judges[anyJudge]
    if (id === undefined) throw new QuintainError('internal', `no model for judge "${judge}" in this run`)
    return this.options.modelOf(id, judgeSeat(judge))
  }

  private createModel(
    policy: PolicySpec,
    job: Job,
    { task, publicTask, seat }: { task: Task; publicTask: PublicTask; seat: Seat },
  ): Model {
    const id = policyName(policy)
    switch (policy.kind) {
      case 'model': {
        const model = this.options.modelOf(policy.id, seat)
        const { output } = this
        const isOutside = this.options.spec.outside?.[seat] !== undefined
        return output === undefined || seat !== 'agent' || isOutside ? model : new OutputModel(model, output)
      }
      case 'agent':
        return absentModel(id)
      case 'recorded': {
        const { replies, calls, cuts } = job
        const asked = this.options.spec.outside?.[seat] === undefined ? undefined : calls?.[seat]
        return createRecordedModel({ id, replies: replies?.[seat], calls: asked, cut: cuts?.[seat] })
      }
      case 'script': {
        const options = this.options.spec.options as never
        const rng = createRng(`${job.order.seed}/policy/${seat}`)
        const { definition } = this
        const start = (context: {
          observation: Observation
          tools: readonly { name: string; parameters: Record<string, unknown> }[]
        }): Script => {
          const common = { ...context, options, rng }
          if (policy.name === 'noop') return noop()
          if (policy.name === 'oracle') return definition.oracle!({ ...common, task: task as never })
          if (policy.name === 'play')
            return definition.seats![seat]!.play!({ ...common, task: task as never })
          const own = definition.policies?.[policy.name]
          if (own !== undefined) return own({ ...common, task: publicTask as never })
          return randomCalls(common)
        }
        return createScriptModel({ id, seat, start })
      }
    }
  }
}

/** A grader that threw or ran out of time is asked once more about the same group. */
async function twice<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (thrown) {
    if (!(thrown instanceof StepFailure && thrown.fault.retryable)) throw thrown
    return await run()
  }
}

/**
 * An attempt whose task could not be read. The secret is not known then, so what other code has thrown is told in the
 * private records only.
 */
function lostAttempt(job: Job, thrown: unknown): AttemptOutput {
  const ours = QuintainError.isInstance(thrown) && thrown.cause === undefined
  const fault: Fault = {
    owner: 'world',
    stage: 'task',
    code: ours ? thrown.code : 'threw',
    message: ours
      ? messageOf(thrown)
      : `the task in place ${job.order.index} could not be run: the environment's code threw (its text is in the private records)`,
    retryable: false,
  }
  // Our own words leave out what was thrown; the private records keep both.
  const cause = QuintainError.isInstance(thrown) ? thrown.cause : undefined
  const privateText = cause === undefined ? stackOf(thrown) : `${stackOf(thrown)}\n${stackOf(cause)}`
  return faultedAttempt(job.order, job.try, fault, { privateText })
}

/** The identity of an environment's own rubric: names, kinds and weights; its code is named by the environment's digest. */
export function rubricName(description: HostDescription): string {
  return Object.entries(description.rewards)
    .map(([name, { kind, weight }]) => `${name}${kind === 'group' ? '(group)' : ''}*${weight}`)
    .join('+')
}

function sandboxOf(definition: ErasedDefinition, options: unknown): SandboxDefinition | undefined {
  const { sandbox, needs = [] } = definition
  const given = typeof sandbox === 'function' ? sandbox({ options: options as never }) : sandbox
  if (given !== undefined) return checkSandbox(given)
  return needs.includes('sandbox') ? {} : undefined
}

function unplayableIn(definition: ErasedDefinition, options: unknown): Record<string, string> {
  const given: unknown = definition.unplayable?.({ options: options as never }) ?? {}
  const isRecord = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (!isRecord || Object.values(given).some((lack) => typeof lack !== 'string')) {
    throw new QuintainError(
      'definition_invalid',
      `unplayable() gave ${kindOf(given)}; give a sentence for each policy that cannot play.`,
    )
  }
  return { ...given } as Record<string, string>
}

function notesOf(definition: ErasedDefinition, options: unknown): string[] {
  const given: unknown = definition.notes?.({ options: options as never }) ?? []
  if (!Array.isArray(given) || given.some((note) => typeof note !== 'string')) {
    throw new QuintainError('definition_invalid', `notes() gave ${kindOf(given)}; give a list of sentences.`)
  }
  return given as string[]
}

function judgesOf({ judges = [] }: ErasedDefinition, options: unknown): string[] {
  const named: unknown = typeof judges === 'function' ? judges({ options: options as never }) : judges
  if (Array.isArray(named)) return [...new Set(named.map(checkJudge))]
  throw new QuintainError('definition_invalid', 'environment(): "judges" gave no list of names.')
}
