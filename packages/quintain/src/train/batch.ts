import { createRng, QuintainError } from '../core/index.ts'
import { batchAdvantages } from './advantages.ts'
import type { Datum, LossSpec } from './engine.ts'
import { type GradedGroup, type GradedRollout, isTrained, turnsOf } from './groups.ts'
import type { Algorithm } from './records.ts'
import { overlongPenalty } from './reward-shape.ts'
import { alignedIds, type RowDatum, rowDatum } from './row-datum.ts'
import { addKlPenalty, addTeacher, truncateImportance } from './token-advantages.ts'

/** Where a datum comes from. */
export interface DatumOrigin {
  group: string
  order: string
  /** Of the rows of its attempt. */
  row: number
}

/** What one step of the optimiser is made of. */
export interface Minibatch {
  data: Datum[]
  /** One for each datum. */
  origins: DatumOrigin[]
  /** The sampler's log-probabilities of each datum, which its own are not where importance weights are truncated. */
  sampled: Float32Array[]
  /** Rollouts and tokens that are trained on. */
  rollouts: number
  tokens: number
}

/** Log-probabilities of the targets of `rowsToScore`, in its order, under others than the sampler. */
export interface Scores {
  /** Of the reference of a KL term. */
  reference?: readonly Float32Array[]
  /** Of the teacher of a distillation. */
  teacher?: readonly Float32Array[]
  /** Of the learner before the step, where importance weights are truncated. */
  learner?: readonly Float32Array[]
}

/** Which scores `buildBatch` needs for an algorithm. */
export function scoresWanted({ kl, teacher, truncateImportance: truncated }: Algorithm): (keyof Scores)[] {
  const wanted: (keyof Scores)[] = []
  if (kl !== undefined) wanted.push('reference')
  if (teacher !== undefined) wanted.push('teacher')
  if (truncated !== undefined) wanted.push('learner')
  return wanted
}

/** The sequences whose scores are wanted: each row that is trained on, by groups, members and rows in order. */
export function rowsToScore(
  kept: readonly GradedGroup[],
  algorithm: Algorithm,
): Pick<Datum, 'input' | 'target'>[] {
  return trainedMembers(kept, algorithm).flatMap(({ member }) =>
    member.rows.map(({ ids }) => alignedIds(ids)),
  )
}

/** The loss of an algorithm as an engine takes it: with the KL term where that is in the loss. */
export function lossOf({ loss, kl }: Algorithm): LossSpec {
  if (kl?.where !== 'loss') return { name: loss.name, ...(loss.config && { config: loss.config }) }
  const kl_estimator = { k1: 1, k2: 2, k3: 3 }[kl.estimator]
  return { name: loss.name, config: { ...loss.config, kl_coefficient: kl.coefficient, kl_estimator } }
}

/**
 * Datums from graded groups, in as many minibatches as the algorithm says, an optimiser step each. Advantages are those of
 * all groups together; then the groups are dealt out (in a random order where a seed is given), and each part is normalised
 * by itself. Of a datum:
 *
 * - `weights` is what the loss of a token is multiplied by: 1 / tokens of the part (`token`), 1 / (tokens of its rollout *
 *   rollouts of the part) (`sequence`), 1 / (constantLength * rollouts) (`constant`), 0 where it is not trained on. A rollout
 *   counts once, however many rows it broke into.
 * - `advantages` is that weight times the advantage of the token: of its rollout, plus that of its turn, plus the teacher's,
 *   less the penalty of a KL in the reward, all times the truncated importance weight.
 * - `logprobs` are the sampler's, or the learner's before the step where importance weights are truncated.
 * - `reference` is there for a KL in the loss; `unit` tells rollouts apart.
 *
 * Throws `datum_invalid` where nothing is trained on (`sortGroups` leaves such groups out), and `options_invalid` for scores
 * that the algorithm needs and that are missing or do not fit.
 */
export function buildBatch(
  kept: readonly GradedGroup[],
  algorithm: Algorithm,
  { seed, ...scores }: Scores & { seed?: string } = {},
): Minibatch[] {
  const rollouts = rolloutsOf(kept, algorithm)
  if (rollouts.length === 0) {
    throw new QuintainError(
      'datum_invalid',
      `None of ${kept.length} groups has a rollout to train on. Order others, or see what \`sortGroups\` says of them.`,
      { facts: { groups: kept.map(({ id }) => id) } },
    )
  }
  const rows = rollouts.flatMap((rollout) => rollout.rows)
  const { reference, teacher, learner } = checkedScores(scores, algorithm, rows)
  if (algorithm.teacher !== undefined) {
    for (const [at, row] of rows.entries()) addTeacher(row, teacher![at]!, algorithm.teacher.coefficient)
  }
  if (algorithm.kl?.where === 'reward') addKlPenalty(rows, reference!, algorithm.kl)
  if (algorithm.truncateImportance !== undefined) {
    for (const [at, row] of rows.entries())
      truncateImportance(row, learner![at]!, algorithm.truncateImportance)
  }
  if (algorithm.kl?.where === 'loss') {
    for (const [at, row] of rows.entries()) row.reference = reference![at]!
  }
  const dealt = Map.groupBy(rollouts, ({ group }) => group)
  const groups = [...dealt.keys()]
  const order = seed === undefined ? groups : createRng(seed).shuffle(groups)
  const parts = Math.min(algorithm.minibatches, order.length)
  return Array.from({ length: parts }, (_, part) => {
    const own = order.slice(
      Math.floor((part * order.length) / parts),
      Math.floor(((part + 1) * order.length) / parts),
    )
    return normalised(
      own.flatMap((group) => dealt.get(group)!),
      algorithm,
    )
  })
}

