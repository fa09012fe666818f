import { canonicalJson, type ManifestRecord } from '../core/index.ts'
import { printableLine } from './printable.ts'

/**
 * What a difference between two plans does to a comparison.
 *
 * `refuse`: the runs measure different things, and nothing is compared unless that is asked for by name.
 * `label`: they measure the same thing, but something beside the player differs, and every output says so.
 * `note`: who plays, or what cannot move a score; shown in the list of differences.
 */
export type PlanSeverity = 'refuse' | 'label' | 'note'

/** Something that not all runs of a comparison have alike. */
export interface PlanDifference {
  field: string
  severity: PlanSeverity
  /** The value of each run, in their order, as JSON or short text. */
  values: string[]
  /** Whether it differs is not known, and nobody can tell. */
  unknown?: boolean
}

/** Of a run what its plan says. */
export interface PlanSide {
  manifest: ManifestRecord
  split: string | undefined
  orders: number
  tasks: number
}

type Field = readonly [name: string, severity: PlanSeverity, value: (side: PlanSide) => unknown]

/** The agent's own seat is what is compared; any other seat is a part of the measurement. */
const agentSeat = 'agent'

const fields: readonly Field[] = [
  ['environment', 'refuse', ({ manifest }) => manifest.environment.name],
  ['contract', 'refuse', ({ manifest }) => manifest.environment.contract],
  ['version', 'refuse', ({ manifest }) => manifest.environment.version],
  ['digest', 'refuse', ({ manifest }) => manifest.environment.digest.slice(0, 12)],
  ['options', 'refuse', ({ manifest }) => manifest.environment.options],
  ['rubric', 'refuse', ({ manifest }) => manifest.rubric.slice(0, 40)],
  ['rewards', 'refuse', ({ manifest }) => manifest.environment.rewards],
  ['success declared', 'refuse', ({ manifest }) => manifest.environment.success],
  ['limits', 'refuse', ({ manifest }) => manifest.limits],
  ['escalate', 'refuse', ({ manifest }) => manifest.escalate ?? false],
  ['policy', 'note', ({ manifest }) => manifest.seats[agentSeat]?.policy],
  ['agent', 'note', ({ manifest }) => agentOf(manifest)],
  ['harness', 'label', ({ manifest }) => harnessOf(manifest)],
  ['endpoint', 'label', ({ manifest }) => manifest.seats[agentSeat]?.endpoint],
  ['seed', 'label', ({ manifest }) => manifest.seed],
  ['split', 'label', ({ split }) => split],
  ['tasks', 'note', ({ tasks }) => tasks],
  ['orders', 'note', ({ orders }) => orders],
  ['quintain', 'label', ({ manifest }) => manifest.quintain],
  ['node', 'note', ({ manifest }) => manifest.node],
  ['isolation', 'note', ({ manifest }) => manifest.isolation],
  ['boxes', 'label', ({ manifest }) => manifest.sandbox?.driver],
  ['max tries', 'note', ({ manifest }) => manifest.maxTries],
  ['cost cap', 'note', ({ manifest }) => manifest.maxCostUsd],
]

/** Harnesses that are somebody's agent, and so a part of who plays. */
const agents = /^(?:agent|command|remote):|@function$/

/** An agent of the user's is its own harness, so that another one is another player and no other harness. */
function harnessOf({ seats }: ManifestRecord): string | undefined {
  const harness = seats[agentSeat]?.harness
  return harness !== undefined && agents.test(harness) ? 'an agent' : harness
}

/** The agent that stands before the policy; without a model of the run, the policy is called after it. */
function agentOf({ seats }: ManifestRecord): string | undefined {
  const { policy = '', harness = '' } = seats[agentSeat] ?? {}
  return agents.test(harness) && !policy.startsWith('agent:') ? harness : undefined
}

function textOf(value: unknown): string {
  const text = value === undefined ? 'none' : typeof value === 'string' ? value : canonicalJson(value)
  return printableLine(text, 80)
}

/** Names of other seats than the agent's in any of the runs. */
function otherSeats(sides: readonly PlanSide[]): string[] {
  const seats = new Set(sides.flatMap(({ manifest }) => Object.keys(manifest.seats)))
  return [...seats].filter((seat) => seat !== agentSeat).sort()
}

/** Settings of sampling that any of the runs has, each a field of its own: one that differs is not lost in a long list of all. */
function settings(sides: readonly PlanSide[]): Field[] {
  const samplings = sides.map(({ manifest }) => manifest.seats[agentSeat]?.sampling ?? {})
  const names = [...new Set(samplings.flatMap((sampling) => Object.keys(sampling)))].sort()
  return names.map(
    (name): Field => [
      `sampling ${name}`,
      'label',
      ({ manifest }) => (manifest.seats[agentSeat]?.sampling as Record<string, unknown> | undefined)?.[name],
    ],
  )
}

/**
 * The difference of the plans of two or more runs, field by field; a field in which all agree is left out. The worst
 * comes first.
 */
export function planDiff(sides: readonly PlanSide[]): PlanDifference[] {
  const seats: Field[] = otherSeats(sides).map((seat) => [
    `seat ${printableLine(seat, 40)}`,
    'refuse',
    ({ manifest }) => manifest.seats[seat],
  ])
  const found: PlanDifference[] = []
  for (const [field, severity, value] of [...fields, ...settings(sides), ...seats]) {
    const values = sides.map((side) => value(side))
    if (new Set(values.map((one) => canonicalJson(one ?? null))).size < 2) continue
    // Another model is served elsewhere as a rule; the same one from elsewhere may be another model.
    const expected = field === 'endpoint' && !samePolicies(sides)
    found.push({ field, severity: expected ? 'note' : severity, values: values.map(textOf) })
  }
  const weight = { refuse: 0, label: 1, note: 2 }
  return found.sort((a, b) => weight[a.severity] - weight[b.severity])
}

function samePolicies(sides: readonly PlanSide[]): boolean {
  return new Set(sides.map(({ manifest }) => manifest.seats[agentSeat]?.policy)).size === 1
}
