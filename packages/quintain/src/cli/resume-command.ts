import { join, resolve } from 'node:path'
import { type ManifestRecord, type Model, QuintainError, readManifest, readPanel } from '../core/index.ts'
import type { AgentPlayer, Player, ResumeOptions } from '../engine/index.ts'
import { printableLine } from '../report/index.ts'
import { openSandboxDriver } from '../sandbox-drivers.ts'
import { isProbe } from '../train/probe/probe-folder.ts'
import { isTraining } from '../train/training-folder.ts'
import { type AgentOptions, openAgents } from './agents.ts'
import { consoleAside } from './console-aside.ts'
import type { ExitCode } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { panelSession } from './panel-session.ts'
import { extendedPlanNotes, planSize } from './plan-notes.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { type ResumeTrainingFlags, refuseLostTraining, resumeTrainingCommand } from './resume-training.ts'
import { findRun } from './run-path.ts'
import { type NotesOf, runSession, type SessionOptions } from './run-session.ts'

export interface ResumeCommandOptions
  extends SessionOptions,
    EndpointOptions,
    AgentOptions,
    Pick<ResumeTrainingFlags, 'steps' | 'threads' | 'html'> {
  tasks?: number
  task?: string[]
  repeats?: number
  split?: string
  retryFaults?: boolean
  force?: boolean
}

/** Who plays in a run, opened again: a model's key and an agent's code are not in the records. */
async function playersOf(
  { seats, environment }: ManifestRecord,
  opener: PlayerOpener,
  agents: readonly AgentPlayer[],
): Promise<Record<string, Player>> {
  if (environment.reference === 'imported') {
    throw new QuintainError(
      'usage',
      'This run was imported from a file; there is no environment here in which to go on with it. To make one of the same file: npx quintain init --from FILE.',
    )
  }
  const players: Record<string, Player> = {}
  const { agentDigest, harnessOf, refuseServed } = await import('../engine/index.ts')
  refuseServed(seats)
  for (const [seat, recorded] of Object.entries(seats)) {
    const { policy, harness, agentDigest: digest } = recorded
    const isModel = !/^(script|recorded|agent):/.test(policy)
    const behind = isModel ? { model: await opener.modelAgain(seat, recorded) } : undefined
    if (harness === 'auto') {
      if (behind !== undefined) players[seat] = behind
      continue
    }
    // Of several agents, the one of this run; of one alone, the engine says why it is not.
    const agent =
      agents.find((one) => digest !== undefined && agentDigest(one) === digest) ??
      agents.find((one) => harnessOf(one).name === harness) ??
      agents[0]
    if (agent === undefined) {
      throw new QuintainError(
        'usage',
        `The ${seat} of this run is ${harness}, whose code is not in the records; give it again: --agent FILE, --agent-command or --agent-url (from code, resume(dir, { agent })).`,
        { facts: { seat, policy, harness } },
      )
    }
    players[seat] = { ...agent, ...(behind === undefined ? {} : { behind }) }
  }
  return players
}

/** The judges of a run, opened again. */
async function judgesOf(
  { judges = {} }: ManifestRecord,
  opener: PlayerOpener,
): Promise<Record<string, Model>> {
  const models: Record<string, Model> = {}
  for (const [judge, recorded] of Object.entries(judges))
    models[judge] = await opener.modelAgain(`judge ${judge}`, recorded)
  return models
}

const ofRuns = ['tasks', 'task', 'repeats', 'split', 'retryFaults', 'agents', 'maxCost', 'threshold'] as const
const ofTrainings = ['steps', 'threads', 'html'] as const

/** Throws `usage` for an option that means nothing for what is taken up. */
function refuseForeign(options: ResumeCommandOptions, training: boolean): void {
  const given = (name: keyof ResumeCommandOptions) => {
    const value = options[name]
    // What is true unless it is taken back, or a list that nothing was put in, was not typed.
    return value !== undefined && value !== true && !(Array.isArray(value) && value.length === 0)
  }
  const typed = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const foreign = (training ? ofRuns : ofTrainings).find(
    (name) => given(name) || (!training && options[name] === true),
  )
  if (foreign === undefined) return
  throw new QuintainError(
    'usage',
    training
      ? `${typed(foreign)} is not for a training: what it orders follows from how it began. --steps N makes more steps.`
      : `${typed(foreign)} is for trainings, and this is none.`,
  )
}

