import {
  type Content,
  type ErasedDefinition,
  type Harness,
  type HarnessContext,
  type HarnessResult,
  isThrown,
  type Message,
  type PublicTask,
  type ResolvedLimits,
  type Rng,
  type Seat,
  type Task,
  type ToolBox,
  type ToolCall,
  type ToolSpec,
  type Turn,
  textOf,
  type World,
} from '../core/index.ts'
import type { Recorder } from '../core/recorder.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { rolloutOver, type SeatModel, SeatStop } from '../gateway/index.ts'
import { runToolCalls, type ToolStep } from '../models/index.ts'
import type { AgentClock } from './agent-clock.ts'
import { checkedContent, checkedEndpoints, checkedTools, checkedTurn, kindOf } from './given.ts'
import { longTimer } from './long-timer.ts'
import { StepAbandoned, StepFailure, worldFault } from './step.ts'

/** What the agent's own program threw: the agent's failure, and nobody's fault. */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure'
  readonly thrown: unknown

  constructor(thrown: unknown) {
    super("the agent's own program threw")
    this.thrown = thrown
  }
}

/** A seat ready to play. */
export interface SeatPlayer {
  /** The harness is the agent's own program and not one of ours. */
  ownProgram?: boolean
  harnessFor(offer: { tools: boolean }): Harness
  /** The one that was chosen when the seat began. */
  harness?: Harness
  model: SeatModel
}

/** How an episode ended, before anything is graded. */
export interface EpisodeEnd extends HarnessResult {
  /** The seat that ended it. */
  seat: Seat
}

export interface EpisodeOptions {
  definition: ErasedDefinition
  options: unknown
  task: Task
  publicTask: PublicTask
  world: World<unknown> | undefined
  players: Record<Seat, SeatPlayer>
  recorder: Recorder
  limits: ResolvedLimits
  clock: AgentClock
  rng: Rng
  signal: AbortSignal
  /** Makes text free of secrets. */
  redact(text: string): string
  /** Runs a piece of the world's code under its deadline. */
  step<T>(stage: string, what: string, run: () => T | Promise<T>): T | Promise<T>
}

/**
 * The turns of an attempt: which seat has the move, what it reads, and how its messages reach the world. Each seat's
 * harness is a coroutine that waits here for its turn.
 */
export class Episode {
  toolCalls = 0
  readonly toolErrors: Record<string, number> = Object.create(null)
  readonly flags: Record<string, number> = Object.create(null)
  /** Tools that each seat was offered. */
  readonly offered: Record<Seat, readonly ToolSpec[]> = Object.create(null)
  private readonly options: EpisodeOptions
  private readonly waiting = new Map<Seat, { resolve(turn: Turn): void; reject(reason: Error): void }>()
  private readonly started = new Set<Seat>()
  private finish: { resolve(end: EpisodeEnd): void; reject(error: unknown): void } | undefined
  /** What the world does for a seat at this moment, whether or not its harness waits for it. */
  private readonly underWay = new Set<Promise<unknown>>()
  /** Seats that are played from outside, until they have told all that they have to tell. */
  private readonly outside: Promise<unknown>[] = []
  /** Of them, those that have not. */
  private untold = 0

  constructor(options: EpisodeOptions) {
    this.options = options
  }

  /** Plays until a seat ends it. Rejects with a `StepFailure` of the world or a `SeatStop` that carries a fault. */
  play(): Promise<EpisodeEnd> {
    return new Promise<EpisodeEnd>((resolve, reject) => {
      this.finish = { resolve, reject }
      const first = this.firstSeat()
      if (typeof first !== 'string')
        throw worldFault('open', 'unknown_seat', `first() gave ${kindOf(first)}; it names a seat`)
      this.start(first, undefined)
    })
  }

  /** Lets nothing reach the world any more; seats that wait are told that it is over. */
  fence(): void {
    for (const seat of this.waiting.values()) seat.reject(rolloutOver)
    this.waiting.clear()
  }

  /** A seat is played from outside. */
  get playsOutside(): boolean {
    return this.outside.length > 0
  }

