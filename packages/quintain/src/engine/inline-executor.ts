import { type Environment, type Harness, type Model, QuintainError, type Seat } from '../core/index.ts'
import { agentBox } from './agent-box.ts'
import { type AttemptOutput, cancelledAttempt } from './attempt.ts'
import type { BoxDesk } from './box-desk.ts'
import { boxOwner, probeOwner } from './box-protocol.ts'
import type { Executor } from './executor.ts'
import { EnvironmentHost } from './host.ts'
import type { SeatPlayers } from './play.ts'
import { spentUnseen } from './policy.ts'
import type { HostSpec, Job } from './protocol.ts'
import { noActivity } from './step.ts'
import type { TaskSummary } from './taskset.ts'

/**
 * Runs attempts in this process: for tests, and for agents passed as functions. Nothing keeps the environment's code
 * from what this process may touch, and code that blocks blocks the run.
 */
export async function openInline(options: {
  env: Environment
  spec: HostSpec
  /** The models behind seats that have one: two seats may have different models of one name. */
  models: ReadonlyMap<Seat, Model>
  /** Holds the boxes of its attempts. */
  boxes: BoxDesk
  /** The harness of the agent's seat, beside the world. */
  harness?: Harness
  /** Plays the seats whose harness is outside. */
  outside?: SeatPlayers
}): Promise<Executor> {
  const { env, spec, models, harness, outside } = options
  const boxes = options.boxes.window()
  const host = await EnvironmentHost.open({
    env,
    spec,
    activity: noActivity,
    modelOf(id, seat) {
      const model = models.get(seat)
      if (model === undefined) throw new QuintainError('internal', `no model "${id}" in this run`)
      return model
    },
    boxesOf: (owner) => ({ ask: (request, asked) => boxes.ask(owner, request, asked) }),
    ...(harness === undefined ? {} : { harness }),
    ...(outside === undefined
      ? {}
      : {
          plays: {
            play: (job, start, side) =>
              outside.play(job, start, side, (over) => agentBox(boxes, boxOwner(job), over)),
          },
        }),
  })
  const running = new Map<Job, (output: AttemptOutput) => void>()
  return {
    description: host.description,
    async *list(query) {
      let page: TaskSummary[] = []
      for await (const task of host.list(query)) {
        page.push(task)
        if (page.length === 1_000) {
          yield page
          page = []
        }
      }
      if (page.length > 0) yield page
    },
    probe: (index) => host.probe(index).finally(() => boxes.end(probeOwner)),
    run: (job) =>
      new Promise((resolve, reject) => {
        running.set(job, resolve)
        host
          .run(job)
          .then(resolve, reject)
          .finally(() => {
            running.delete(job)
            void boxes.end(boxOwner(job))
          })
      }),
    gradeGroup: (members) => host.gradeGroup(members),
    cancel: () => host.cancel(),
    async close() {
      host.cancel()
      // Code of this process cannot be ended; nobody waits for it any longer.
      for (const [job, resolve] of running)
        resolve(cancelledAttempt(job.order, job.try, { costUsd: spentUnseen(spec) }))
      await boxes.endAll()
      await options.boxes.close()
      await outside?.close()
    },
  }
}
