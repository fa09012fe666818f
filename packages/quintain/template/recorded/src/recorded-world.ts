import {
  type Content,
  type Tool,
  type ToolSpec,
  type Turn,
  textOf,
  tool,
  toolError,
  type World,
} from 'quintain'
import { z } from 'zod'
import { keyOf, type Recording, type Step } from './recordings.ts'

/** A call that changed something. */
export interface Call {
  name: string
  arguments: Record<string, unknown>
}

/** What a conversation leaves behind. */
export interface State {
  /** Calls of tools that change something, without those that failed, in the order in which they were made. */
  changed: Call[]
  /** Calls that no recording of the task has. */
  notRecorded: number
  /** The recording that was played again from beginning to end, if one was. */
  followed: number | null
}

type CallStep = Extract<Step, { kind: 'call' }>

/** How the recorded tools say that a call failed, where the recording itself does not. Look at yours, and change it. */
function isFailure(result: Content): boolean {
  return /^\s*error\b/i.test(textOf(result))
}

/**
 * Answers as the recordings of a task did. As long as the agent does what one of them has, the conversation is that one's.
 * Once it does something else, a call is answered as it was in any of them, one that none has fails with `not_recorded`,
 * and the customer says his next recorded line, whatever the agent said.
 *
 * That is enough to check rewards and to play recordings again. It is not enough to compare agents: for that, put real
 * tools in place of `#call`, and a customer who listens in place of `reply`.
 */
export class RecordedWorld implements World<State> {
  readonly #recordings: readonly Recording[]
  readonly #specs: readonly ToolSpec[]
  readonly #changing: ReadonlySet<string>
  readonly #state: State = { changed: [], notRecorded: 0, followed: null }
  /** Recordings that the agent has followed so far, and how far. */
  #followed: { recording: Recording; at: number }[]
  #leader: Recording | undefined
  #lines = 0
  readonly #asked = new Map<string, number>()

  constructor(recordings: readonly Recording[], specs: readonly ToolSpec[], changing: ReadonlySet<string>) {
    this.#recordings = recordings
    this.#specs = specs
    this.#changing = changing
    this.#followed = recordings.map((recording) => ({ recording, at: 0 }))
    this.#leader = recordings[0]
  }

  tools(): Tool[] {
    // The parameters are a description; what they were inferred from may not show all that the tool takes.
    const schema = z.record(z.string(), z.unknown())
    return this.#specs.map(({ name, description, parameters }) =>
      tool({
        name,
        description,
        input: { schema, jsonSchema: parameters },
        run: (input) => this.#call(name, input),
      }),
    )
  }

  reply(message: Content): Turn {
    const said = textOf(message)
    const step = this.#follow((one) => one.kind === 'text' && one.text === said)
    if (step?.kind === 'text') {
      if (step.next !== undefined) this.#lines++
      return turn(step.next ?? '', step.last)
    }
    const lines = (this.#leader?.steps ?? []).filter((one) => one.kind === 'text' && one.next !== undefined)
    const line = lines[this.#lines++]
    if (line?.kind !== 'text') return turn('', true)
    return turn(line.next ?? '', line.last)
  }

  finish(): State {
    const whole = this.#followed.find(({ recording, at }) => at === recording.steps.length)
    return { ...this.#state, followed: whole?.recording.repeat ?? null }
  }

  #call(name: string, input: Record<string, unknown>) {
    const key = keyOf(name, input)
    const earlier = this.#asked.get(key) ?? 0
    this.#asked.set(key, earlier + 1)
    const onScript = this.#follow((one) => isCall(one, name, key))
    const step = onScript?.kind === 'call' ? onScript : this.#recorded(key, earlier)
    if (step === undefined) {
      this.#state.notRecorded++
      return toolError('not_recorded', 'This call is in none of the recordings, so nobody knows its result.')
    }
    const { result, last, error = 'recorded_error' } = step
    if (result === undefined) return toolError('no_result', 'The recording holds no result of this call.')
    const failed = step.error !== undefined || isFailure(result)
    if (this.#changing.has(name) && !failed) this.#state.changed.push({ name, arguments: input })
    // The recorded conversation ended with this call; a failure that ends one is told as what it said.
    if (onScript !== undefined && last) return turn(result, true)
    return failed ? toolError(error, textOf(result)) : result
  }

  /** Goes on with the recordings whose next step this is; gives that step, and undefined once there are none. */
  #follow(isNext: (step: Step) => boolean): Step | undefined {
    const going = this.#followed.flatMap(({ recording, at: from }) => {
      const { steps } = recording
      let at = from
      // A call whose arguments were no JSON is refused before it gets here.
      while (isUnreadable(steps[at]) && !isNext(steps[at]!)) at++
      const step = steps[at]
      return step !== undefined && isNext(step) ? [{ recording, at: at + 1, step }] : []
    })
    this.#followed = going
    const best = going.find(({ step }) => !step.last) ?? going[0]
    if (best !== undefined) this.#leader = best.recording
    return best?.step
  }

  /** What the same call came to, as often as it was asked before: in the recording that was followed last, else in any. */
  #recorded(key: string, earlier: number): CallStep | undefined {
    const found = (recording: Recording) =>
      recording.steps.flatMap((one) => (one.kind === 'call' && one.key === key ? [one] : []))
    const others = this.#recordings.filter((recording) => recording !== this.#leader)
    for (const recording of this.#leader === undefined ? others : [this.#leader, ...others]) {
      const steps = found(recording)
      if (steps.length > 0) return steps[Math.min(earlier, steps.length - 1)]
    }
    return undefined
  }
}

function turn(content: Content, ends: boolean): Turn {
  return ends ? { content, done: 'recording_ended' } : { content }
}

function isCall(step: Step, name: string, key: string): boolean {
  return step.kind === 'call' && step.name === name && (step.key === undefined || step.key === key)
}

function isUnreadable(step: Step | undefined): boolean {
  return step?.kind === 'call' && step.key === undefined
}