  /** Resolves when outside harnesses have told how they ended; with false when that takes longer than `ms`. */
  async outsideEnded(ms: number): Promise<boolean> {
    return this.untold === 0 || inTime(Promise.all(this.outside), ms)
  }

  /** Resolves when nothing of the world runs for a seat any more; with false when that takes longer than `ms`. */
  async worldIsQuiet(ms: number): Promise<boolean> {
    if (this.underWay.size === 0) return true
    return inTime(Promise.all(this.underWay), ms)
  }

  private firstSeat(): unknown {
    const { definition, task, options, step } = this.options
    const { first } = definition
    if (typeof first !== 'function') return first ?? 'agent'
    return step('open', 'first()', () => first({ task, options: options as never }))
  }

  private start(seat: Seat, said: Turn | undefined): void {
    this.started.add(seat)
    this.runSeat(seat, said).then(
      (result) => this.finish?.resolve({ ...result, seat }),
      (error: unknown) => {
        if (isThrown(error, SeatStop) && error.outcome !== undefined) {
          this.finish?.resolve({ outcome: error.outcome, seat })
        } else this.finish?.reject(error)
      },
    )
  }

  private async runSeat(seat: Seat, said: Turn | undefined): Promise<HarnessResult> {
    const { players, clock } = this.options
    const player = players[seat]
    if (player === undefined) {
      throw worldFault(
        'reply',
        'unknown_seat',
        `the world gave the turn to "${seat}", a seat that this environment does not define`,
      )
    }
    const { messages, tools, endpoints, replies } = await this.ofWorld('open', () => this.offer(seat, said))
    const agent = seat === 'agent'
    const harness = player.harnessFor({ tools: tools.specs.length > 0 })
    player.harness = harness
    if (agent) clock.resume()
    try {
      const played = this.playedBy(player, harness, {
        task: this.options.publicTask,
        seat,
        messages,
        tools,
        model: player.model,
        ...(replies ? { reply: (content: Content) => this.reply(seat, content) } : {}),
        endpoints,
        limits: this.options.limits,
        signal: this.options.signal,
        rng: this.options.rng.fork(`seat/${seat}`),
      })
      if (harness.runs === 'outside') this.awaitFromOutside(played)
      const result = await played
      if (result.answer !== undefined && !this.options.signal.aborted) this.heard(seat, result.answer)
      const settled = player.model.settle(result)
      if (settled.fault !== undefined) throw new SeatStop({ fault: settled.fault })
      return settled.result
    } finally {
      if (agent) clock.pause()
    }
  }

  private awaitFromOutside(played: Promise<unknown>): void {
    this.untold++
    const told = () => void this.untold--
    this.outside.push(played.then(told, told))
  }

  /** What a seat has to begin with; its first messages are recorded. */
  private async offer(
    seat: Seat,
    said: Turn | undefined,
  ): Promise<Pick<HarnessContext, 'messages' | 'tools' | 'endpoints'> & { replies: boolean }> {
    const { world, recorder, step } = this.options
    const messages = await this.opening(seat)
    for (const message of messages) recorder.append(seat, message)
    if (said !== undefined) {
      const first: Message = { role: 'user', content: said.content }
      messages.push(first)
      recorder.append(seat, first, { reward: said.reward })
    }
    const tools = await this.toolBox(seat)
    const endpoints = checkedEndpoints(await step('open', 'world.endpoints()', () => world?.endpoints?.()))
    // What a world has may be a getter, and so code of its own.
    const replies = await step('open', 'world.reply', () => world?.reply !== undefined)
    return { messages, tools, endpoints, replies }
  }

  /** Runs a seat's harness. What the agent's own program throws is the agent's; what passes through it is whose it was. */
  private async playedBy(
    { ownProgram }: SeatPlayer,
    harness: Harness,
    context: HarnessContext,
  ): Promise<HarnessResult> {
    if (ownProgram !== true) return harness.run(context)
    try {
      const result: unknown = await harness.run(context)
      if (typeof (result as HarnessResult | null)?.outcome === 'string') return result as HarnessResult
      throw new TypeError(`harness ${harness.name} gave ${kindOf(result)}; it gives { outcome }`)
    } catch (thrown) {
      const passes =
        isThrown(thrown, StepFailure) || isThrown(thrown, StepAbandoned) || isThrown(thrown, SeatStop)
      throw passes ? thrown : new AgentFailure(thrown)
    }
  }

