import { type OutputFormat, type RewardFunction, unscored } from 'quintain'
import { matchJsonSchema, sampleOf } from 'quintain/scoring'

type Entry<Data, Secret> = { weight: number; reward: RewardFunction<unknown, Data, Secret, unknown> }

/** An answer that is not of the form that was asked for scores 0, whatever its grader would say: the hosted `sample_parse_error`. */
export function asAsked<Data, Secret>(
  output: OutputFormat,
  rewards: Record<string, Entry<Data, Secret>>,
): Record<string, Entry<Data, Secret>> {
  const entries = Object.entries(rewards).map(([name, { weight, reward }]): [string, Entry<Data, Secret>] => [
    name,
    {
      weight,
      reward: (context) => {
        const { fits } = formOf(output, sampleOf(context.transcript).output_text)
        if (fits === null) return unscored('form_undecided')
        return fits ? reward(context) : { value: 0, explain: { error: 'sample_parse_error' } }
      },
    },
  ])
  return Object.fromEntries(entries)
}

function formOf(output: OutputFormat, text: string) {
  return matchJsonSchema(output.type === 'json' ? { type: ['object', 'array'] } : output.schema, { text })
}