/** A rollout's rows before they are normalised. */
interface Rollout {
  group: GradedGroup
  member: GradedRollout
  rows: (RowDatum & { reference?: Float32Array })[]
  /** Tokens that are trained on. */
  tokens: number
}

function trainedMembers(kept: readonly GradedGroup[], algorithm: Algorithm) {
  return kept.flatMap((group, at) =>
    group.members.flatMap((member, nth) =>
      isTrained(member, algorithm) ? [{ group, at, member, nth }] : [],
    ),
  )
}

function rolloutsOf(kept: readonly GradedGroup[], algorithm: Algorithm): Rollout[] {
  const { advantage, tolerance, teacher, overlong } = algorithm
  const advantages = batchAdvantages(
    kept.map(({ members }) =>
      members.map(({ reward, tokens }) =>
        reward === null || overlong === undefined ? reward : reward + overlongPenalty(tokens, overlong),
      ),
    ),
    { ...advantage, tolerance },
  )
  const turns = kept.map((group) => turnsOf(group, algorithm))
  return trainedMembers(kept, algorithm).map(({ group, at, member, nth }) => {
    const own = teacher?.rewards === false ? 0 : advantages[at]!.advantages[nth]!
    const ofTurns = turns[at]![nth]!
    const calls = member.calls ?? callsOf(member)
    const rows = member.rows.map((row) =>
      rowDatum(row, (call) => own + (call === undefined ? 0 : (ofTurns[calls.indexOf(call)] ?? 0))),
    )
    const tokens = rows.reduce(
      (sum, { weights }) => sum + weights.reduce((all, weight) => all + weight, 0),
      0,
    )
    return { group, member, rows, tokens }
  })
}

/** The calls that sampled a rollout's rows, in order. */
function callsOf({ rows }: GradedRollout): number[] {
  const calls = rows.flatMap(({ spans }) => spans.flatMap(({ call }) => (call === undefined ? [] : [call])))
  return [...new Set(calls)].sort((a, b) => a - b)
}

function normalised(rollouts: readonly Rollout[], { normalise, constantLength }: Algorithm): Minibatch {
  const tokens = rollouts.reduce((sum, rollout) => sum + rollout.tokens, 0)
  const part: Minibatch = { data: [], origins: [], sampled: [], rollouts: rollouts.length, tokens }
  for (const [unit, { group, member, rows, tokens: own }] of rollouts.entries()) {
    const length = { token: tokens / rollouts.length, sequence: own, constant: constantLength ?? Number.NaN }[
      normalise
    ]
    const weight = 1 / (length * rollouts.length)
    if (!(weight > 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new QuintainError(
        'options_invalid',
        `A loss that is divided by a constant needs \`constantLength\`, above 0; it is ${constantLength}. Give the most tokens that a rollout may sample.`,
        { facts: { normalise, constantLength } },
      )
    }
    for (const [at, datum] of rows.entries()) {
      part.data.push({
        ...datum,
        weights: datum.weights.map((one) => one * weight),
        advantages: datum.advantages.map((advantage) => advantage * weight),
        unit,
      })
      part.sampled.push(member.rows[at]!.logprobs.subarray(1))
      part.origins.push({ group: group.id, order: member.order, row: member.rows[at]!.row })
    }
  }
  return part
}

function checkedScores(scores: Scores, algorithm: Algorithm, rows: readonly RowDatum[]): Scores {
  for (const name of scoresWanted(algorithm)) {
    const given = scores[name]
    const fits =
      given?.length === rows.length && given.every((own, at) => own.length === rows[at]!.target.length)
    if (fits) continue
    throw new QuintainError(
      'options_invalid',
      given === undefined
        ? `The algorithm needs the log-probabilities of the ${name}, and none were given. Score \`rowsToScore\` with it.`
        : `The log-probabilities of the ${name} do not fit the rows. Score \`rowsToScore\` of the same groups, in its order.`,
      { facts: { scores: name, rows: rows.length, given: given?.length } },
    )
  }
  return scores
}
