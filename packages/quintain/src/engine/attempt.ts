import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  type AttemptEntry,
  type AttemptRecord,
  addCost,
  addUsage,
  createRng,
  type ErasedDefinition,
  type Fault,
  type Harness,
  isThrown,
  lastNodeOf,
  linePart,
  type Model,
  messageOf,
  noSandbox,
  noUsage,
  type OrderRecord,
  type Outcome,
  type Part,
  type PrivateRecord,
  type PublicTask,
  type ResolvedLimits,
  type Sampling,
  type Seat,
  stackOf,
  type Task,
  type Transcript,
  virtualClock,
  type World,
} from '../core/index.ts'
import { now } from '../core/own-time.ts'
import { Recorder } from '../core/recorder.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { rolloutOver, SeatModel, SeatStop } from '../gateway/index.ts'
import { AgentClock } from './agent-clock.ts'
import { AttemptBoxes } from './attempt-boxes.ts'
import type { BoxDoor } from './box-protocol.ts'
import { AgentFailure, Episode, type EpisodeEnd, type SeatPlayer } from './episode.ts'
import { type Grading, grade } from './grade.ts'
import { JudgeDesk } from './judge-desk.ts'
import { LateSignal } from './late-signal.ts'
import { type OutsideSeat, outsideHarness } from './outside-harness.ts'
import { notPlainIn, plainCopy } from './plain.ts'
import { playGraceMs } from './play.ts'
import { hideKeys, redactor } from './redact.ts'
import {
  type Activity,
  abortReason,
  StepAbandoned,
  StepFailure,
  type StepOptions,
  step,
  worldFault,
} from './step.ts'
import { fullDigest } from './taskset.ts'
import { transcriptOf } from './transcript.ts'

/** Who plays a seat in one attempt. */
export interface SeatAssignment {
  /** For the records, such as `script:oracle`. */
  policy: string
  /** The program for what the seat is offered. */
  harness(offer: { tools: boolean }): Harness
  /** The harness is the agent's own program and not one of ours: when it throws, the agent failed. */
  ownProgram: boolean
  sampling: Sampling
  createModel(context: { task: Task; publicTask: PublicTask; seat: Seat; order: OrderRecord }): Model
  /** Set when the harness is in the main process. */
  outside?: OutsideSeat
}

export interface AttemptInput {
  definition: ErasedDefinition
  options: unknown
  task: Task
  order: OrderRecord
  /** 1 for the first try. */
  try: number
  seats: Record<Seat, SeatAssignment>
  limits: ResolvedLimits
  runSeed: string
  rubric: string
  /** Cancels the attempt. */
  cancellation: Cancellation
  activity: Activity
  /** The way to its boxes, for an environment that declares some. */
  boxes?: BoxDoor | undefined
  /** Names of the models that graders may ask. */
  judges: readonly string[]
  judgeOf(judge: string): Model
}

/** An attempt as its parts, ready for the journal; whether it is final is for the scheduler to say. */
export type AttemptOutput = Omit<AttemptEntry, 'attempt'> & {
  attempt: Omit<AttemptRecord, 'parts' | 'final'>
}

/** Closing a world is cleaning up: it gets this long, and its failure costs nobody a reward. */
const closeMs = 10_000
/** Of artefacts, so many are listed in the private records; all of them are in the file that their digest names. */
const entriesKept = 200
/** What one attempt may record: a line that readers still take (see `maxLineBytes`), and that fits into a string. */
const mostRecordBytes = 192 * 2 ** 20
/** What an outside harness made of its seat is waited for so long once the attempt is over; the main process answers well before. */
const accountMs = playGraceMs + 25_000
/** A grader that threw or ran out of time is tried once more on the same evidence; the agent is not run again for it. */
const gradingTries = 2

/** A word to an attempt from outside: stop. One of these costs a tenth of an abort controller. */
export class Cancellation {
  cancelled = false
  /** Told once; at once, when the word was given before anybody listened. */
  private listener: (() => void) | undefined

  cancel(): void {
    this.cancelled = true
    this.listener?.()
  }

  onCancel(listener: () => void): void {
    this.listener = listener
    if (this.cancelled) listener()
  }
}

