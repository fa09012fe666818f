import { doorHarness, type FloorRecord, playerName, type Usage } from '../core/index.ts'
import type { Estimate } from './estimate.ts'
import { estimateNote, estimateText, estimateValue } from './estimate-text.ts'
import { countText, dollarText, durationText, plural, scoreText, shareText } from './number-text.ts'
import { printableLine } from './printable.ts'
import { plainStyle, type Style } from './style.ts'
import type { FaultCount, Ledger, Percentiles, RunSummary } from './summarize.ts'
import { triesNote, triesText } from './tries.ts'

/** A line of a report: what it is about, what it says, and the small print. Text is already safe to print. */
export interface ReportRow {
  label: string
  value: string
  note?: string
  mood?: 'headline' | 'good' | 'bad' | 'warning'
}

function ledgerText(ledger: Ledger): string {
  if (ledger.usd !== null) return dollarText(ledger.usd)
  const known = ledger.knownUsd > 0 ? `${dollarText(ledger.knownUsd)} known, ` : ''
  return `${known}unknown for ${plural(ledger.unknownAttempts, 'attempt')}`
}

function usageText(usage: Usage): string {
  const reasoning = usage.reasoning === undefined ? '' : ` (${countText(usage.reasoning)} reasoning)`
  const cached = usage.cacheRead === 0 ? '' : ` + ${countText(usage.cacheRead)} cached`
  const written = usage.cacheWrite === 0 ? '' : ` + ${countText(usage.cacheWrite)} written to cache`
  return `${countText(usage.fresh)}${cached}${written} in, ${countText(usage.output)} out${reasoning}`
}

