import { environment, type RewardContext, type Script, type Transcript } from 'quintain'
import { z } from 'zod'
import { type ProblemData, permissionsFor, problems } from './problems.ts'
import { profiles, type Ruling } from './profiles.ts'
import { noRecordings, type RecordedModel, recordedModels, recordedSolution } from './recorded.ts'

export { type Answered, type Profile, profiles, type Ruling } from './profiles.ts'
export { type RecordedModel, recordedModels } from './recorded.ts'

const options = z.object({
  /** Which scorer pays. The others are metrics beside it. */
  profile: z.enum(['robust', 'official', 'verifiers']).default('robust'),
  /** `test.jsonl`, the folder that holds it, or its URL. The sample of this package when absent. */
  data: z.string().min(1).optional(),
  /** `example_model_solutions.jsonl`, for the policies that replay it. */
  recordings: z.string().min(1).optional(),
  /** Replay the recordings with their marker `A: ` as it was released, instead of `#### `. */
  asReleased: z.boolean().default(false),
})
type Options = z.infer<typeof options>
type Context = RewardContext<Options, ProblemData, { answer: string }, unknown>

const system =
  'Solve the problem. Think step by step, and write the final answer, a single number, on the last line behind "#### ", ' +
  'as in "#### 42".'

type Rulings = Record<keyof typeof profiles, Ruling>

/** A reward and six metrics ask for the same three rulings. */
const known = new WeakMap<Transcript, Rulings>()

function rulingsOf({ task, transcript }: Context): Rulings {
  let rulings = known.get(transcript)
  if (rulings === undefined) {
    const { outcome, answer } = transcript
    const truncated = outcome === 'truncated' || outcome === 'token_limit' || outcome === 'context_overflow'
    const answered = { said: answer, gold: task.secret.answer, truncated }
    rulings = {
      robust: profiles.robust(answered),
      official: profiles.official(answered),
      verifiers: profiles.verifiers(answered),
    }
    known.set(transcript, rulings)
  }
  return rulings
}

const metric = (name: keyof typeof profiles) => (context: Context) => Number(rulingsOf(context)[name].correct)

const replay = (model: RecordedModel) =>
  function* ({
    task,
    options: { recordings, asReleased },
  }: {
    task: { prompt?: unknown }
    options: Options
  }): Script {
    yield recordedSolution({ recordings, asReleased, model, question: task.prompt })
  }

export default environment({
  options,
  system,
  tasks: ({ options: { data } }) => problems(data),
  needs: [],
  permissions: ({ options: { data, recordings } }) => permissionsFor([data, recordings]),

  rewards: {
    correct: (context) => {
      const { profile } = context.options
      const { correct, extracted, reason } = rulingsOf(context)[profile]
      return {
        value: Number(correct),
        explain: { profile, extracted, ...(reason === undefined ? {} : { reason }) },
      }
    },
  },
  metrics: {
    robust: metric('robust'),
    official: metric('official'),
    verifiers: metric('verifiers'),
    /** 1 where the profiles do not agree. */
    disagree: (context) => {
      const all = Object.values(rulingsOf(context)).map(({ correct }) => correct)
      return Number(new Set(all).size > 1)
    },
    /** 1 where an answer was found at all. */
    extracted: (context) => Number(rulingsOf(context).robust.extracted !== null),
  },
  success: ({ rewards }) => rewards.correct === 1,

  *oracle({ task }) {
    yield `#### ${task.secret.answer}`
  },
  policies: Object.fromEntries(
    (Object.keys(recordedModels) as RecordedModel[]).map((model) => [model, replay(model)]),
  ),
  unplayable: ({ options: { recordings } }) =>
    recordings === undefined
      ? Object.fromEntries(Object.keys(recordedModels).map((model) => [model, noRecordings]))
      : {},
  floor: ['noop'],
  notes: ({ options: { data } }) =>
    data === undefined
      ? [
          'no data was given, so these are the few problems of this package and no measure of a model; --option data=PATH',
        ]
      : [],
})
