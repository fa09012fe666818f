import { type Fault, FaultError, type FaultOwner, faultProblem, isThrown, stackOf } from '../core/index.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import type { Hold } from './attempt-boxes.ts'
import { longTimer } from './long-timer.ts'

/** Code of an environment failed or hung: whose fault it is, and the whole text, which may quote a secret. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure'
  readonly fault: Fault
  readonly privateText: string

  constructor(fault: Fault, privateText: string) {
    super(fault.message)
    this.fault = fault
    this.privateText = privateText
  }
}

/** Told which attempt's code runs on this thread right now, so that a watchdog can say who blocks it. */
export interface Activity {
  enter(seq: number, stage: string, ms: number): void
  leave(): void
}

export const noActivity: Activity = { enter() {}, leave() {} }

/** In the place of an order's number: a step that belongs to no order, such as a group's grading. */
export const noOrder = -2

export interface StepOptions {
  owner: FaultOwner
  stage: string
  /** What was called, for the message: `world.reply()`, `reward "solved"`. */
  what: string
  ms: number
  seq: number
  activity: Activity
  /** Makes text free of secrets. */
  redact(text: string): string
  /** Time that does not count against `ms`. */
  hold?: Hold | undefined
  /** When this aborts, the step is given up as part of an attempt that is over. */
  signal?: AbortSignal
}

/** Why the signals of a rollout abort when it is over. One for all, and not made anew with a stack each time. */
export const abortReason: Error = Object.assign(new Error('the rollout is over'), { name: 'AbortError' })

/** Thrown by a step whose attempt ended while it ran. */
export class StepAbandoned extends Error {
  override readonly name = 'StepAbandoned'
}

/**
 * Runs a piece of an environment's code under a deadline. What it throws, and its hanging, become a `StepFailure`.
 * Code that answers at once costs no timer and no turn of the event loop.
 */
export function step<T>(options: StepOptions, run: () => T | Promise<T>): T | Promise<T> {
  options.activity.enter(options.seq, options.stage, options.ms)
  let result: T | Promise<T>
  let later: boolean
  try {
    result = run()
    later = isThenable(result)
  } catch (thrown) {
    throw threw(options, thrown)
  } finally {
    options.activity.leave()
  }
  return later ? underDeadline(options, result as Promise<T>) : result
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  )
}

function underDeadline<T>(options: StepOptions, promise: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stopTimer = heldTimer(options.ms, options.hold, () => {
      cleanUp()
      reject(
        stepFailure(
          options,
          'timeout',
          `${options.what} did not end within ${Math.ceil(options.ms)} ms`,
          true,
        ),
      )
    })
    const abandon = () => {
      cleanUp()
      reject(new StepAbandoned('the attempt is over'))
    }
    const cleanUp = () => {
      stopTimer()
      options.signal?.removeEventListener('abort', abandon)
    }
    if (options.signal?.aborted) abandon()
    else options.signal?.addEventListener('abort', abandon)
    const refuse = (thrown: unknown) => {
      cleanUp()
      reject(threw(options, thrown))
    }
    const accept = (value: T) => {
      cleanUp()
      resolve(value)
    }
    try {
      Promise.resolve(promise).then(accept, refuse)
    } catch (thrown) {
      // A promise with a `then` or a `constructor` of its own making.
      refuse(thrown)
    }
  })
}

/** A deadline that moves by the time in which nothing could be done. */
function heldTimer(ms: number, hold: Hold | undefined, expire: () => void): () => void {
  if (hold === undefined) return longTimer(ms, expire)
  let counted = hold.waitedMs()
  let stop = () => {}
  const wait = (left: number) => {
    stop = longTimer(left, () => {
      const waited = hold.waitedMs()
      const more = waited - counted
      counted = waited
      if (more > 0) wait(more)
      else expire()
    })
  }
  wait(ms)
  return () => stop()
}

/** What code threw, as a fault. Never throws itself, whatever the thrown thing does when it is looked at. */
function threw(options: StepOptions, thrown: unknown): StepFailure {
  try {
    return isThrown(thrown, FaultError) ? namedFault(options, thrown) : threwSomething(options, thrown)
  } catch {
    return stepFailure(options, 'threw', `${options.what} threw something that cannot be read`, true)
  }
}

function threwSomething(options: StepOptions, thrown: unknown): StepFailure {
  const message = `${options.what} threw: ${redactedMessage(options.redact, thrown)}`
  return stepFailure(options, 'threw', message, true, stackOf(thrown))
}

/** A fault that code has named itself, in words and with a code without secrets. */
function namedFault(options: StepOptions, thrown: FaultError): StepFailure {
  // Read once: what a getter gives the second time was not looked at.
  const { owner, code, message, retryable } = { ...thrown.fault }
  const problem = faultProblem({ owner, code, message, retryable })
  if (problem !== undefined) {
    const complaint = `${options.what} threw a FaultError that is not whole: ${problem}`
    return stepFailure(options, 'bad_fault', complaint, false, stackOf(thrown))
  }
  const fault: Fault = {
    owner,
    stage: options.stage,
    code: options.redact(code) === code ? code : 'withheld',
    message: redactedMessage(options.redact, message),
    retryable,
  }
  return new StepFailure(fault, stackOf(thrown))
}

function stepFailure(
  { owner, stage }: StepOptions,
  code: string,
  message: string,
  retryable: boolean,
  privateText = '',
): StepFailure {
  return new StepFailure({ owner, stage, code, message, retryable }, privateText)
}

/** A fault of the world that its code did not throw itself: it gave something that the contract does not allow. */
export function worldFault(stage: string, code: string, message: string): StepFailure {
  return new StepFailure({ owner: 'world', stage, code, message, retryable: false }, '')
}