/** Goes on with a training; its policy is in its checkpoints, the other seats are opened as for any run. */
async function resumeOneTraining(
  dir: string,
  options: ResumeCommandOptions,
  opener: PlayerOpener,
  io: CliIo,
): Promise<ExitCode> {
  const manifest = await readManifest(dir)
  const { agent: _, ...others } = manifest.seats
  const seats = await playersOf({ ...manifest, seats: others }, opener, [])
  return await resumeTrainingCommand(dir, { seats, judges: await judgesOf(manifest, opener) }, options, io)
}

/** Throws `usage` for the run of a probe. */
async function refuseProbe(dir: string, typed: string): Promise<void> {
  if (!isProbe(await readManifest(dir))) return
  throw new QuintainError(
    'usage',
    `${printableLine(typed, 200)} is a probe, and a probe is not gone on with. Begin another in a new folder: npx quintain probe ENV --out FOLDER.`,
    { facts: { dir } },
  )
}

/** Goes on with a run, or with all runs of a panel in turns, and may order more into them. */
export async function resumeCommand(
  run: string,
  options: ResumeCommandOptions,
  io: CliIo,
): Promise<ExitCode> {
  if (options.tasks !== undefined && options.task !== undefined) {
    throw new QuintainError('usage', 'Give -n (how many) or --task (which), not both.')
  }
  const dir = findRun(run, io.cwd)
  const training = await isTraining(dir)
  if (!training) await refuseLostTraining(dir)
  refuseForeign(options, training)
  const panel = await readPanel(dir)
  if (panel === undefined) await refuseProbe(dir, run)
  const consoleBack = options.json === true ? consoleAside(io) : undefined
  const opener = new PlayerOpener(options, io)
  try {
    if (training) return await resumeOneTraining(dir, options, opener, io)
    const agents = await openAgents(options.agents ?? [], io.cwd)
    const { readRecordings } = await import('../models/index.ts')
    const { resumePanel, resumeRun } = await import('../engine/index.ts')
    const tasks = options.task ?? options.tasks
    const resumeOptions: Omit<ResumeOptions, 'players'> = {
      dir,
      cwd: io.cwd,
      openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
      openSandbox: openSandboxDriver,
      ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
      ...(tasks === undefined ? {} : { tasks }),
      ...(options.repeats === undefined ? {} : { repeats: options.repeats }),
      ...(options.split === undefined ? {} : { split: options.split }),
      ...(options.retryFaults === undefined ? {} : { retryFaults: options.retryFaults }),
      ...(options.force === undefined ? {} : { force: options.force }),
    }
    // The runs of a panel have one plan.
    const first = panel === undefined ? dir : join(dir, panel.runs[0] ?? '')
    const more = options.tasks !== undefined || options.repeats !== undefined
    const before = more ? await planSize(first, options.split) : undefined
    const notes: NotesOf = async ({ quiet }) =>
      before === undefined || quiet
        ? []
        : extendedPlanNotes(options, before, await planSize(first, options.split))
    const judges = await judgesOf(await readManifest(first), opener)
    if (panel !== undefined) {
      return await panelSession(
        {
          dir,
          run: (control) =>
            resumePanel({
              ...resumeOptions,
              judges,
              ...control,
              playersOf: (manifest) => playersOf(manifest, opener, agents),
            }),
        },
        options,
        io,
        notes,
      )
    }
    const players = await playersOf(await readManifest(dir), opener, agents)
    return await runSession(
      { dir, run: (control) => resumeRun({ ...resumeOptions, players, judges, ...control }) },
      options,
      io,
      notes,
    )
  } finally {
    consoleBack?.()
    await opener.close()
  }
}
