import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest'
import {
  type AttemptRecord,
  type Environment,
  foldRun,
  type PrivateRecord,
  readPrivate,
  readTrajectory,
  type TrajectoryRecord,
} from '../core/index.ts'
import { evaluate, plan } from '../evaluate.ts'
import { formatText } from '../report/index.ts'
import { secretStrings, standsIn, textsIn } from './secret-strings.ts'
import { watchBoxes } from './watch-boxes.ts'

export interface TestEnvironmentOptions {
  /** How many tasks are tried; 10 when absent. */
  tasks?: number
  split?: string
  /** Options of the environment. */
  options?: Record<string, unknown>
  /** Driver of its boxes, where it has any; the strongest there is when absent. */
  sandbox?: string
  /** Ask that the oracle solves every tried task; on where the environment has an oracle. */
  oracle?: boolean
  /** Ask that an agent that says nothing solves none; on when absent. */
  noop?: boolean
  /**
   * Ask that the agent, before it acts, sees no text of the secret that the oracle goes on to say (any text of the secret,
   * where there is no oracle): in messages, in what it is told of tools, and in what the world puts into boxes as text. On
   * when absent. Off where the answer stands among choices, or a box holds it where the agent does not come.
   */
  secrets?: boolean
}

interface Attempt {
  task: string
  trajectory: TrajectoryRecord
  private: PrivateRecord | undefined
}

/**
 * Registers tests that every environment should pass: its tasks can be listed and have unique ids, its oracle solves
 * them and silence does not, two worlds of a task are the same, and the secret is nowhere an agent can see. Call it in a
 * test file of Vitest.
 *
 * @example testEnvironment(env, { tasks: 20 })
 */
export function testEnvironment<Options, Data, Secret, State>(
  env: Environment<Options, Data, Secret, State>,
  given: TestEnvironmentOptions = {},
): void {
  const { tasks = 10, split, options, sandbox, noop = true, secrets = true } = given
  const hasOracle = env.definition.oracle !== undefined
  const oracle = given.oracle ?? hasOracle
  // A group that is smaller than its reward asks for has no score at all, so nothing could be said of a policy in it.
  const groups = Object.values(env.definition.groupRewards ?? {}).map(({ atLeast }) => atLeast ?? 2)
  const leastRepeats = Math.max(1, ...groups)
  const common = {
    tasks,
    ...(split === undefined ? {} : { split }),
    ...(options === undefined ? {} : { options }),
    ...(sandbox === undefined ? {} : { sandbox }),
  }

  describe('environment', () => {
    let root: string
    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), 'quintain-test-'))
    })
    afterAll(() => rm(root, { recursive: true, force: true }))

    // Each run serves several tests; each of them fails with its error when it cannot be made.
    const runs = new Map<string, ReturnType<typeof play>>()
    const play = async (policy: string, least: number) => {
      const repeats = Math.max(least, leastRepeats)
      const dir = join(root, policy)
      const { env: played, texts } = watchBoxes(env)
      const run = await evaluate(played, { ...common, policy: `script:${policy}`, repeats, dir })
      const fold = await foldRun<AttemptRecord>(dir)
      const attempts: Attempt[] = []
      for (const { chosen } of fold.states) {
        if (chosen === undefined) continue
        attempts.push({
          task: chosen.task,
          trajectory: await readTrajectory(dir, chosen),
          private: await readPrivate(dir, chosen),
        })
      }
      return { run, attempts, texts }
    }
    const runOf = (policy: string, least: number) => {
      const found = runs.get(policy) ?? play(policy, least)
      runs.set(policy, found)
      return found
    }
    const silence = () => runOf('noop', 2)

    // What is not asked for is no test: "skipped" would sound as if something were missing.

    test('has tasks, each with an id of its own', async () => {
      const { tasks: _, ...all } = common
      const preview = await plan(env, { ...all, policy: 'script:noop' })
      if (preview.tasks === 0) assert.fail('there is no task')
    })

    if (oracle) {
      test(`the oracle solves every task that is tried (at most ${tasks})`, async () => {
        if (!hasOracle) assert.fail('the environment has no oracle')
        const { summary, success, coverage } = (await runOf('oracle', 1)).run
        if (coverage !== 1) assert.fail(`some orders of the oracle have no score\n\n${formatText(summary)}`)
        if (summary.run.environment.success && success.observed !== 1) {
          assert.fail(`the oracle does not succeed everywhere\n\n${formatText(summary)}`)
        }
      })
    }

    if (noop) {
      test('saying nothing solves no task', async () => {
        const { summary, success, coverage } = (await silence()).run
        // A reward may decline to judge silence; what it may not do is call it a success.
        if (summary.status.faulted > 0)
          assert.fail(`saying nothing ended in faults\n\n${formatText(summary)}`)
        if (summary.run.environment.success && coverage !== 0 && (success.observed ?? 0) > 0) {
          assert.fail(`saying nothing succeeds\n\n${formatText(summary)}`)
        }
      })
    }

    test('two worlds of a task are the same', async () => {
      const first = new Map<string, { seen: unknown; state: unknown }>()
      for (const { task, trajectory, private: hidden } of (await silence()).attempts) {
        const world = {
          seen: trajectory.nodes.map(({ seat, message }) => ({ seat, message })),
          state: hidden?.state,
        }
        const earlier = first.get(task)
        if (earlier === undefined) first.set(task, world)
        else expect(world, `task ${task}`).toEqual(earlier)
      }
    })

    if (secrets) {
      test('the secret is nowhere that the agent can see', async () => {
        const { attempts, texts } = await silence()
        const said = new Map<string, string>()
        if (hasOracle) {
          for (const { task, trajectory } of (await runOf('oracle', 1)).attempts) {
            const own = trajectory.nodes.filter(({ sampled }) => sampled).map(({ message }) => message)
            said.set(task, textsIn(own))
          }
        }
        for (const { task, trajectory, private: hidden } of attempts) {
          const content = trajectory.nodes
            .filter(({ sampled }) => !sampled)
            .map(({ message }) => message.content)
          const seen = textsIn([task, trajectory.seats, content])
          const answers = secretStrings(hidden?.secret).filter(
            (part) => !hasOracle || standsIn(said.get(task) ?? '', part),
          )
          const fail = (leak: string, where: string) =>
            assert.fail(
              `task ${task} ${where} ${JSON.stringify(leak)}, a text of its secret, before the agent has acted`,
            )
          for (const leak of answers) {
            if (standsIn(seen, leak)) fail(leak, 'shows')
            if (standsIn(textsIn(texts.get(task)), leak)) fail(leak, 'puts into a box')
          }
        }
      })
    }
  })
}