/**
 * Runs one attempt: a fresh world, the seats' harnesses, the fence, the final state, and grading with its own budget.
 * Never rejects: whatever goes wrong is a fault in the result.
 */
export function runAttempt(input: AttemptInput): Promise<AttemptOutput> {
  return new Attempt(input).run()
}

class Attempt {
  private readonly input: AttemptInput
  private readonly id = randomUUID()
  private readonly start = new Date()
  private readonly startedAt = now()
  private readonly recorder = new Recorder()
  private readonly redact: (text: string) => string
  /** The same for what agents and providers say, who have never seen the secret. */
  private readonly redactSaid: (text: string) => string
  private readonly players: Record<Seat, SeatPlayer> = Object.create(null)
  private readonly errors: { stage: string; text: string }[] = []
  private readonly flags: Record<string, number> = Object.create(null)
  private readonly clock: AgentClock
  private readonly boxes: AttemptBoxes | undefined
  /** Made when graders are called, of environments that have judges. */
  private judges: JudgeDesk | undefined
  /** Aborted by the fence and by a cancellation: the agent's part is over, however it came to that. */
  private readonly over = new AbortController()
  /** Resolves when the attempt is cancelled or the agent's time is up, whatever the episode does. */
  private readonly broken: Promise<EpisodeEnd | { outcome: 'cancelled'; stop?: string }>
  private episode: Episode | undefined
  /** What outside harnesses still tell of their seats is no part of the attempt any more. */
  private closed = false
  private state: string | undefined
  private snapshot: unknown
  /** What the engine itself knows for the private records. */
  private readonly evidence: Record<string, unknown> = Object.create(null)
  private trajectory: Part | undefined
  private gradeMs = 0

  constructor(input: AttemptInput) {
    this.input = input
    const withoutSecret = redactor(input.task.secret)
    const ofStrangers = redactor(input.task.secret, { strangers: true })
    this.redact = (text) => hideKeys(withoutSecret(text))
    this.redactSaid = (text) => hideKeys(ofStrangers(text))
    const { promise, resolve } = Promise.withResolvers<Awaited<Attempt['broken']>>()
    this.broken = promise
    this.clock = new AgentClock(input.limits.wallMs, () => resolve({ outcome: 'wall_limit', seat: 'agent' }))
    this.boxes =
      input.boxes &&
      new AttemptBoxes(input.boxes, (waiting) => (waiting ? this.clock.hold() : this.clock.letGo()))
    input.cancellation.onCancel(() => {
      // In this order: what the abort makes fail comes after the reason for it.
      resolve({ outcome: 'cancelled' })
      this.over.abort(abortReason)
    })
  }

  async run(): Promise<AttemptOutput> {
    let outcome: Outcome | null = null
    let stop: string | undefined
    let grading: Grading | undefined
    let fault: Fault | null = null
    try {
      const end = await this.playAndFinish()
      outcome = end.outcome
      stop = end.stop
      // Before graders run: what they do to the messages they are shown changes no record.
      this.trajectory = this.trajectoryPart()
      if (end.outcome !== 'cancelled') {
        const gradingStarted = now()
        grading = await this.gradeWithRetry(end.outcome, stop).finally(() => {
          this.gradeMs = now() - gradingStarted
        })
      }
    } catch (thrown) {
      if (isThrown(thrown, StepAbandoned) && this.input.cancellation.cancelled) {
        return this.output('cancelled', undefined, undefined, null)
      }
      fault = this.faultOf(thrown)
      // How the agent ended is a fact of its own: it stays when only the grader failed.
      if (fault.owner !== 'grader' && fault.owner !== 'judge') outcome = null
    }
    return this.output(outcome, stop, grading, fault)
  }