function timesText(times: Percentiles): string {
  return `p50 ${durationText(times.p50)}, p95 ${durationText(times.p95)}, p99 ${durationText(times.p99)}`
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${printableLine(name, 60)} ${countText(count)}`)
    .join(', ')
}

/** Faults by owner, then by code: `provider 3 (rate_limited 2, http_500 1), world 1 (timeout in open 1)`. */
export function faultsText(faults: readonly FaultCount[]): string {
  const owners = new Map<string, FaultCount[]>()
  for (const fault of faults) owners.set(fault.owner, [...(owners.get(fault.owner) ?? []), fault])
  return [...owners]
    .map(([owner, list]) => {
      const total = list.reduce((sum, { count }) => sum + count, 0)
      const codes = list.map(({ code, stage, count }) => `${code} in ${stage} ${countText(count)}`).join(', ')
      return `${owner} ${countText(total)} (${printableLine(codes, 200)})`
    })
    .join('; ')
}

/** `noop 0.000, random 0.050`, and of what: success where the environment says what that is, else the mean reward. */
export function floorText(floor: readonly FloorRecord[], success: boolean): [string, { note: string }] {
  const values = floor.map((one) => {
    const value = success ? one.success : one.reward
    const lost = one.tasks - one.scored
    return `${printableLine(one.policy.replace(/^script:/, ''), 60)} ${value === null ? 'unknown' : scoreText(value)}${lost === 0 ? '' : ` (${countText(lost)} not scored)`}`
  })
  const tasks = Math.max(0, ...floor.map((one) => one.tasks))
  const what = success ? 'success' : 'mean reward'
  return [
    values.join(', '),
    {
      note: `${what} of policies that know nothing of the task, once over ${plural(tasks, 'task')} of these`,
    },
  ]
}

/** Names what ran: environment, policy, tasks. */
export function runTitle(summary: RunSummary): string {
  const { environment, seats } = summary.run
  const { min, max } = summary.repeats
  const repeats = min === max ? `${max}` : `${min} to ${max}`
  const seat = seats['agent'] ?? Object.values(seats)[0]
  const player = seat === undefined ? 'no policy' : playerName(seat)
  return printableLine(
    `${environment.name} ${environment.version} · ${player} · ${plural(summary.tasks.planned, 'task')} x ${repeats} = ${plural(summary.orders, 'order')}`,
    300,
  )
}

function statusText({ status, orders }: RunSummary): string {
  const parts = (['scored', 'unscored', 'faulted', 'cancelled', 'pending'] as const)
    .filter((name) => name === 'scored' || status[name] > 0)
    .map((name) => `${countText(status[name])} ${name}`)
  return `${countText(orders)}: ${parts.join(', ')}`
}

/** Every line of a report, in order; what has nothing to say is left out. */
export function reportRows(summary: RunSummary): ReportRow[] {
  const rows: ReportRow[] = []
  const add = (label: string, value: string, extra: Omit<ReportRow, 'label' | 'value'> = {}) => {
    if (value !== '') rows.push({ label, value, ...extra })
  }
  const { success, reward, again, run } = summary
  const addAgain = (found: Estimate) => {
    if (found.value === null || summary.repeats.max < 2) return
    // Without repeats of every task there is nothing to say; that they agree is something.
    if (found.method === 'none' && found.reason !== 'repeats_agree') return
    add('', estimateValue(found), { note: estimateNote(found) })
  }
  if (run.environment.success) {
    add('success', estimateValue(success), { note: estimateNote(success), mood: 'headline' })
    addAgain(again.success)
    const { tries } = summary
    if (tries !== null) {
      add('pass@k', triesText(tries.passAtK), { note: triesNote(tries, 'any') })
      add('pass^k', triesText(tries.passHatK), { note: triesNote(tries, 'all') })
      add(
        '',
        `${countText(tries.always)} always, ${countText(tries.sometimes)} sometimes, ${countText(tries.never)} never`,
        {
          note: `how often ${plural(tries.tasks, 'task')} succeeded; report --tasks lists them`,
        },
      )
    }
  }
  add('mean reward', estimateValue(reward), { note: estimateNote(reward), mood: 'headline' })
  addAgain(again.reward)
  if (run.floor !== undefined) add('floor', ...floorText(run.floor, run.environment.success))
  add('orders', statusText(summary), {
    note: `coverage ${shareText(summary.coverage)}${summary.minCoverage < 1 ? `, declared minimum ${shareText(summary.minCoverage)}` : ''}`,
    ...(summary.coverage !== null && summary.coverage < 1 ? { mood: 'warning' } : {}),
  })
  add('outcomes', countsText(summary.outcomes))
  for (const [index, { reason, count }] of (summary.agentErrors ?? []).slice(0, 3).entries())
    add(index === 0 ? 'agent errors' : '', `${countText(count)}: ${printableLine(reason, 160)}`, {
      mood: 'warning',
    })
  add('faults', faultsText(summary.faults), { mood: 'bad' })
  for (const fault of summary.faults.slice(0, 3))
    add('', `${fault.owner}: ${printableLine(fault.example, 160)}`)
  add(
    'unscored',
    printableLine(
      summary.unscored
        .map(({ component, reason, count }) => `${component}: ${reason} ${countText(count)}`)
        .join(', '),
      300,
    ),
    { mood: 'warning' },
  )
  if (summary.attempts.retries > 0 || summary.retriedFaults.length > 0) {
    add('retried', plural(summary.attempts.retries, 'attempt'), { note: faultsText(summary.retriedFaults) })
  }
  if (Object.keys(summary.rewards).length > 1) {
    for (const [index, [name, { mean, n, planned, weight, kind }]] of Object.entries(
      summary.rewards,
    ).entries()) {
      add(index === 0 ? 'rewards' : '', `${printableLine(name, 60)} ${scoreText(mean)}`, {
        note: `mean, weight ${weight}${kind === 'group' ? ', of the group' : ''}; n = ${countText(n)} of ${countText(planned)}`,
      })
    }
  }
  for (const [index, [name, { mean, n, planned }]] of Object.entries(summary.metrics).entries()) {
    add(index === 0 ? 'metrics' : '', `${printableLine(name, 60)} ${scoreText(mean)}`, {
      note: `mean; n = ${countText(n)} of ${countText(planned)}`,
    })
  }
  const { time, turns } = summary
  // Whoever imported a run from a file that tells no time has none, and zero would be a claim.
  const timed = (time.rollout.max ?? 0) > 0
  if (timed) {
    add('time', `rollout ${timesText(time.rollout)}`, { note: `ran for ${durationText(summary.activeMs)}` })
    if ((time.model.max ?? 0) >= 0.05) add('', `model ${timesText(time.model)}`)
    if ((time.wait.max ?? 0) >= 0.05) {
      add('', `waiting ${timesText(time.wait)}`, {
        note: 'queue and back-off, not counted against the agent',
      })
    }
    add('', `grading ${timesText(time.grading)}`)
  }
  if (turns.p50 !== null) {
    add(
      'turns',
      `mean ${scoreText(turns.mean, 1)}, p95 ${scoreText(turns.p95, 0)}, max ${scoreText(turns.max, 0)}`,
    )
  }
  if (summary.toolCalls > 0) {
    add('tool calls', countText(summary.toolCalls), {
      note:
        Object.keys(summary.toolErrors).length === 0
          ? 'no errors'
          : `errors: ${countsText(summary.toolErrors)}`,
    })
  }
  if (summary.modelRetries > 0) {
    add('model calls', plural(summary.modelRetries, 'failed try', 'failed tries'))
  }
  add('flags', countsText(summary.flags))
  for (const name of ['agent', 'simulator', 'judge'] as const) {
    const usage = summary.usage[name]
    if (usage !== undefined && usage.fresh + usage.cacheRead + usage.cacheWrite + usage.output > 0) {
      add(`${name} tokens`, usageText(usage))
    }
  }
  const spent = (['agent', 'simulator', 'judge'] as const).flatMap((name) => {
    const ledger = summary.cost[name]
    return ledger === undefined || ledger.usd === 0 ? [] : [`${name} ${ledgerText(ledger)}`]
  })
  add('cost', spent.join(', '), spent.length > 1 ? { note: `total ${ledgerText(summary.cost.total)}` } : {})
  for (const note of run.environment.notes ?? []) add('note', printableLine(note, 400))
  for (const { message } of summary.warnings) add('warning', printableLine(message, 400), { mood: 'warning' })
  return rows
}

/** That a run is not finished and how to go on with it, by the command `resume`; undefined where it is. */
export function unfinishedText(
  summary: RunSummary,
  resume = `npx quintain resume ${printableLine(summary.run.dir)}`,
): string | undefined {
  if (summary.complete) return undefined
  if (summary.run.seats['agent']?.harness === doorHarness)
    return 'Not finished: sessions were open when the server ended. Clients played them, and nothing can go on with them.'
  return `Not finished. Go on with: ${resume}`
}

/** A report for a terminal. `stopped` says why a run was stopped that has just been, `resume` how to go on with it. */
export function formatText(
  summary: RunSummary,
  { style = plainStyle, stopped, resume }: { style?: Style; stopped?: string; resume?: string } = {},
): string {
  const rows = reportRows(summary)
  const width = Math.max(...rows.map(({ label }) => label.length))
  const lines = [style.bold(runTitle(summary)), '']
  for (const { label, value, note, mood } of rows) {
    const shown =
      mood === 'headline'
        ? style.bold(value)
        : mood === 'bad'
          ? style.red(value)
          : mood === 'warning'
            ? style.yellow(value)
            : value
    lines.push(`  ${style.cyan(label.padEnd(width))}  ${shown}${note ? style.dim(` (${note})`) : ''}`)
  }
  const unfinished = unfinishedText(summary, resume)
  if (stopped !== undefined || unfinished !== undefined) lines.push('')
  if (stopped !== undefined) lines.push(`  Stopped: ${printableLine(stopped)}`)
  if (unfinished !== undefined) lines.push(`  ${unfinished}`)
  return `${lines.join('\n')}\n`
}

/** The headline as one sentence: success where the environment declares it, else the reward. */
export function headlineText(summary: RunSummary): string {
  return summary.run.environment.success
    ? estimateText('success', summary.success)
    : estimateText('mean reward', summary.reward)
}
