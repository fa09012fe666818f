import { relative, resolve } from 'node:path'
import {
  type Harness,
  type Limits,
  type ManifestRecord,
  QuintainError,
  type RequestRecord,
  resolveLimits,
  type Sampling,
  type Seat,
} from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import { policyName, rubricName } from './host.ts'
import type { OpenedRun } from './open-run.ts'
import type { Player } from './policy.ts'
import type { PolicySpec } from './protocol.ts'
import type { ResumeOptions, RunOptions } from './run-options.ts'

/** What is written down of a new run before anything is ordered. */
export function manifestOf(
  options: RunOptions,
  opened: OpenedRun,
  request: RequestRecord,
  dir: string,
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
    seats: seatsOf(opened.seats, options.sampling, options.harness),
    seed: String(options.seed ?? 0),
    limits: resolveLimits(options.limits),
    ...(options.limits === undefined ? {} : { limitsGiven: options.limits as Record<string, unknown> }),
    ...(options.escalate === true ? { escalate: true } : {}),
    isolation: opened.isolation,
    maxTries: options.maxTries ?? 3,
    request,
  }
}

/** Who plays, for the records. */
export function seatsOf(
  seats: Record<Seat, PolicySpec>,
  sampling: Sampling | undefined,
  harness: Harness | undefined,
): ManifestRecord['seats'] {
  return Object.fromEntries(
    Object.entries(seats).map(([seat, policy]) => [
      seat,
      {
        policy: policyName(policy),
        harness:
          seat === 'agent' && harness !== undefined
            ? harness.name
            : policy.kind === 'agent'
              ? `${policy.id}@function`
              : 'auto',
        ...(policy.kind === 'model' && sampling !== undefined ? { sampling: { ...sampling } } : {}),
      },
    ]),
  )
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
  const players: Record<Seat, Player> = {}
  for (const [seat, { policy }] of Object.entries(seats)) {
    const given = options.players?.[seat]
    if (given !== undefined) players[seat] = given
    else if (policy === 'script:play') continue
    else if (policy.startsWith('script:') || policy.startsWith('recorded:')) players[seat] = { policy }
    else {
      throw new QuintainError(
        'policy_unknown',
        `The run's ${seat} is ${policy}, which must be given again to resume it (a model's key and an agent's code are not in the records).`,
        { facts: { seat, policy } },
      )
    }
  }
  const isPath = environment.reference.startsWith('.')
  if (environment.reference === 'inline' && options.env === undefined) {
    throw new QuintainError(
      'environment_not_found',
      'This run was made from code with an environment object; resume it from code, with resume(dir, { env }).',
    )
  }
  return {
    env: options.env ?? (isPath ? resolve(dir, environment.reference) : environment.reference),
    seats: players,
    options: environment.options,
    ...(manifest.limitsGiven === undefined ? {} : { limits: manifest.limitsGiven as Limits }),
    ...(seats['agent']?.sampling === undefined ? {} : { sampling: seats['agent'].sampling as Sampling }),
    seed: manifest.seed,
    escalate: manifest.escalate ?? false,
    ...(environment.reference === 'inline' || manifest.isolation === 'worker'
      ? {}
      : { isolation: 'inline' as const }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.openRecordings === undefined ? {} : { openRecordings: options.openRecordings }),
  }
}

/** Orders of one environment are not finished by another: throws `run_mismatch`. */
export function checkSame(manifest: ManifestRecord, opened: OpenedRun, force: boolean): void {
  if (force || manifest.environment.digest === opened.environment.digest) return
  throw new QuintainError(
    'run_mismatch',
    `${manifest.environment.name} has changed since this run was ordered (digest ${manifest.environment.digest.slice(0, 12)} then, ${opened.environment.digest.slice(0, 12)} now). Start a new run, or resume with --force to mix the two.`,
    { facts: { ordered: manifest.environment.digest, now: opened.environment.digest } },
  )
}