  /** From the opening of the world to its final state. The world is closed on every path. */
  private async playAndFinish(): Promise<{ outcome: Outcome; stop?: string }> {
    const { definition } = this.input
    const worldOver = new LateSignal()
    let world: World<unknown> | undefined
    try {
      if (definition.world !== undefined) {
        world = await this.openWorld(worldOver)
        const opened = world as World<unknown> | undefined
        const settles = await this.step('open', 'world()', () => typeof opened?.finish === 'function')
        if (!settles) {
          throw worldFault('open', 'bad_world', 'world() gave nothing with a finish() method')
        }
      }
      const end = await this.play(world)
      this.fence()
      if (end.outcome === 'cancelled') return { outcome: 'cancelled' }
      // What an agent did not wait for belongs to what it leaves behind.
      const quiet = await this.episode?.worldIsQuiet(this.input.limits.toolMs!)
      if (quiet === false) this.flags['tool_left_running'] = 1
      if (world !== undefined) await this.settle(world)
      else this.state = 'null'
      return { outcome: end.outcome, ...(end.stop === undefined ? {} : { stop: end.stop }) }
    } finally {
      this.fence()
      if (world !== undefined) await this.close(world)
      worldOver.end()
    }
  }

  private async openWorld(over: LateSignal): Promise<World<unknown>> {
    const { definition, task, options, runSeed } = this.input
    const rng = createRng(`${runSeed}/world/${fullDigest(task)}`)
    let made: unknown
    try {
      return await this.step(
        'open',
        'world()',
        () => {
          // A copy of its own: a world may use its task's data as its state.
          const opened = definition.world!(plainCopy(task), {
            options: options as never,
            rng,
            clock: virtualClock(),
            sandbox: this.boxes?.forWorld() ?? noSandbox,
            get signal() {
              return over.signal
            },
          })
          made = opened
          return opened
        },
        this.over.signal,
      )
    } catch (thrown) {
      // A world that comes too late is closed all the same.
      Promise.resolve(made as World<unknown>)
        .then((late) => late?.close?.())
        .catch(() => {})
      throw thrown
    }
  }

  private async play(
    world: World<unknown> | undefined,
  ): Promise<EpisodeEnd | { outcome: 'cancelled'; stop?: string }> {
    const { definition, task, order, options, limits, seats } = this.input
    const { signal } = this.over
    const { secret: _, ...publicTask } = task
    for (const [seat, assignment] of Object.entries(seats)) {
      const policy = assignment.createModel({ task, publicTask, seat, order })
      const model = new SeatModel({
        seat,
        model: policy,
        recorder: this.recorder,
        limits,
        sampling: assignment.sampling,
        // A script is code of the environment, and a simulated user may have been told.
        redact: seat === 'agent' && !policy.id.startsWith('script:') ? this.redactSaid : this.redact,
        clock: seat === 'agent' ? this.clock : undefined,
        signal,
        startedAt: this.startedAt,
        context: { attempt: this.id, task: task.id, repeat: order.repeat },
      })
      const { outside, ownProgram } = assignment
      this.players[seat] = {
        harnessFor: (offer) =>
          outside === undefined ? assignment.harness(offer) : this.outside(seat, outside, { model, policy }),
        ownProgram,
        model,
      }
    }
    this.episode = new Episode({
      definition,
      options,
      task,
      publicTask,
      world,
      players: this.players,
      recorder: this.recorder,
      limits,
      clock: this.clock,
      rng: createRng(`${this.input.runSeed}/agent/${order.seed}`),
      signal,
      redact: this.redact,
      step: (stage, what, run) => this.step(stage, what, run, signal),
    })
    const end = await this.untilEnded(this.episode)
    if (end.outcome === 'cancelled') return end
    // A model that gave no answer makes the attempt a fault, however the agent ended.
    for (const { model } of Object.values(this.players)) {
      if (model.unrecovered !== undefined) throw new SeatStop({ fault: model.unrecovered })
    }
    return end
  }

  /** The world's side of a seat that is played from outside. */
  private outside(seat: Seat, outside: OutsideSeat, { model, policy }: { model: SeatModel; policy: Model }) {
    const { task, order } = this.input
    return outsideHarness({
      outside,
      seat,
      account: model,
      model: policy,
      clock: seat === 'agent' ? this.clock : undefined,
      attempt: this.id,
      context: { task: task.id, repeat: order.repeat },
      startedAt: this.startedAt,
      redact: this.redact,
      redactSaid: this.redactSaid,
      isClosed: () => this.closed,
    })
  }

