import { HttpProblem } from '../../core/http-port.ts'
import type { Fault } from '../../core/index.ts'
import type { ServedEnvironment, Settled } from '../session/session.ts'
import { isObject, type JsonObject } from './json.ts'

/** Fields of a verify response that no reward or metric may take the place of. */
const taken: ReadonlySet<string> = new Set([
  'failure_kind',
  'failure_reason',
  'instance_config',
  'mask_sample',
  'response',
  'responses_create_params',
  'reward',
  'reward_components',
  'success',
])

/** Why a sample has no reward. */
export interface Masked {
  /** From the vocabulary of `nemo_gym/failure_kinds.py`, or one of our own as `quintain:KIND`. */
  kind: string
  reason: string
  /** Something failed that may not fail again; undefined where nothing failed. */
  retryable?: boolean
}

export type Scored = Extract<Settled, { kind: 'scored' }>

/** Why an episode has no number. */
export function maskOf(settled: Exclude<Settled, Scored>): Masked {
  if (settled.kind === 'unscored') return { kind: 'quintain:unscored', reason: `unscored: ${settled.reason}` }
  const { owner, stage, code, message, retryable } = settled.fault
  return { kind: kindOf(settled.fault), reason: `${owner}, ${stage}, ${code}: ${message}`, retryable }
}

/** The same as a failed request, for clients that know no mask. What may not fail again is 503. */
export function maskedProblem({ kind, reason, retryable }: Masked): HttpProblem {
  const status = retryable === undefined ? 422 : retryable ? 503 : 500
  return new HttpProblem(status, `${kind}: ${reason}`)
}

/** An episode that nobody holds any more: closed, expired, or of a server before this one. */
export const lostSession: Masked = {
  kind: 'session_lost',
  reason: 'The session is not known here: it was closed, has expired, or the server was started anew.',
  retryable: true,
}

function kindOf({ owner, code }: Fault): string {
  switch (owner) {
    case 'judge':
      return code === 'no_verdict' || code.includes('unreadable') ? 'judge_unparseable' : 'judge_failed'
    case 'grader':
      return 'verifier_error'
    case 'sandbox':
    case 'provider':
    case 'gateway':
      return 'provider_unavailable'
    default:
      return `quintain:${owner}_${code.replaceAll('-', '_')}`
  }
}

/**
 * The answer to `POST /verify`: the row as it came, with what it earned. `reward_components` has the same keys for every
 * task, with weights in, so that they add up to the reward; rewards and metrics stand beside it, where aggregation finds
 * them.
 */
export function verifyResponse(row: JsonObject, scored: Scored, environment: ServedEnvironment): JsonObject {
  return {
    ...row,
    reward: scored.reward,
    mask_sample: false,
    failure_kind: null,
    failure_reason: null,
    ...measurements(scored, environment, row),
  }
}

/** What an episode earned besides its reward. */
export function measurements(
  { rewards, metrics, success, outcome, stop }: Scored,
  environment: ServedEnvironment,
  row: JsonObject = {},
): JsonObject {
  const components: Record<string, number> = {}
  for (const [name, weight] of weighted(environment)) components[name] = weight * (rewards[name] ?? 0)
  return {
    reward_components: components,
    ...(success === null ? {} : { success }),
    ...numbers({ ...rewards, ...metrics }, row),
    quintain_outcome: outcome,
    ...(stop === undefined ? {} : { quintain_stop: stop }),
  }
}

/**
 * A sample without a reward. The protocol wants a number all the same: 0.0 stands there, and `mask_sample` says that it is
 * none. What failed goes to the failures' file of NeMo Gym by `_ng_failure_class`, and can be tried again.
 */
export function maskedResponse(
  row: JsonObject,
  { kind, reason, retryable }: Masked,
  environment: ServedEnvironment,
): JsonObject {
  const said = reason.slice(0, 2000)
  const instance = row['instance_config']
  return {
    ...row,
    reward: 0,
    reward_components: Object.fromEntries(weighted(environment).map(([name]) => [name, 0])),
    mask_sample: true,
    failure_kind: kind,
    failure_reason: said,
    // Where trainers of before looked for the mask.
    instance_config: { ...(isObject(instance) ? instance : {}), mask_sample: true },
    ...(retryable === undefined
      ? {}
      : {
          _ng_failure_class: kind,
          _ng_failure_message: said,
          _ng_failure_terminal: !retryable,
          ...(kind.startsWith('judge_') ? { _ng_failure_judge_error: said } : {}),
        }),
  }
}

/** Rewards that count: only these have a number whenever the reward has one. */
function weighted({ rewards }: ServedEnvironment): [string, number][] {
  return Object.entries(rewards).filter(([, weight]) => weight !== 0)
}

function numbers(given: Readonly<Record<string, number | null>>, row: JsonObject): Record<string, number> {
  const out: Record<string, number> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === null) continue
    out[taken.has(name) || name in row || name.startsWith('_') ? `quintain_${name}` : name] = value
  }
  return out
}
