/**
 * The process in which an environment's code runs: empty environment, Node's permission model, thousands of rollouts
 * at a time. It talks to the main process over the channel it was forked with, and to nobody else.
 */
import { writeSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Worker } from 'node:worker_threads'
import {
  isEnvironment,
  isThrown,
  type Model,
  type ModelContext,
  ModelFault,
  type ModelResponse,
  messageOf,
  QuintainError,
  stackOf,
} from '../core/index.ts'
import { setInterval } from '../core/own-time.ts'
import { EnvironmentHost } from './host.ts'
import { Outbox } from './outbox.ts'
import type { FromWorker, ToWorker, WireError, WireFault } from './protocol.ts'
import { RemoteBoxes } from './remote-boxes.ts'
import { RemotePlays } from './remote-plays.ts'
import { type Activity, StepFailure } from './step.ts'
import { watchdogFd, watchdogSource } from './watchdog.ts'

let host: EnvironmentHost | undefined

const toMain = process.send?.bind(process)
// The channel is this file's alone: what an environment's own code says on it, such as "ready", is for nobody here.
if (toMain !== undefined) {
  process.send = () => {
    process.stderr.write('process.send: the code of an environment has nobody to send to; left aside\n')
    return true
  }
}

const outbox = new Outbox<FromWorker>((batch) => {
  // The channel closes when the main process is gone; so does this one, by `disconnect`.
  toMain?.(batch, undefined, undefined, () => {})
})
function send(message: FromWorker): void {
  outbox.push(message)
}

const stages = ['', 'task', 'open', 'tools', 'tool', 'reply', 'snapshot', 'finish', 'close', 'grade', 'group']
const shared = new Int32Array(new SharedArrayBuffer(16))
const activity: Activity = {
  enter(seq, stage, ms) {
    shared[1] = seq
    shared[2] = Math.max(0, stages.indexOf(stage))
    shared[3] = Math.min(ms, 2 ** 31 - 1)
  },
  leave() {
    shared[1] = -1
    shared[2] = 0
  },
}
shared[1] = -1

function startWatchdog(): void {
  setInterval(() => Atomics.add(shared, 0, 1), 250).unref()
  const thread = new Worker(watchdogSource, { eval: true, workerData: { shared: shared.buffer, stages } })
  thread.unref()
  thread.on('error', (error) => process.stderr.write(`watchdog: ${error.message}\n`))
}

/**
 * Takes threads away from the environment: one that is started with `execArgv` of its own would run without the
 * permission model that this process runs under. The watchdog is the only thread there is.
 */
function forbidThreads(): void {
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: unknown }
  threads.Worker = class {
    constructor() {
      throw Object.assign(new Error('worker threads are not allowed in an environment'), {
        code: 'ERR_ACCESS_DENIED',
        permission: 'WorkerThreads',
      })
    }
  }
  syncBuiltinESMExports()
}

function report(fact: Record<string, unknown>): void {
  try {
    writeSync(watchdogFd, `${JSON.stringify(fact)}\n`)
  } catch {
    // The main process is gone.
  }
}

process.on('exit', (code) => {
  report({ exited: code, seq: shared[1], stage: stages[shared[2] ?? 0] })
})
process.on('uncaughtException', (error) => {
  process.stderr.write(`uncaught: ${stackOf(error)}\n`)
  process.exit(70)
})
process.on('unhandledRejection', (reason) => {
  // A promise that nobody waits for belongs to no attempt that could be told; the log keeps it.
  process.stderr.write(`unhandled rejection: ${stackOf(reason)}\n`)
})
process.on('disconnect', () => process.exit(0))
// Ctrl-C reaches every process of a terminal, and the end of a service every process of it; what it means for the run is
// for the main process to say.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

function wireError(thrown: unknown): WireError {
  if (QuintainError.isInstance(thrown)) {
    // What the message leaves out, since it may quote a secret.
    if (thrown.cause !== undefined) process.stderr.write(`${stackOf(thrown.cause)}\n`)
    return { code: thrown.code, message: thrown.message, facts: { ...thrown.facts } }
  }
  const stack = stackOf(thrown)
  process.stderr.write(`${stack}\n`)
  const name = isThrown(thrown, Error) ? `${thrown.name}: ` : ''
  // The first place that is a file: a syntax error names it before its message, other errors in their frames.
  const place = /file:\/\/[^\s)]+?:\d+(?::\d+)?/.exec(stack)?.[0]
  const denied = (thrown as { resource?: unknown } | null)?.resource
  const why =
    typeof denied === 'string'
      ? ` It may not touch ${denied}; an environment that needs it says so in "permissions".`
      : ''
  return {
    code: 'environment_load_failed',
    message: `The environment's code threw ${name}${messageOf(thrown)}${place === undefined ? '' : ` (${place})`}.${why}`,
    facts: {},
  }
}

