import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import {
  doorHarness,
  type FloorRecord,
  type Limits,
  type ManifestRecord,
  QuintainError,
  type RequestRecord,
  resolveLimits,
  type Sampling,
  type Seat,
} from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import { agentDigest, harnessOf } from './agent.ts'
import { rubricName } from './host.ts'
import { judgesAgain } from './judge-models.ts'
import { changedFiles } from './locate.ts'
import type { OpenedRun } from './open-run.ts'
import { modelOf, type Player, policyName } from './policy.ts'
import type { PolicySpec } from './protocol.ts'
import type { ResumeOptions, RunOptions } from './run-options.ts'

/** What is written down of a new run before anything is ordered. */
export function manifestOf(
  options: RunOptions,
  opened: OpenedRun,
  request: RequestRecord,
  dir: string,
  floor: readonly FloorRecord[],
): ManifestRecord {
  const { environment, executor } = opened
  return {
    schema: 'quintain.run',
    v: 1,
    id: crypto.randomUUID(),
    created: new Date().toISOString(),
    quintain: quintainVersion,
    node: process.versions.node,
    environment: { ...environment, reference: storedReference(opened, options.cwd, dir) },
    rubric: rubricName(executor.description),
    ...(floor.length === 0 ? {} : { floor: [...floor] }),
    seats: seatsOf(opened.seats, options),
    ...(Object.keys(opened.judges).length === 0 ? {} : { judges: opened.judges }),
    seed: String(options.seed ?? 0),
    limits: resolveLimits(options.limits),
    ...(options.limits === undefined ? {} : { limitsGiven: options.limits as Record<string, unknown> }),
    ...(options.escalate === true ? { escalate: true } : {}),
    isolation: opened.isolation,
    ...(opened.sandbox === undefined ? {} : { sandbox: opened.sandbox }),
    maxTries: options.maxTries ?? 3,
    ...(options.maxCostUsd === undefined ? {} : { maxCostUsd: options.maxCostUsd }),
    request,
  }
}

/** Who plays, for the records. */
export function seatsOf(
  policies: Record<Seat, PolicySpec>,
  { sampling, harness, seats }: RunOptions,
): ManifestRecord['seats'] {
  return Object.fromEntries(
    Object.entries(policies).map(([seat, policy]) => {
      const { endpoint, server } = modelOf(seats[seat]) ?? {}
      const player = seats[seat]
      const digest = player !== undefined && 'agent' in player ? agentDigest(player) : undefined
      return [
        seat,
        {
          policy: policyName(policy),
          harness: harnessName(player, seat === 'agent' ? harness : undefined),
          ...(endpoint === undefined ? {} : { endpoint }),
          ...(server === undefined ? {} : { server }),
          ...(digest === undefined ? {} : { agentDigest: digest }),
          ...(policy.kind === 'model' && sampling !== undefined ? { sampling: { ...sampling } } : {}),
        },
      ]
    }),
  )
}

/** What a run's harness that we choose ourselves is called before it is chosen. */
const ownHarness = 'auto'

function harnessName(player: Player | undefined, harness: RunOptions['harness']): string {
  if (player !== undefined && 'agent' in player) return harnessOf(player).name
  return harness?.name ?? ownHarness
}

/** A path is kept relative to the run, so that no machine's folders are in a record. */
function storedReference({ environment, location }: OpenedRun, cwd: string | undefined, dir: string): string {
  if (location?.isPath !== true) return environment.reference
  const path = relative(dir, resolve(cwd ?? '.', location.reference))
  // What begins with a dot is a path to whoever reads it again.
  return path.startsWith('.') ? path : `./${path}`
}

/** The options of a run from its manifest. Throws `policy_unknown` for a player and `environment_not_found` for an environment that only the caller has. */
export function runOptionsOf(manifest: ManifestRecord, options: ResumeOptions, dir: string): RunOptions {
  const { environment, seats } = manifest
  refuseServed(seats)
  const players: Record<Seat, Player> = {}
  for (const [seat, ordered] of Object.entries(seats)) {
    const player = playerAgain(seat, ordered, options)
    if (player !== undefined) players[seat] = player
  }
  const isPath = environment.reference.startsWith('.')
  if (environment.reference === 'inline' && options.env === undefined) {
    throw new QuintainError(
      'environment_not_found',
      'This run was made from code with an environment object; resume it from code, with resume(dir, { env }).',
    )
  }
  if (isPath && options.env === undefined && !existsSync(resolve(dir, environment.reference))) {
    throw new QuintainError(
      'environment_not_found',
      `The environment of this run is looked for at ${environment.reference}, from its folder, and is not there. Move the folder back to where it was made, or the environment; the records are read wherever they are.`,
      { facts: { reference: environment.reference } },
    )
  }
  return {
    env: options.env ?? (isPath ? resolve(dir, environment.reference) : environment.reference),
    seats: players,
    judges: judgesAgain(manifest.judges, options),
    options: environment.options,
    ...(manifest.limitsGiven === undefined ? {} : { limits: manifest.limitsGiven as Limits }),
    ...(seats['agent']?.sampling === undefined ? {} : { sampling: seats['agent'].sampling as Sampling }),
    seed: manifest.seed,
    escalate: manifest.escalate ?? false,
    ...(environment.reference === 'inline' || manifest.isolation === 'worker'
      ? {}
      : { isolation: 'inline' as const }),
    ...sandboxFor(manifest, options),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.openRecordings === undefined ? {} : { openRecordings: options.openRecordings }),
    ...(options.openGateway === undefined ? {} : { openGateway: options.openGateway }),
  }
}

