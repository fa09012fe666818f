import { resolve } from 'node:path'
import { openSandboxDriver } from '../sandbox-drivers.ts'
import { type Curriculum, defaultPools, type TrainOptions, train } from '../train/loop/index.ts'
import { unboundedSteps } from '../train/progress.ts'
import { consoleAside } from './console-aside.ts'
import type { EnvironmentFlags } from './environment-flags.ts'
import type { ExitCode } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { type LearnerFlags, openLearner } from './open-learner.ts'
import { parseLimits, parseOptions } from './parse.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { newRunDir } from './run-path.ts'
import {
  type AlgorithmFlags,
  algorithmOf,
  type EvaluationFlags,
  evaluationOf,
  fitLengths,
  parseStragglers,
  refuseOffline,
  type SplitFlags,
  splitsOf,
} from './train-flags.ts'
import { trainingNotes } from './training-notes.ts'
import { type TrainingSessionOptions, trainingSession, typedEnvironment } from './training-session.ts'
import { checkTutors, openTutors } from './tutors.ts'

export interface TrainFlags
  extends LearnerFlags,
    AlgorithmFlags,
    SplitFlags,
    EvaluationFlags,
    EndpointOptions,
    EnvironmentFlags,
    TrainingSessionOptions {
  engine?: 'embedded'
  steps?: number
  minutes?: number
  async?: number
  stragglers?: string
  curriculum?: 'uniform' | 'pools'
  checkpointEvery?: number
  keepAll?: boolean
  plateau?: number
  /** False for `--no-collapse`. */
  collapse?: boolean
  shadow?: string
  reference?: string
  teacher?: string
  temperature?: number
  maxTokens?: number
  maxTries?: number
}

/** Steps of a training of which nothing is said. */
const defaultSteps = 200

/** Trains a policy in an environment by a recipe that learns from its rollouts, and says what came of it. */
export async function trainCommand(env: string, flags: TrainFlags, io: CliIo): Promise<ExitCode> {
  const algorithm = algorithmOf(flags)
  refuseOffline(algorithm)
  checkTutors(flags, algorithm)
  const planned = planOf(flags)
  const limits = flags.limit === undefined ? undefined : parseLimits(flags.limit)
  const options = flags.option === undefined ? undefined : parseOptions(flags.option)
  const dir = flags.out === undefined ? newRunDir(io.cwd, env, algorithm.recipe) : resolve(io.cwd, flags.out)
  const consoleBack = flags.json === true ? consoleAside(io) : undefined
  const opener = new PlayerOpener(flags, io)
  const opened = await openLearner(flags, io.cwd)
  const { learner, renderer, from } = opened
  const tutors = await openTutors(flags, { learner, algorithm, cwd: io.cwd }).catch(
    async (error: unknown) => {
      await learner.close()
      throw error
    },
  )
  try {
    const seats = await opener.seats(flags.seat)
    const judges = await opener.judges(flags.judge)
    const { readRecordings } = await import('../models/index.ts')
    const { seed, concurrency, workers, boxes, sandbox, isolation, maxTries, tasks, shadow } = flags
    const trained: Omit<TrainOptions, 'signal' | 'onBegin' | 'onNote' | 'onStep' | 'onEvaluation'> = {
      env,
      dir,
      cwd: io.cwd,
      learner,
      renderer,
      algorithm: fitLengths(algorithm, flags, learner.capabilities.context),
      ...planned,
      ...tutors.options,
      openSandbox: openSandboxDriver,
      openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
      ...(from === null ? {} : { from }),
      ...(options === undefined ? {} : { options }),
      ...(limits === undefined ? {} : { limits }),
      ...(Object.keys(seats).length === 0 ? {} : { seats }),
      ...(Object.keys(judges).length === 0 ? {} : { judges }),
      ...(seed === undefined ? {} : { seed }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(workers === undefined ? {} : { workers }),
      ...(boxes === undefined ? {} : { boxes }),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(isolation === undefined ? {} : { isolation }),
      ...(maxTries === undefined ? {} : { maxTries }),
      ...(tasks === undefined ? {} : { tasks }),
      ...(shadow === undefined ? {} : { shadow }),
    }
    return await trainingSession(
      {
        dir,
        typed: typedEnvironment(env, flags.option ?? []),
        budget: { steps: planned.steps, ...planned.budget, evaluateEvery: planned.evaluate.every },
        notes: (parted) => trainingNotes(parted, flags.evalTasks),
        history: [],
        run: (control) => train({ ...trained, ...control }),
      },
      flags,
      io,
    )
  } finally {
    consoleBack?.()
    await tutors.close()
    await learner.close()
    await opener.close()
  }
}

/** How long, how it is measured, and by what rules, from what was typed. Throws `usage`. */
function planOf(flags: TrainFlags) {
  const { minutes, temperature, maxTokens, checkpointEvery, keepAll, plateau, collapse } = flags
  const steps = flags.steps ?? (minutes === undefined ? defaultSteps : undefined)
  const curriculum: Curriculum | undefined =
    flags.curriculum === 'pools' ? { pools: defaultPools } : undefined
  return {
    steps: steps ?? unboundedSteps,
    splits: splitsOf(flags),
    evaluate: evaluationOf(flags, steps),
    ...(minutes === undefined ? {} : { budget: { seconds: 60 * minutes } }),
    ...(flags.async === undefined || flags.async === 0 ? {} : { mode: { async: flags.async } }),
    ...(flags.stragglers === undefined ? {} : { stragglers: parseStragglers(flags.stragglers) }),
    ...(curriculum === undefined ? {} : { curriculum }),
    ...(checkpointEvery === undefined ? {} : { checkpointEvery }),
    ...(keepAll === true ? { keep: 'all' as const } : {}),
    ...(plateau === undefined ? {} : { plateau }),
    ...(collapse === undefined ? {} : { collapse }),
    ...(temperature === undefined && maxTokens === undefined
      ? {}
      : {
          sampling: {
            ...(temperature === undefined ? {} : { temperature }),
            ...(maxTokens === undefined ? {} : { maxTokens }),
          },
        }),
  }
}