  /** What a seat reads before anybody moves: its system message, the task's prompt (the agent's), the world's first words. */
  private async opening(seat: Seat): Promise<Message[]> {
    const { definition, task, options, world, step } = this.options
    const messages: Message[] = []
    const system = await step('open', 'system', () =>
      seat === 'agent'
        ? typeof definition.system === 'function'
          ? definition.system({ options: options as never })
          : definition.system
        : seatSystem(definition, seat, task, options),
    )
    if (system !== undefined && system !== '') messages.push({ role: 'system', content: system })
    if (seat === 'agent' && task.prompt !== undefined) {
      if (typeof task.prompt === 'string') messages.push({ role: 'user', content: task.prompt })
      else messages.push(...task.prompt)
    }
    const first: unknown = await step('open', 'world.open()', () => world?.open?.(seat))
    if (first !== undefined && first !== '') {
      messages.push({ role: 'user', content: checkedContent(first, 'open', 'world.open()') })
    }
    return messages
  }

  private async toolBox(seat: Seat): Promise<ToolBox> {
    const { world, step } = this.options
    const offered = checkedTools(
      await step('tools', 'world.tools()', () => (world?.tools === undefined ? [] : world.tools(seat))),
    )
    const specs = offered.map((tool) => tool.spec)
    this.offered[seat] = specs
    const byName = new Map(offered.map((tool) => [tool.name, tool]))
    const execute = (calls: readonly ToolCall[], truncated: boolean) =>
      runToolCalls({
        calls,
        tools: byName,
        truncated,
        execute: (tool, input, call) => {
          this.refuseAfterEnd(seat)
          return step('tool', `tool "${tool.name}"`, () =>
            this.kept(tool.run(input as never, { signal: this.options.signal, callId: call.id })),
          )
        },
      })
    return {
      specs,
      run: (calls, { truncated, content = '' }) =>
        this.runTools(seat, { calls, content }, () => execute(calls, truncated)),
    }
  }

  private async runTools(
    seat: Seat,
    { calls, content }: { calls: readonly ToolCall[]; content: Content },
    execute: () => Promise<ToolStep>,
  ): ReturnType<ToolBox['run']> {
    const { recorder } = this.options
    this.refuseAfterEnd(seat)
    // An agent that holds the conversation itself has not told of these calls yet.
    const last = recorder.last(seat)
    const told = last?.role === 'assistant' && last.toolCalls?.some(({ id }) => id === calls[0]?.id)
    if (!told) recorder.append(seat, { role: 'assistant', content, toolCalls: [...calls] })
    const result = await this.ofWorld('tool', async () => {
      const given = await execute()
      const results = given.results.map(({ message, turn }) => {
        const what = `tool "${message.name}"`
        if (turn !== undefined) return { message, turn: checkedTurn(turn, 'tool', what) }
        checkedContent(message.content, 'tool', what)
        return { message, turn }
      })
      return { ...given, results }
    })
    this.options.signal.throwIfAborted()
    // What is measured is the agent; the tools of a simulated user are the environment's own affair.
    if (seat === 'agent') {
      this.toolCalls += result.executed
      for (const [code, count] of Object.entries(result.errors)) {
        this.toolErrors[code] = (this.toolErrors[code] ?? 0) + count
      }
    }
    for (const flag of result.flags) this.flags[flag] = (this.flags[flag] ?? 0) + 1
    for (const { message, turn } of result.results) recorder.append(seat, message, { reward: turn?.reward })
    return {
      messages: result.messages,
      executed: result.executed,
      truncated: result.truncated,
      ...(result.done === undefined ? {} : { done: result.done }),
    }
  }

