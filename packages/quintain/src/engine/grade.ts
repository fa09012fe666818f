import {
  type AskJudge,
  type ComponentRecord,
  checkReward,
  type ErasedDefinition,
  type Fault,
  QuintainError,
  type ResolvedLimits,
  type RewardContext,
  type Seat,
  type VerdictSummary,
} from '../core/index.ts'
import { now } from '../core/own-time.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import type { Hold } from './attempt-boxes.ts'
import { kindOf } from './given.ts'
import type { JudgeDesk } from './judge-desk.ts'
import { LateSignal } from './late-signal.ts'
import { type Activity, StepFailure, step } from './step.ts'

export interface Grading {
  components: Record<string, ComponentRecord>
  summary: VerdictSummary
  /** What graders said that may quote gold; for the private records. */
  evidence: Record<string, unknown>
}

export interface GradeOptions {
  definition: ErasedDefinition
  context: Omit<RewardContext<unknown, unknown, unknown, unknown>, 'signal' | 'judge'>
  /** Asks the environment's judges, where it has some. */
  judges: JudgeDesk | undefined
  limits: ResolvedLimits
  seq: number
  activity: Activity
  /** Time in which the grading waits for room, which is not its own. */
  hold?: Hold | undefined
  redact(text: string): string
}

const noJudge: AskJudge = async (judge) => {
  throw new QuintainError(
    'usage',
    `This environment names no judges; name ${JSON.stringify(judge)} in "judges" of its definition.`,
  )
}

/**
 * Runs metrics, then rewards, then `success`, within one budget of their own. A grader that throws, hangs or gives
 * something that is no number makes the whole grading a `StepFailure` that names it; nothing is scored zero for it.
 */
export async function grade(options: GradeOptions): Promise<Grading> {
  const { definition, limits } = options
  const { hold } = options
  const end = now() + limits.gradeMs! - (hold?.waitedMs() ?? 0)
  const over = new LateSignal()
  const context = {
    ...options.context,
    judge: options.judges?.forGraders(() => over.signal) ?? noJudge,
    get signal() {
      return over.signal
    },
  }
  const components: Record<string, ComponentRecord> = {}
  const evidence: Record<string, unknown> = {}
  const metrics: Record<string, number | null> = {}
  const rewards: Record<string, number | null> = {}
  let unscored: { component: string; reason: string } | undefined

  const run = <T>(what: string, code: () => T | Promise<T>) =>
    step(
      {
        owner: 'grader',
        stage: 'grade',
        what,
        ms: Math.max(1, end + (hold?.waitedMs() ?? 0) - now()),
        hold,
        seq: options.seq,
        activity: options.activity,
        redact: options.redact,
      },
      code,
    )

  try {
    for (const [name, metric] of Object.entries(definition.metrics ?? {})) {
      const value: unknown = await run(`metric "${name}"`, () => metric(context))
      if (value !== null && typeof value !== 'number') {
        throw notANumber(`metric "${name}"`, 'reward_not_a_number', kindOf(value))
      }
      if (value !== null && !Number.isFinite(value)) {
        throw notANumber(`metric "${name}"`, 'reward_not_finite', String(value))
      }
      metrics[name] = value
      components[name] = { kind: 'metric', value, weight: 0 }
    }
    for (const [name, reward] of Object.entries(definition.rewards)) {
      const weight = typeof reward === 'function' ? 1 : reward.weight
      const seat = typeof reward === 'function' || reward.seat === 'agent' ? undefined : reward.seat
      const started = now()
      const returned = await run(`reward "${name}"`, () =>
        typeof reward === 'function' ? reward(context) : reward.reward(context),
      )
      const checked = checkReward(returned)
      if (!checked.ok)
        throw notANumber(`reward "${name}"`, checked.code, checked.detail, explanationOf(returned))
      const reason =
        checked.reason === undefined ? undefined : options.redact(String(checked.reason)).slice(0, 200)
      rewards[name] = checked.value
      components[name] = {
        kind: 'reward',
        value: checked.value,
        weight,
        ...(seat === undefined ? {} : { seat }),
        ...(checked.steps === undefined ? {} : { steps: checked.steps }),
        ...(reason === undefined ? {} : { reason }),
        ...(checked.checks === undefined ? {} : { checks: checked.checks }),
        ms: Math.round((now() - started) * 1000) / 1000,
      }
      if (checked.explain !== undefined) evidence[name] = checked.explain
      if (checked.value === null && weight !== 0 && seat === undefined)
        unscored ??= { component: name, reason: reason ?? 'unscored' }
    }
    const totals = { agent: totalReward(components), ...seatRewards(components).seats }
    for (const [seat, total] of Object.entries(totals)) {
      if (total === null || Number.isFinite(total)) continue
      throw graderFault(
        'reward_not_finite',
        `the weighted sum of the rewards of seat "${seat}" is not finite`,
      )
    }
    const pending = Object.keys(definition.groupRewards ?? {}).length > 0
    const success = await successOf(options, rewards, metrics, run)
    return {
      components,
      evidence,
      summary: {
        reward: unscored === undefined && !pending ? totals.agent : null,
        success,
        rewards,
        metrics,
        ...seatRewards(components),
        ...(unscored === undefined ? {} : { unscored }),
        ...(pending && unscored === undefined ? { pending: 'group' as const } : {}),
      },
    }
  } catch (thrown) {
    if (thrown instanceof StepFailure) throw thrown
    throw graderFault(
      'threw',
      `what a grader gave could not be read: ${redactedMessage(options.redact, thrown)}`,
    )
  } finally {
    over.end()
  }
}