/** Throws `usage` for a run that clients played over a door: their sessions are gone. */
export function refuseServed(seats: ManifestRecord['seats']): void {
  if (seats['agent']?.harness !== doorHarness) return
  throw new QuintainError(
    'usage',
    'This run was served: clients played its agent, and nothing can go on with their sessions. Serve the environment again into another folder.',
  )
}

/** Who goes on with a seat; undefined for the environment's own script. Throws `policy_unknown` and `run_mismatch`. */
function playerAgain(
  seat: Seat,
  { policy, harness, agentDigest: before }: ManifestRecord['seats'][string],
  { players, force }: ResumeOptions,
): Player | undefined {
  const given = players?.[seat]
  const again = (what: string) =>
    new QuintainError(
      'policy_unknown',
      `The run's ${seat} is ${what}, which must be given again to resume it (a model's key and an agent's code are not in the records).`,
      { facts: { seat, policy, harness } },
    )
  const isScript = policy.startsWith('script:') || policy.startsWith('recorded:')
  if (given !== undefined && 'agent' in given) {
    const { name } = harnessOf(given)
    const digest = agentDigest(given)
    const known = before !== undefined && digest !== undefined
    // The same code is the same agent, whatever else was played beside it when it was named.
    if (known && before !== digest && name === harness && force !== true) {
      throw new QuintainError(
        'run_mismatch',
        `The run's ${seat} is ${harness}, and the agent that was given has that name but is not what it was: its code or its command line is another. Give the same again, or mix the two with --force (\`force: true\`).`,
        { facts: { seat, harness, before, now: digest } },
      )
    }
    if (name !== harness && !(known && before === digest) && force !== true) {
      throw new QuintainError(
        'run_mismatch',
        `The run's ${seat} is ${harness === ownHarness ? policy : harness}, and the agent that was given is ${name}. Give the same again, or mix the two with --force.`,
        { facts: { seat, before: harness, now: name } },
      )
    }
    if (given.behind !== undefined || policy.startsWith('agent:')) return given
    if (!isScript) throw again(`${harness} with ${policy}`)
    return { ...given, behind: { policy } }
  }
  if (harness !== ownHarness && force !== true)
    throw again(`${harness}${policy.startsWith('agent:') ? '' : ` with ${policy}`}`)
  if (given !== undefined) return given
  if (policy === 'script:play') return undefined
  if (isScript) return { policy }
  throw again(policy)
}

/** The driver that a run began with, unless another is named: what is graded elsewhere may be another measurement. */
function sandboxFor(
  { sandbox: before }: ManifestRecord,
  { sandbox: given, force, openSandbox }: ResumeOptions,
): Pick<RunOptions, 'sandbox' | 'openSandbox'> {
  const name = typeof given === 'object' ? given.name : given
  if (name !== undefined && before !== undefined && name !== before.driver && force !== true) {
    throw new QuintainError(
      'run_mismatch',
      `This run began with boxes of ${before.driver}, and ${name} was named. Leave it out, or mix the two with --force.`,
      { facts: { before: before.driver, now: name } },
    )
  }
  const sandbox = given ?? before?.driver
  return {
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(openSandbox === undefined ? {} : { openSandbox }),
  }
}

/** File of a run that holds the digest of each of the environment's files, to say later what has changed. */
const filesRecord = join('private', 'environment.json')

/** Writes down of what files the environment was made. */
export async function recordFiles(dir: string, { files, environment }: OpenedRun): Promise<void> {
  await writeFile(
    join(dir, filesRecord),
    `${JSON.stringify({ digest: environment.digest, files }, null, 2)}\n`,
  )
}

const shownChanges = 5

/** Orders of one environment are not finished by another: throws `run_mismatch`, which says what has changed. */
export async function checkSame(
  dir: string,
  manifest: ManifestRecord,
  opened: OpenedRun,
  force: boolean,
): Promise<void> {
  const ordered = manifest.environment.digest
  const now = opened.environment.digest
  if (force || ordered === now) return
  const before = await readFile(join(dir, filesRecord), 'utf8')
    .then((text) => (JSON.parse(text) as { files: Record<string, string> }).files)
    .catch(() => undefined)
  const changes = before === undefined ? [] : changedFiles(before, opened.files)
  const shown = changes.slice(0, shownChanges).join(', ')
  const more = changes.length > shownChanges ? ` and ${changes.length - shownChanges} more` : ''
  const what =
    changes.length > 0 ? `${shown}${more}` : `digest ${ordered.slice(0, 12)} then, ${now.slice(0, 12)} now`
  throw new QuintainError(
    'run_mismatch',
    `${manifest.environment.name} has changed since this run was ordered: ${what}. Start a new run, or resume with --force to mix the two.`,
    { facts: { ordered, now, changes } },
  )
}