const calls = new Map<
  number,
  {
    resolve(response: ModelResponse): void
    reject(error: Error): void
    onWait: ModelContext['onWait']
  }
>()
let nextCall = 1

function remoteModel(id: string): Model {
  return {
    id,
    generate(request, context) {
      return new Promise((resolve, reject) => {
        const call = nextCall++
        const { signal } = context
        const abort = () => {
          if (!calls.delete(call)) return
          send({ t: 'abort', call })
          reject(signal.reason instanceof Error ? signal.reason : new Error('the rollout is over'))
        }
        if (signal.aborted) return reject(new Error('the rollout is over'))
        signal.addEventListener('abort', abort, { once: true })
        const settled = () => signal.removeEventListener('abort', abort)
        calls.set(call, {
          resolve(response) {
            settled()
            resolve(response)
          },
          reject(error) {
            settled()
            reject(error)
          },
          onWait: context.onWait,
        })
        send({
          t: 'call',
          call,
          model: id,
          request,
          seat: context.seat ?? 'agent',
          attempt: context.attempt ?? '',
          task: context.task ?? '',
          repeat: context.repeat ?? 0,
        })
      })
    },
  }
}

function modelFault(failure: WireFault): ModelFault {
  return new ModelFault(failure.fault, {
    outcome: failure.outcome,
    status: failure.status,
    retries: failure.retries,
  })
}

const boxes = new RemoteBoxes(send)
const plays = new RemotePlays(send)

const listings = new Map<number, () => void>()

async function handle(message: ToWorker): Promise<void> {
  switch (message.t) {
    case 'open': {
      try {
        const module = (await import(message.entry)) as { default?: unknown }
        const env = module.default
        if (!isEnvironment(env)) {
          throw new QuintainError(
            'environment_load_failed',
            'Its default export is not an environment; write `export default environment({ … })`.',
          )
        }
        host = await EnvironmentHost.open({
          env,
          spec: message.spec,
          activity,
          modelOf: remoteModel,
          boxesOf: (owner) => boxes.door(owner),
          plays,
        })
        send({ t: 'opened', description: host.description })
      } catch (thrown) {
        send({ t: 'failed', error: wireError(thrown) })
      }
      return
    }
    case 'jobs':
      for (const job of message.jobs) void host!.run(job).then((output) => send({ t: 'done', output }))
      return
    case 'reply': {
      const call = calls.get(message.call)
      if (call === undefined) return
      calls.delete(message.call)
      if (message.failure !== undefined) call.reject(modelFault(message.failure))
      else call.resolve(message.response!)
      return
    }
    case 'wait':
      calls.get(message.call)?.onWait?.(message.waiting, message.why)
      return
    case 'boxed':
      boxes.answered(message)
      return
    case 'box-wait':
      boxes.waits(message)
      return
    case 'play-ask':
    case 'play-ask-abort':
    case 'play-clock':
    case 'play-end':
      plays.receive(message)
      return
    case 'list':
      return list(message.id, message.query)
    case 'more':
      listings.get(message.id)?.()
      return
    case 'probe':
      return answer(message.id, host!.probe(message.index))
    case 'group':
      return answer(message.id, host!.gradeGroup(message.members))
    case 'cancel':
      host?.cancel()
      return
    case 'ping':
      send({ t: 'pong', n: message.n })
  }
}

async function answer(id: number, value: Promise<unknown>): Promise<void> {
  try {
    send({ t: 'answer', id, value: await value })
  } catch (thrown) {
    if (thrown instanceof StepFailure) {
      process.stderr.write(`${thrown.fault.message}\n${thrown.privateText}\n`)
      send({ t: 'answer', id, fault: thrown.fault })
    } else send({ t: 'answer', id, error: wireError(thrown) })
  }
}

/** Sends tasks a page at a time, and the next page when the last was taken. */
async function list(id: number, query: Parameters<EnvironmentHost['list']>[0]): Promise<void> {
  try {
    let page = []
    for await (const task of host!.list(query)) {
      page.push(task)
      if (page.length < 1_000) continue
      const taken = new Promise<void>((resolve) => listings.set(id, resolve))
      send({ t: 'tasks', id, tasks: page, done: false })
      page = []
      await taken
    }
    send({ t: 'tasks', id, tasks: page, done: true })
  } catch (thrown) {
    send({ t: 'tasks', id, tasks: [], done: true, error: wireError(thrown) })
  } finally {
    listings.delete(id)
  }
}

process.on('message', (batch: ToWorker[]) => {
  for (const message of batch) void handle(message)
})
startWatchdog()
forbidThreads()