/** The weighted sum of a seat's reward components; null when a weighted one is null. */
export function totalReward(
  components: Readonly<Record<string, ComponentRecord>>,
  seat: Seat = 'agent',
): number | null {
  let total = 0
  for (const component of Object.values(components)) {
    if (component.kind === 'metric' || component.weight === 0 || (component.seat ?? 'agent') !== seat)
      continue
    if (component.value === null) return null
    total += component.weight * component.value
  }
  return total
}

/** Totals of the seats beside the agent's that have rewards of their own. */
function seatRewards(components: Readonly<Record<string, ComponentRecord>>): Pick<VerdictSummary, 'seats'> {
  const seats = new Set(Object.values(components).flatMap(({ seat }) => seat ?? []))
  if (seats.size === 0) return {}
  return { seats: Object.fromEntries([...seats].map((seat) => [seat, totalReward(components, seat)])) }
}

async function successOf(
  options: GradeOptions,
  rewards: Record<string, number | null>,
  metrics: Record<string, number | null>,
  run: <T>(what: string, code: () => T | Promise<T>) => T | Promise<T>,
): Promise<boolean | null> {
  const { success } = options.definition
  if (success === undefined || Object.values(rewards).includes(null)) return null
  const answer: unknown = await run('success()', () =>
    success({ rewards: rewards as Record<string, number>, metrics, state: options.context.state }),
  )
  if (typeof answer !== 'boolean') {
    throw graderFault('success_not_a_boolean', `success() gave ${kindOf(answer)}; it says true or false`)
  }
  return answer
}

/** `detail` says what kind of thing was given and never the thing, which may quote the secret. */
function notANumber(what: string, code: string, detail: string, privateText = ''): StepFailure {
  const hint =
    code === 'checks_missing'
      ? 'a pass needs all of them, so there is no score'
      : 'a reward is a finite number, numbers per step, or unscored(reason)'
  return graderFault(code, `${what} gave ${detail}; ${hint}`, privateText)
}

/** What a grader says of its own value, for whoever looks for why it is none. */
function explanationOf(returned: unknown): string {
  try {
    return JSON.stringify((returned as { explain?: unknown } | null)?.explain) ?? ''
  } catch {
    return ''
  }
}

function graderFault(code: string, message: string, privateText = ''): StepFailure {
  const fault: Fault = { owner: 'grader', stage: 'grade', code, message, retryable: false }
  return new StepFailure(fault, privateText)
}
