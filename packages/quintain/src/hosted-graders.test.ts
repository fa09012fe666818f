import { expect, test } from 'vitest'
import { environment } from './core/index.ts'
import { filesOf, modelThat, recorded } from './engine/__fixtures__/recorded.ts'
import { graderRewards, modelsOf, readGrader } from './scoring/index.ts'

const gold = 'Ouagadougou-the-gold'
const parts = {
  acc: {
    ...{ type: 'string_check', name: 'acc', operation: 'like' },
    ...{ input: '{{sample.output_text}}', reference: '{{item.answer}}' },
  },
  judge: {
    ...{ type: 'score_model', name: 'judge', model: 'gpt-4o' },
    input: [{ role: 'user', content: 'Is {{sample.output_text}} {{item.answer}}?' }],
  },
}
const multi = { type: 'multi', name: 'm', graders: parts, calculate_output: '(acc + judge) / 2' }

function hosted(json: unknown) {
  const { grader } = readGrader(json)
  return environment({
    tasks: [{ id: 'capital', prompt: 'Capital of Burkina Faso?', secret: { item: { answer: gold } } }],
    judges: modelsOf(grader),
    rewards: graderRewards<unknown, { item: { answer: string } }>(grader, {
      item: ({ secret }) => secret.item,
    }),
  })
}

const asks = (json: unknown) => modelsOf(readGrader(json).grader).length > 0

/** A run whose judge says this, and how often it was asked. */
async function judged(json: unknown, said: string, answer = gold) {
  let asked = 0
  const judge = modelThat(() => {
    asked++
    return { message: { role: 'assistant', content: said } }
  })
  const run = await recorded(
    hosted(json),
    { agent: () => answer },
    asks(json) ? { judges: { '*': judge } } : {},
  )
  return { run, asked }
}

test('the score of a hosted grader is the reward, and its parts stand beside it, asked once', async () => {
  const { run, asked } = await judged(multi, '{"steps": [], "result": 0.5}')
  expect(run.only.verdict?.reward).toBe(0.75)
  expect(asked).toBe(1)
  expect(run.only.verdict?.rewards).toEqual({ grader: 0.75, acc: 1, judge: 0.5 })
})

test('a judge that says no score is a fault of the judge, and neither it nor anything public quotes gold', async () => {
  const { run } = await judged(multi, `It is not ${gold}.`, 'Bamako')
  expect(run.only.verdict?.reward).toBeUndefined()
  expect(run.only.fault).toMatchObject({ owner: 'judge', code: 'model_grader_parse_error' })
  for (const text of (await filesOf(run.dir, 'publishable')).values()) expect(text).not.toContain(gold)
})

test('an answer that is not what was asked is the agent’s failure: 0, with why in private', async () => {
  const { run } = await judged({ ...parts.acc, input: '{{sample.output_json.city}}' }, '', 'no JSON')
  expect(run.only.verdict?.reward).toBe(0)
  expect((await run.hidden())?.evidence).toMatchObject({ grader: { error: { code: 'sample_parse_error' } } })
})

test('a grader that is wrong is a fault of the grader', async () => {
  const { run } = await judged({ ...parts.acc, reference: '{{item.gone}}' }, '')
  expect(run.only.fault).toMatchObject({ owner: 'grader', code: 'invalid_variable_error' })
})

test('why a grader gave no score is in the private record, and in nothing public', async () => {
  const { run } = await judged({ ...parts.acc, reference: '{{item.gone}}' }, '')
  expect((await run.hidden())?.errors?.[0]?.text).toContain('item.gone')
  for (const text of (await filesOf(run.dir, 'publishable')).values()) expect(text).not.toContain('item.gone')
})