  /** How the play ended, with what outside harnesses have to tell of it. */
  private async untilEnded(episode: Episode): ReturnType<Attempt['play']> {
    try {
      return await Promise.race([this.broken, this.endOfPlay(episode)])
    } finally {
      // The graph and the ledger of such a seat come with its end, however the attempt ended.
      if (episode.playsOutside) {
        this.fence()
        const told = await episode.outsideEnded(accountMs)
        this.closed = true
        if (!told) this.lostAccount()
      }
    }
  }

  /** Nobody says what an outside harness did, nor what it cost. */
  private lostAccount(): void {
    this.errors.push({ stage: 'agent', text: 'the main process did not say what the agent made of its seat' })
    const agent = this.players['agent']?.model
    if (agent !== undefined) agent.costUsd = null
  }

  /** The episode's end; an agent's own exception is its outcome, everything else that is thrown is a fault. */
  private async endOfPlay(episode: Episode): Promise<EpisodeEnd> {
    try {
      return await episode.play()
    } catch (thrown) {
      if (isThrown(thrown, StepFailure) || isThrown(thrown, SeatStop)) throw thrown
      // An agent that turns the end it was told of into an error of its own has still reached that end.
      const stopped = this.players['agent']?.model.stopped
      if (stopped?.outcome !== undefined) {
        const { outcome, stop } = stopped
        return { outcome, ...(stop === undefined ? {} : { stop }), seat: 'agent' }
      }
      if (stopped?.fault !== undefined) throw stopped
      if (isThrown(thrown, AgentFailure)) {
        this.errors.push({ stage: 'agent', text: textOfError(thrown) })
        const isOutside = this.input.seats['agent']?.outside !== undefined
        const stop = redactedMessage(isOutside ? this.redactSaid : this.redact, thrown.thrown, 200)
        return { outcome: 'agent_error', stop, seat: 'agent' }
      }
      throw thrown
    }
  }

  /** After this nothing of the agent reaches the world, a tool or a model. */
  private fence(): void {
    this.clock.stop()
    for (const { model } of Object.values(this.players)) {
      model.endCalls()
      model.stopped ??= rolloutOver
    }
    this.over.abort(abortReason)
    this.episode?.fence()
  }

  private async settle(world: World<unknown>): Promise<void> {
    this.snapshot = await this.step('snapshot', 'world.snapshot()', () => world.snapshot?.())
    const state = await this.step('finish', 'world.finish()', () => world.finish())
    const refuse = (problem: string) =>
      worldFault('finish', 'state_not_plain', `world.finish() gave ${problem}; give plain data`)
    try {
      this.state = JSON.stringify(state ?? null)
    } catch (thrown) {
      throw refuse(`something that JSON cannot hold (${redactedMessage(this.redact, thrown)})`)
    }
    const odd = notPlainIn(state, 'state')
    if (odd !== undefined) throw refuse(odd)
    if (this.boxes !== undefined) await this.settleBoxes(this.boxes)
  }

  /** Takes the artefacts and ends the boxes of the world, so that nothing that the agent started is left while it is graded. */
  private async settleBoxes(boxes: AttemptBoxes): Promise<void> {
    const options: StepOptions = { ...this.stepOptions('finish', 'the end of its boxes'), owner: 'sandbox' }
    const artefacts = await step(options, () => boxes.settle())
    if (artefacts === null) return
    const { digest, entries, skipped } = artefacts
    this.evidence['artefacts'] = {
      digest,
      count: entries.length,
      entries: entries.slice(0, entriesKept),
      skipped: skipped.slice(0, entriesKept),
    }
  }

  private async close(world: World<unknown>): Promise<void> {
    try {
      await step({ ...this.stepOptions('close', 'world.close()'), ms: closeMs }, () => world.close?.())
    } catch (thrown) {
      this.flags['world_close_failed'] = 1
      this.errors.push({ stage: 'close', text: textOfError(thrown) })
    }
  }

