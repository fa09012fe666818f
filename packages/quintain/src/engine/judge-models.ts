import { didYouMean, type ManifestRecord, type Model, QuintainError } from '../core/index.ts'
import { anyJudge } from './judge-desk.ts'

type Judges = Readonly<Record<string, Model>>
type JudgeRecords = NonNullable<ManifestRecord['judges']>

/**
 * The model of every judge of an environment. Throws `needs_unmet` for one that has none, and `policy_unknown` for a model
 * that stands for no judge.
 */
export function checkJudges(judges: readonly string[], given: Judges): Map<string, Model> {
  for (const name of Object.keys(given)) {
    if (name === anyJudge ? judges.length > 0 : judges.includes(name)) continue
    const known = judges.length === 0 ? 'It has none.' : `Judges: ${judges.join(', ')}.`
    throw new QuintainError(
      'policy_unknown',
      name === anyJudge
        ? 'A model was named as judge, and this environment asks no judges; leave --judge out.'
        : `The environment asks no judge "${name}"${didYouMean(name, judges)} ${known}`,
      { facts: { judge: name } },
    )
  }
  const models = new Map<string, Model>()
  for (const name of judges) {
    const model = modelOfJudge(name, given)
    if (model !== undefined) models.set(name, model)
  }
  const missing = judges.filter((name) => !models.has(name))
  if (missing.length === 0) return models
  throw new QuintainError(
    'needs_unmet',
    `The graders of this environment ask ${missing.length === 1 ? 'a model' : 'models'}: ${missing.join(', ')}. Say which model that is: --judge ${missing[0]}=MODEL, or --judge MODEL for all (judges: { … } from code).`,
    { facts: { judges: missing } },
  )
}

function modelOfJudge(name: string, given: Judges): Model | undefined {
  return Object.hasOwn(given, name) ? given[name] : given[anyJudge]
}

/** Who judges, for the records. */
export function judgeRecords(judges: readonly string[], given: Judges): JudgeRecords {
  return Object.fromEntries(
    judges.flatMap((name) => {
      const model = modelOfJudge(name, given)
      if (model === undefined) return []
      const { id, endpoint, server } = model
      return [
        [
          name,
          {
            policy: id,
            ...(endpoint === undefined ? {} : { endpoint }),
            ...(server === undefined ? {} : { server }),
          },
        ],
      ]
    }),
  )
}

/**
 * The judges of a run that is taken up. Throws `policy_unknown` for one that was not given again, and `run_mismatch` for
 * another model: scores of two judges are not one measurement.
 */
export function judgesAgain(
  recorded: JudgeRecords = {},
  { judges: given = {}, force }: { judges?: Judges; force?: boolean },
): Record<string, Model> {
  return Object.fromEntries(
    Object.entries(recorded).map(([name, { policy }]) => {
      const model = modelOfJudge(name, given)
      if (model === undefined) {
        throw new QuintainError(
          'policy_unknown',
          `The judge ${name} of this run is ${policy}, which must be given again to resume it (judges: { … } from code).`,
          { facts: { judge: name, policy } },
        )
      }
      if (model.id !== policy && force !== true) {
        throw new QuintainError(
          'run_mismatch',
          `The judge ${name} of this run is ${policy}, and ${model.id} was given: another judge gives other scores. Give the same again, or mix the two with --force.`,
          { facts: { judge: name, before: policy, now: model.id } },
        )
      }
      return [name, model]
    }),
  )
}
