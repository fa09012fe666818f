import { type Fault, FaultError, type FaultOwner, messageOf } from '../core/index.ts'
import { longTimer } from './long-timer.ts'
import { redactedMessage } from './redact.ts'

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
    const stopTimer = longTimer(options.ms, () => {
      cleanUp()
      reject(
        new StepFailure(
          {
            owner: options.owner,
            stage: options.stage,
            code: 'timeout',
            message: `${options.what} did not end within ${options.ms} ms`,
            retryable: true,
          },
          '',
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
    Promise.resolve(promise).then(
      (value) => {
        cleanUp()
        resolve(value)
      },
      (thrown) => {
        cleanUp()
        reject(threw(options, thrown))
      },
    )
  })
}

function threw(options: StepOptions, thrown: unknown): StepFailure {
  if (thrown instanceof FaultError) {
    const { fault } = thrown
    return new StepFailure(
      { ...fault, stage: options.stage, message: redactedMessage(options.redact, fault.message) },
      thrown.stack ?? thrown.message,
    )
  }
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown)
  return new StepFailure(
    {
      owner: options.owner,
      stage: options.stage,
      code: 'threw',
      message: `${options.what} threw: ${redactedMessage(options.redact, thrown)}`,
      retryable: true,
    },
    text,
  )
}

/** A fault of the world that its code did not throw itself: it gave something that the contract does not allow. */
export function worldFault(stage: string, code: string, message: string): StepFailure {
  return new StepFailure({ owner: 'world', stage, code, message, retryable: false }, '')
}
