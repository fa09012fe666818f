import { HttpProblem } from '../../core/http-port.ts'
import { messageOf } from '../../core/index.ts'
import type { Opening, Session, Settled, Step } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import { type Block, blocksOf, textBlock } from './blocks.ts'
import { errorEvent, resultEvents } from './event-stream.ts'
import { ownArguments, type ShownTool, shownTool } from './parameter-names.ts'
import { problemOf } from './problem.ts'

/** What came of a call: the end of its stream, or a refusal. */
export type Outcome = { events: string } | { problem: HttpProblem }

/** A call that a client asked for, with its result once there is one. */
export interface HeldCall {
  /** A name within the episode, by which a client that lost the connection asks for the result. */
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly outcome: Promise<Outcome>
  /** When it came, on the clock of `performance.now()`. */
  readonly began: number
  /** When the outcome was there. */
  doneAt: number | undefined
  /** The connection that waited for it broke off before all of the result was sent. */
  unheard: boolean
  /** All of the result was sent by some connection. */
  heard: boolean
}

/** Milliseconds for which a result is kept for clients that come back. */
const heldMs = 60_000
/**
 * Milliseconds after which the same call again, while the first is still carried out, is a client that calls again: both
 * clients wait half a second before they do, and calls that a model made together come together.
 */
const againMs = 400
/** Results that one episode keeps meanwhile; clients wait for one call, or for the few that a model made at once. */
const mostHeld = 64

interface Output {
  blocks: Block[]
  metadata: Record<string, unknown> | null
  reward: number | null
  finished: boolean
}

/** An episode as this protocol plays it: calls whose results are held, the last of which carries the only reward. */
export class Episode {
  readonly session: Session
  private readonly log: (line: string) => void
  private readonly calls = new Map<string, HeldCall>()
  private last: HeldCall | undefined
  private count = 0
  private rewarded = false
  private tools: Map<string, ShownTool> | undefined

  constructor(session: Session, log: (line: string) => void) {
    this.session = session
    this.log = log
  }

  /** The tools of an opening, as they are listed. */
  list({ tools }: Opening): ShownTool[] {
    this.tools ??= new Map(tools.map((tool) => [tool.name, shownTool(tool)]))
    return [...this.tools.values()]
  }

  /**
   * Carries a call out. One whose connection broke off before the client heard of its result, and which is asked for again
   * without its name, is not carried out twice; nor is one that is still carried out on a connection of which only the
   * client knows that it broke.
   */
  call(name: string, input: Record<string, unknown>): HeldCall {
    const { last } = this
    const began = performance.now()
    const isRetried =
      last?.unheard === true || (last?.doneAt === undefined && began - (last?.began ?? began) > againMs)
    if (last !== undefined && isRetried && isSameCall(last, name, input)) {
      last.unheard = false
      return last
    }
    const id = `${++this.count}`
    const outcome = this.carryOut(name, input)
    const call: HeldCall = {
      id,
      name,
      input,
      outcome,
      began,
      doneAt: undefined,
      unheard: false,
      heard: false,
    }
    this.calls.set(id, call)
    this.last = call
    if (this.calls.size > mostHeld) this.forgetOne()
    void outcome.then((came) => {
      call.doneAt = performance.now()
      // What was refused was not carried out, and may be when it is asked for again.
      if ('events' in came) return
      this.calls.delete(id)
      if (this.last === call) this.last = undefined
    })
    return call
  }

  /** A call from before by its name; undefined when there is none. Throws 409 when it was another one. */
  again(id: string, name: string, input: unknown): HeldCall | undefined {
    const call = this.calls.get(id)
    if (call !== undefined && !isSameCall(call, name, input))
      throw new HttpProblem(409, `Call ${id} was another one than this.`)
    return call
  }

  /** Drops results that nobody came back for. */
  forgetOld(now: number): void {
    for (const call of this.calls.values()) {
      if (call.doneAt === undefined || now - call.doneAt < heldMs) continue
      this.calls.delete(call.id)
      if (this.last === call) this.last = undefined
    }
  }

  private forgetOne(): void {
    for (const { id, doneAt } of this.calls.values()) {
      if (doneAt === undefined) continue
      this.calls.delete(id)
      return
    }
  }

  private async carryOut(name: string, input: Record<string, unknown>): Promise<Outcome> {
    try {
      if (this.tools === undefined) this.list(await this.session.opened())
      const tool = this.tools?.get(name)
      const step = await this.session.call({
        name,
        arguments: tool === undefined ? input : ownArguments(tool, input),
      })
      return { events: step.done === undefined ? goingOn(step) : await this.ended(step) }
    } catch (thrown) {
      return this.refused(thrown)
    }
  }

  /** The reward goes with the call that ended the episode, and with no other. */
  private async ended(step: Step): Promise<string> {
    const carriesReward = !this.rewarded
    this.rewarded = true
    return ending(blocksOf(step.content), await this.session.settled(), carriesReward, step.error)
  }

  private async refused(thrown: unknown): Promise<Outcome> {
    if (!(thrown instanceof SessionError)) {
      this.log(`ors: a call failed: ${messageOf(thrown)}`)
      return { events: errorEvent('The server failed; its log says why.') }
    }
    if (thrown.code === 'episode_over') return this.late()
    // `ors-sdk` would send the call anew after an error of HTTP. The stream's own error ends the rollout in both clients.
    if (thrown.code === 'infrastructure') return { events: errorEvent(thrown.message) }
    return { problem: problemOf(thrown) }
  }

  /** A call after the end. Where the episode ended between calls nobody has heard of its reward yet. */
  private async late(): Promise<Outcome> {
    const carriesReward = !this.rewarded
    this.rewarded = true
    try {
      const blocks = [textBlock('The episode is over; this call was not carried out.')]
      return { events: ending(blocks, await this.session.settled(), carriesReward, 'episode_over') }
    } catch (thrown) {
      if (thrown instanceof SessionError) return { problem: problemOf(thrown) }
      throw thrown
    }
  }
}

function goingOn({ content, error }: Step): string {
  const metadata = error === undefined ? null : { error }
  return output({ blocks: blocksOf(content), metadata, reward: null, finished: false })
}

function ending(
  blocks: Block[],
  settled: Settled,
  carriesReward: boolean,
  error: string | undefined,
): string {
  if (settled.kind !== 'scored') return errorEvent(whyNoReward(settled))
  const failure = error === undefined ? {} : { error }
  if (!carriesReward)
    return output({ blocks, metadata: error === undefined ? null : failure, reward: null, finished: true })
  const { reward, success, rewards, metrics, outcome, stop } = settled
  const metadata = { ...failure, outcome, stop: stop ?? null, success, rewards, metrics }
  return output({ blocks, metadata, reward, finished: true })
}

function whyNoReward(settled: Exclude<Settled, { kind: 'scored' }>): string {
  if (settled.kind === 'unscored') return `This episode has no score: ${settled.reason}.`
  // A fault's message can quote what no agent may see; who it belongs to and its code cannot.
  const { owner, stage, code } = settled.fault
  return `This episode failed and has no score: ${owner}/${code} (${stage}).`
}

function output(of: Output): string {
  return resultEvents(JSON.stringify({ ok: true, output: of }))
}

function isSameCall(call: HeldCall, name: string, input: unknown): boolean {
  return call.name === name && JSON.stringify(call.input) === JSON.stringify(input)
}
