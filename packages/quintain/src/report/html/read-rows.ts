import {
  type AttemptRecord,
  addCost,
  type Folded,
  foldRun,
  type OrderState,
  type RunFold,
} from '../../core/index.ts'
import { type PageIndex, type RowKind, rowKinds } from './page-data.ts'

/** What the page keeps of an attempt while it is made: its line, and where its trajectory lies. */
export interface PageAttempt
  extends Folded,
    Pick<AttemptRecord, 'id' | 'start' | 'timing' | 'counts' | 'usage' | 'costUsd' | 'parts'> {
  stop?: string
}

/** The run as the page needs it: one line an order, no trajectory. Throws what `foldRun` throws. */
export function readRows(dir: string): Promise<RunFold<PageAttempt>> {
  return foldRun<PageAttempt>(dir, (attempt) => {
    const { id, start, outcome, stop, fault, verdict, timing, counts, usage, costUsd, parts } = attempt
    return {
      id,
      start,
      outcome,
      ...(stop === undefined ? {} : { stop }),
      fault,
      verdict,
      timing,
      counts,
      usage,
      costUsd,
      parts,
    }
  })
}

export function kindOf({ status, chosen }: OrderState<Folded>): RowKind {
  if (status !== 'scored') return status
  const success = chosen?.verdict?.success ?? null
  return success === null ? 'scored' : success ? 'success' : 'failure'
}

/** An outcome's name, or whose fault it was and which. */
export function endingOf({ status, chosen }: OrderState<Folded>): string | undefined {
  if (chosen?.fault && status !== 'scored') return `${chosen.fault.owner}: ${chosen.fault.code}`
  return chosen?.outcome ?? undefined
}

/** US dollars of all ledgers of an attempt; null when any of them is unknown. */
export function dollarsOf({ costUsd }: Pick<AttemptRecord, 'costUsd'>): number | null {
  let sum: number | null = 0
  for (const usd of Object.values(costUsd)) if (usd !== undefined) sum = addCost(sum, usd)
  return sum
}

class Names {
  readonly list: string[] = []
  private readonly places = new Map<string, number>()

  placeOf(name: string): number {
    let place = this.places.get(name)
    if (place === undefined) {
      place = this.list.length
      this.places.set(name, place)
      this.list.push(name)
    }
    return place
  }
}

const rounded = (value: number, digits: number) => Number(value.toPrecision(digits))

/** Columns for the list, in plan order. `run` is how one names the run on a command line. */
export function indexOf({ states, manifest }: RunFold<PageAttempt>, run: string): PageIndex {
  const tasks = new Names()
  const endings = new Names()
  const rows: PageIndex['rows'] = {
    task: [],
    kind: [],
    ending: [],
    repeat: [],
    reward: [],
    wallMs: [],
    turns: [],
    usd: [],
    tries: [],
  }
  // Whoever imported a run from a file that tells no time has none, and zero would be a claim.
  const timed = states.some(({ chosen }) => (chosen?.timing.wallMs ?? 0) > 0)
  for (const state of states) {
    const { order, chosen, tries } = state
    const ending = endingOf(state)
    const reward = chosen?.verdict?.reward ?? null
    const usd = chosen === undefined ? null : dollarsOf(chosen)
    rows.task.push(tasks.placeOf(order.task))
    rows.kind.push(rowKinds.indexOf(kindOf(state)))
    rows.ending.push(ending === undefined ? -1 : endings.placeOf(ending))
    rows.repeat.push(order.repeat)
    rows.reward.push(reward === null ? null : rounded(reward, 6))
    rows.wallMs.push(chosen === undefined || !timed ? null : rounded(chosen.timing.wallMs, 3))
    rows.turns.push(chosen?.counts.turns ?? null)
    rows.usd.push(usd === null ? null : rounded(usd, 4))
    rows.tries.push(tries)
  }
  return {
    run,
    success: manifest.environment.success,
    weights: Object.fromEntries(
      Object.entries(manifest.environment.rewards).map(([name, { weight }]) => [name, weight]),
    ),
    tasks: tasks.list,
    endings: endings.list,
    rows,
  }
}