  /** Hands a message to the world, and the turn to whomever the world names; resolves when it is this seat's move again. */
  private async reply(seat: Seat, content: Content): Promise<Turn> {
    const { world, step, recorder, clock, signal, players } = this.options
    this.refuseAfterEnd(seat)
    if (players[seat]?.harness?.runs === 'outside') this.heard(seat, content)
    if (seat === 'agent') clock.pause()
    let turn: Turn
    try {
      const given = await step('reply', 'world.reply()', () => this.kept(world!.reply!(content, seat)))
      turn = checkedTurn(given, 'reply', 'world.reply()')
    } catch (thrown) {
      throw this.brokenBy(thrown, 'reply')
    }
    signal.throwIfAborted()
    const next = turn.next ?? seat
    if (turn.done !== undefined || next === seat) {
      recorder.append(seat, { role: 'user', content: turn.content }, { reward: turn.reward })
      if (seat === 'agent') clock.resume()
      return turn
    }
    const mine = new Promise<Turn>((resolve, reject) => this.waiting.set(seat, { resolve, reject }))
    const theirs = this.waiting.get(next)
    if (theirs !== undefined) {
      this.waiting.delete(next)
      recorder.append(next, { role: 'user', content: turn.content }, { reward: turn.reward })
      if (next === 'agent') clock.resume()
      theirs.resolve({ content: turn.content })
    } else if (this.started.has(next)) {
      return this.ofWorld('reply', async () => {
        throw worldFault('reply', 'seat_ended', `the world gave the turn to "${next}", which waits for none`)
      })
    } else this.start(next, turn)
    return mine
  }

  /** Records what a harness says that holds the conversation elsewhere, unless it is the last word already. */
  private heard(seat: Seat, content: Content): void {
    const { recorder } = this.options
    const last = recorder.last(seat)
    const told =
      last?.role === 'assistant' && !last.toolCalls?.length && textOf(last.content) === textOf(content)
    if (!told) recorder.say(seat, { role: 'assistant', content })
  }

  /** Keeps what the world has begun until it has ended. */
  private kept<T>(given: T | Promise<T>): T | Promise<T> {
    if (typeof (given as PromiseLike<T> | null | undefined)?.then !== 'function') return given
    // Whatever it is, its `then` is called once.
    const promise = Promise.resolve(given)
    const ended = promise
      .then(
        () => {},
        () => {},
      )
      .then(() => void this.underWay.delete(ended))
    this.underWay.add(ended)
    return promise
  }

  /** Throws when the seat's part is over: cancelled, fenced, or at a limit that its harness did not mind. */
  private refuseAfterEnd(seat: Seat): void {
    this.options.signal.throwIfAborted()
    const stopped = this.options.players[seat]?.model.stopped
    if (stopped !== undefined) throw stopped
  }

  /** Runs code of the world for a seat. */
  private async ofWorld<T>(stage: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (thrown) {
      throw this.brokenBy(thrown, stage)
    }
  }

  /** What code of the world threw, as its seat is told. It ends the rollout even if the seat's harness hides it. */
  private brokenBy(thrown: unknown, stage: string): unknown {
    const ended = isThrown(thrown, StepAbandoned) || isThrown(thrown, SeatStop)
    if (ended || this.options.signal.aborted) return thrown
    const failure = isThrown(thrown, StepFailure)
      ? thrown
      : worldFault(stage, 'bad_result', redactedMessage(this.options.redact, thrown))
    this.finish?.reject(failure)
    return failure
  }
}

/** Whether something ends within so many milliseconds. */
function inTime(ended: Promise<unknown>, ms: number): Promise<boolean> {
  let stopTimer = () => {}
  const late = new Promise<boolean>((resolve) => {
    stopTimer = longTimer(ms, () => resolve(false))
  })
  return Promise.race([ended.then(() => true), late]).finally(() => stopTimer())
}

function seatSystem(
  definition: ErasedDefinition,
  seat: Seat,
  task: Task,
  options: unknown,
): string | undefined {
  const system = definition.seats?.[seat]?.system
  return typeof system === 'function' ? system({ task, options: options as never }) : system
}