  private async gradeWithRetry(outcome: Outcome, stop: string | undefined): Promise<Grading> {
    const { definition, task, options, limits, order, activity, judges, judgeOf } = this.input
    const context = { attempt: this.id, task: task.id, repeat: order.repeat }
    if (judges.length > 0) this.judges = new JudgeDesk({ judges, modelOf: judgeOf, context })
    const holds = [this.boxes, this.judges].filter((hold) => hold !== undefined)
    for (let tries = 1; ; tries++) {
      // Graders get the state as the records hold it, so that grading again from the records is the same grading.
      const state: unknown = JSON.parse(this.state!)
      try {
        return await grade({
          definition,
          context: {
            task: task as never,
            transcript: this.transcript(outcome, stop),
            state: state as never,
            options: options as never,
            sandbox: this.boxes?.forGraders(limits.gradeMs!) ?? noSandbox,
          },
          judges: this.judges,
          limits,
          hold:
            holds.length < 2
              ? holds[0]
              : { waitedMs: () => holds.reduce((sum, hold) => sum + hold.waitedMs(), 0) },
          seq: order.seq,
          activity,
          redact: this.redact,
        })
      } catch (thrown) {
        await this.boxes?.endGrading()
        const again = thrown instanceof StepFailure && thrown.fault.retryable && tries < gradingTries
        if (!again) throw thrown
        this.flags['grading_retried'] = (this.flags['grading_retried'] ?? 0) + 1
        this.errors.push({ stage: 'grade', text: textOfError(thrown) })
      }
    }
  }

  private transcript(outcome: Outcome, stop: string | undefined): Transcript {
    return transcriptOf({
      messages: (seat) => this.recorder.messages(seat),
      turnRewards: (seat) => this.recorder.turnRewards(seat),
      turns: this.players['agent']?.model.turns ?? 0,
      outcome,
      stop,
    })
  }

  private stepOptions(stage: string, what: string): StepOptions {
    const { limits, order, activity } = this.input
    return {
      owner: 'world',
      stage,
      what,
      ms: limits.toolMs!,
      seq: order.seq,
      activity,
      hold: this.boxes,
      redact: this.redact,
    }
  }

  private step<T>(
    stage: string,
    what: string,
    run: () => T | Promise<T>,
    signal?: AbortSignal,
  ): T | Promise<T> {
    const options = this.stepOptions(stage, what)
    if (signal !== undefined) options.signal = signal
    return step(options, run)
  }

  private faultOf(thrown: unknown): Fault {
    this.errors.push({ stage: 'attempt', text: textOfError(thrown) })
    if (isThrown(thrown, StepFailure)) return thrown.fault
    if (isThrown(thrown, SeatStop) && thrown.fault !== undefined) {
      // Its seat has taken out what must not be told.
      return thrown.fault
    }
    return {
      owner: 'platform',
      stage: 'attempt',
      code: 'harness_threw',
      message: `the harness threw: ${redactedMessage(this.redact, thrown)}`,
      retryable: false,
    }
  }

