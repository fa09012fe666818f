import { relative, resolve } from 'node:path'
import { printableLine } from '../report/index.ts'
import { openSandboxDriver } from '../sandbox-drivers.ts'
import type { ProbeProgress, ProbeRecord } from '../train/index.ts'
import type { EnvironmentFlags } from './environment-flags.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { durationMs } from './open-cores.ts'
import { parseLimits, parseOptions } from './parse.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { probeText } from './probe-text.ts'
import { newRunDir } from './run-path.ts'

export interface ProbeCommandOptions extends EndpointOptions, EnvironmentFlags {
  /** A policy to train in place of a blind one: a checkpoint, or a training. */
  from?: string
  steps?: number
  /** Most time of the training. */
  time?: string
  /** Most time of the replies that know nothing. */
  scriptTime?: string
  shadow?: string
  threads?: number
  json?: boolean
  quiet?: boolean
}

/**
 * Looks for reward without success in an environment. 0 where nothing was found, 1 where something was, 3 where too little was
 * scored to say, or it was cancelled.
 */
export async function probeCommand(env: string, options: ProbeCommandOptions, io: CliIo): Promise<ExitCode> {
  const dir = options.out === undefined ? newRunDir(io.cwd, env, 'probe') : resolve(io.cwd, options.out)
  const say = (text: string) => {
    if (options.quiet !== true && options.json !== true) io.stderr.write(`${printableLine(text, 400)}\n`)
  }
  const interrupts = listenForInterrupts(io, say, 'Stopping. What was played stays in its folder.')
  const opener = new PlayerOpener(options, io)
  try {
    const seats = await opener.seats(options.seat)
    const judges = await opener.judges(options.judge)
    const { openPolicy, probe } = await import('../train/index.ts')
    const threads = options.threads === undefined ? {} : { threads: options.threads }
    const policy =
      options.from === undefined ? undefined : await openPolicy(resolve(io.cwd, options.from), threads)
    let record: ProbeRecord
    try {
      record = await probe({
        env,
        dir,
        cwd: io.cwd,
        seats,
        openSandbox: openSandboxDriver,
        ...threads,
        ...(policy === undefined ? {} : { policy }),
        ...(Object.keys(judges).length === 0 ? {} : { judges }),
        ...(options.option === undefined ? {} : { options: parseOptions(options.option) }),
        ...(options.limit === undefined ? {} : { limits: parseLimits(options.limit) }),
        ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
        ...(options.boxes === undefined ? {} : { boxes: options.boxes }),
        ...(options.workers === undefined ? {} : { workers: options.workers }),
        ...(options.isolation === undefined ? {} : { isolation: options.isolation }),
        ...(options.split === undefined ? {} : { split: options.split }),
        ...(options.tasks === undefined ? {} : { tasks: options.tasks }),
        ...(options.seed === undefined ? {} : { seed: options.seed }),
        ...(options.steps === undefined ? {} : { steps: options.steps }),
        ...(options.time === undefined ? {} : { seconds: durationMs(options.time, '--time') / 1_000 }),
        ...(options.scriptTime === undefined
          ? {}
          : { scriptSeconds: durationMs(options.scriptTime, '--script-time') / 1_000 }),
        ...(options.shadow === undefined ? {} : { shadow: options.shadow }),
        signal: interrupts.signal,
        onProgress: (progress) => {
          const text = progressText(progress)
          if (text !== undefined) say(text)
        },
      })
    } catch (error) {
      if (!interrupts.signal.aborted) throw error
      say(`Stopped before there was a verdict; what was played: npx quintain report ${relative(io.cwd, dir)}`)
      return exitCodes.incomplete
    } finally {
      await policy?.close()
    }
    io.stdout.write(
      options.json === true
        ? `${JSON.stringify(record, null, 2)}\n`
        : probeText(record, relative(io.cwd, dir) || '.'),
    )
    if (record.verdict === 'inconclusive') return exitCodes.incomplete
    return record.verdict === 'suspicious' ? exitCodes.belowThreshold : exitCodes.done
  } finally {
    interrupts.stop()
    await opener.close()
  }
}

/** Replies between two lines that say how far it is; of an environment whose rollouts take long, a sign of life. */
const toldEvery = 72

/** A line for what is worth one. */
function progressText(progress: ProbeProgress): string | undefined {
  switch (progress.stage) {
    case 'oracle':
      return 'The oracle plays, to say what a full reward is.'
    case 'test':
      return 'What was paid is tried again on other tasks, and shortened.'
    case 'scripts':
      return progress.done === progress.of || progress.done % toldEvery === 0
        ? `${progress.done} of ${progress.of} replies that know nothing were played.`
        : undefined
    case 'training': {
      const { step, rewardMean, success } = progress.step
      const known = [
        ...(rewardMean === null ? [] : [`reward ${rewardMean.toFixed(3)}`]),
        ...(success === null ? [] : [`success ${success.toFixed(3)}`]),
      ]
      return `Step ${step} of ${progress.of}: ${known.join(', ')}`
    }
  }
}