  private output(
    outcome: Outcome | null,
    stop: string | undefined,
    grading: Grading | undefined,
    fault: Fault | null,
  ): AttemptOutput {
    const { order, task, rubric } = this.input
    const agent = this.players['agent']?.model
    const others = Object.entries(this.players).filter(([seat]) => seat !== 'agent')
    const ids = { attempt: this.id, order: order.id }
    const end = new Date()
    const attempt: AttemptOutput['attempt'] = {
      schema: 'quintain.attempt',
      v: 1,
      id: this.id,
      order: order.id,
      seq: order.seq,
      task: order.task,
      repeat: order.repeat,
      try: this.input.try,
      start: this.start.toISOString(),
      end: end.toISOString(),
      outcome,
      ...(stop === undefined ? {} : { stop }),
      fault,
      verdict: fault === null ? (grading?.summary ?? null) : null,
      usage: {
        agent: agent?.usage ?? noUsage,
      },
      costUsd: { agent: agent === undefined ? 0 : agent.costUsd },
      counts: {
        turns: agent?.turns ?? 0,
        toolCalls: this.episode?.toolCalls ?? 0,
        modelRetries: agent?.retries ?? 0,
      },
      timing: {
        wallMs: round(now() - this.startedAt),
        agentMs: round(this.clock.usedMs()),
        modelMs: round(agent?.modelMs ?? 0),
        waitMs: round(agent?.waitMs ?? 0),
        gradeMs: round(this.gradeMs),
      },
    }
    for (const [, { model }] of others) {
      const { usage, costUsd } = attempt
      usage.simulator = usage.simulator === undefined ? model.usage : addUsage(usage.simulator, model.usage)
      costUsd.simulator =
        costUsd.simulator === undefined ? model.costUsd : addCost(costUsd.simulator, model.costUsd)
    }
    if (this.judges !== undefined && this.judges.calls.length > 0) {
      attempt.usage.judge = this.judges.usage
      attempt.costUsd.judge = this.judges.costUsd
    }
    const trajectory = this.trajectory ?? this.trajectoryPart()
    const flags = { ...this.flags, ...this.boxes?.flags, ...this.episode?.flags, ...agent?.flags }
    // A model was there for the agent, and it made nothing of it: it may have asked another one.
    const hadModel = this.input.seats['agent']?.outside?.hasModel === true && this.episode !== undefined
    const asked = this.recorder.calls.some(({ seat }) => seat === 'agent')
    if (fault === null && hadModel && !asked) flags['no_model_call'] = 1
    if (Object.keys(flags).length > 0) attempt.counts.flags = flags
    if (this.episode !== undefined && Object.keys(this.episode.toolErrors).length > 0) {
      attempt.counts.toolErrors = this.episode.toolErrors
    }

    const verdict =
      grading === undefined || fault !== null
        ? undefined
        : linePart({
            schema: 'quintain.verdict',
            v: 1,
            ...ids,
            rubric,
            at: end.toISOString(),
            reward: grading.summary.reward,
            success: grading.summary.success,
            components: grading.components,
            ...(grading.summary.unscored === undefined ? {} : { unscored: grading.summary.unscored }),
            ...(grading.summary.pending === undefined ? {} : { pending: grading.summary.pending }),
          })
    return {
      attempt,
      trajectory,
      verdict,
      private: this.privatePart(ids, task, grading),
      tokens: this.tokens(),
    }
  }

  private trajectoryPart(): Part {
    // Before anybody reads it: what graders see is what the records hold.
    if (this.recorder.cutTo(mostRecordBytes)) this.flags['record_cut'] = 1
    const { nodes, calls, toolSets } = this.recorder
    const rest = { ...this.leaves(), ...(toolSets.length === 0 ? {} : { toolSets }) }
    try {
      return linePart({ ...this.trajectoryHead(), nodes, calls, ...rest })
    } catch (thrown) {
      // So many pieces that no line holds them: that is no reason to lose the attempt.
      this.flags['record_cut'] = 1
      this.errors.push({ stage: 'record', text: messageOf(thrown) })
      return linePart({ ...this.trajectoryHead(), nodes: [], calls: [] })
    }
  }

  private trajectoryHead() {
    const { order, seats } = this.input
    return {
      schema: 'quintain.trajectory',
      v: 1,
      attempt: this.id,
      order: order.id,
      task: order.task,
      seats: Object.fromEntries(
        Object.entries(seats).map(([seat, { policy }]) => {
          const tools = this.episode?.offered[seat]
          const harness = this.players[seat]?.harness?.name ?? 'none'
          return [seat, { policy, harness, ...(tools?.length ? { tools } : {}) }]
        }),
      ),
    }
  }

  /** Where what was said in the world ends, of seats in which that is not their last node. */
  private leaves(): { leaves?: Record<Seat, number> } {
    const { recorder } = this
    const found = Object.keys(this.input.seats).flatMap((seat): [Seat, number][] => {
      const leaf = recorder.leaf(seat)
      return leaf === lastNodeOf(recorder.nodes, seat) ? [] : [[seat, leaf]]
    })
    return found.length === 0 ? {} : { leaves: Object.fromEntries(found) }
  }

  private privatePart(
    ids: { attempt: string; order: string },
    task: Task,
    grading: Grading | undefined,
  ): Part {
    const evidence: Record<string, unknown> = { ...grading?.evidence, ...this.evidence }
    if (this.snapshot !== undefined) evidence['snapshot'] = this.snapshot
    if (this.judges !== undefined && this.judges.calls.length > 0) evidence['judgeCalls'] = this.judges.calls
    const record: PrivateRecord = {
      schema: 'quintain.private',
      v: 1,
      ...ids,
      task: task.id,
      ...(task.secret === undefined ? {} : { secret: task.secret }),
      fullTaskDigest: fullDigest(task),
      ...(Object.keys(evidence).length === 0 ? {} : { evidence }),
      ...(this.errors.length === 0
        ? {}
        : { errors: this.errors.map(({ stage, text }) => ({ stage, text: hideKeys(text) })) }),
    }
    try {
      return linePart(record, this.stateField())
    } catch (thrown) {
      // Evidence that JSON cannot hold must not cost the attempt.
      const without = { ...record, evidence: { lost: messageOf(thrown) } }
      try {
        return linePart(without, this.stateField())
      } catch {
        // Nor one so large that no line holds it.
        return linePart(without)
      }
    }
  }

  /** The state as the text that it is already. */
  private stateField(): Record<string, string> {
    return this.state === undefined ? {} : { state: this.state }
  }

  private tokens(): Part | undefined {
    const bytes = this.recorder.tokenChunk()
    return bytes === undefined ? undefined : { bytes, crc: crc32(bytes) }
  }
}

/** When an attempt began: the date for people, and the monotonic clock, which no change of the date moves. */
export interface AttemptStart {
  date: Date
  ms: number
}

export function startNow(): AttemptStart {
  return { date: new Date(), ms: now() }
}

/** What is known of an attempt that left no records of its own. */
export interface AttemptRemains {
  start?: AttemptStart
  /** Null when it may have called a model: what was spent then is not known. */
  costUsd?: number | null
  /** The whole text of what went wrong; for the private records. */
  privateText?: string
}

/** The record of an attempt that came to nothing before it began, or whose worker was lost. */
export function faultedAttempt(
  order: OrderRecord,
  tryNumber: number,
  fault: Fault,
  { start = startNow(), costUsd = 0, privateText }: AttemptRemains = {},
): AttemptOutput {
  const id = randomUUID()
  return {
    attempt: {
      schema: 'quintain.attempt',
      v: 1,
      id,
      order: order.id,
      seq: order.seq,
      task: order.task,
      repeat: order.repeat,
      try: tryNumber,
      start: start.date.toISOString(),
      end: new Date().toISOString(),
      outcome: null,
      fault,
      verdict: null,
      usage: { agent: noUsage },
      costUsd: { agent: costUsd },
      counts: { turns: 0, toolCalls: 0, modelRetries: 0 },
      timing: { wallMs: round(now() - start.ms), agentMs: 0, modelMs: 0, waitMs: 0, gradeMs: 0 },
    },
    trajectory: linePart({
      schema: 'quintain.trajectory',
      v: 1,
      attempt: id,
      order: order.id,
      task: order.task,
      seats: {},
      nodes: [],
      calls: [],
    }),
    ...(privateText === undefined
      ? {}
      : {
          private: linePart({
            schema: 'quintain.private',
            v: 1,
            attempt: id,
            order: order.id,
            task: order.task,
            errors: [{ stage: fault.stage, text: privateText }],
          }),
        }),
  }
}

/** The record of an attempt that was given up with the run, in whatever state it was. */
export function cancelledAttempt(
  order: OrderRecord,
  tryNumber: number,
  remains: AttemptRemains,
): AttemptOutput {
  const message = 'the run was stopped'
  const output = faultedAttempt(
    order,
    tryNumber,
    { owner: 'platform', stage: 'attempt', code: 'run_stopped', message, retryable: true },
    remains,
  )
  return { ...output, attempt: { ...output.attempt, outcome: 'cancelled', fault: null } }
}

function textOfError(thrown: unknown): string {
  if (isThrown(thrown, StepFailure)) return `${thrown.fault.message}\n${thrown.privateText}`
  return stackOf(isThrown(thrown, AgentFailure) ? thrown.thrown : thrown)
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
