import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { type Grader, readGrader } from '../../scoring/index.ts'
import { toBedrock, toOpenAiGrader, toRunRl } from './index.ts'

const check = (more: Partial<Record<string, unknown>> = {}): Grader =>
  readGrader({
    type: 'string_check',
    name: 'exact',
    input: '{{ sample.output_text }}',
    reference: '{{item.answer}}',
    operation: 'eq',
    ...more,
  }).grader

const pythonSource =
  'def grade(sample, item):\n    """Says "é" and \\\\ too."""\n    return len(sample["output_text"]) / 10\n'
const mixed = readGrader({
  type: 'multi',
  name: 'both',
  graders: {
    acc: {
      type: 'string_check',
      name: 'a',
      input: '{{sample.output_json.city}}',
      reference: '{{ item.city }}',
      operation: 'ilike',
    },
    len: { type: 'python', name: 'p', source: pythonSource },
  },
  calculate_output: '0.75 * acc + min(len, 0.25) ^ 1 - -0',
}).grader

const asked = readGrader({
  type: 'score_model',
  name: 'judge',
  model: 'gpt-4o-2024-08-06',
  input: [{ role: 'user', content: [{ type: 'input_text', text: 'Score {{sample.output_text}}' }] }],
  range: [0, 10],
  sampling_params: { max_completion_tokens: 50, temperature: 0 },
}).grader

test.each([
  ['a check', check()],
  ['several', mixed],
  ['a model', asked],
])("%s goes back into the vendor's JSON, which reads as the same grader", (_what, grader) => {
  expect(readGrader(JSON.parse(JSON.stringify(toOpenAiGrader(grader))))).toEqual({ grader, guesses: [] })
})

const hasPython = spawnSync('python3', ['-c', 'pass']).status === 0
const skip = hasPython ? '' : ' (skipped: no python3 here)'

/** What a Python file says when it is asked. */
function python(code: string, question: string): unknown {
  const program = `${code}\nimport sys\nprint(json.dumps(${question}))`
  return JSON.parse(execFileSync('python3', ['-'], { input: program, encoding: 'utf8' }))
}

test.skipIf(!hasPython)(`a reward file of RunRL gives the reward and its parts${skip}`, () => {
  const { code, requirements } = toRunRl(mixed)
  expect(requirements).toEqual([])
  const answer = `'{"city": "Near PARIS"}'`
  expect(python(code, `reward_fn(${answer}, city="paris")`)).toEqual([1, { acc: 1, len: 2.2 }])
  expect(python(toRunRl(check()).code, 'reward_fn("Zürich", answer="Zürich")')).toBe(1)
  expect(python(toRunRl(check({ operation: 'ne' })).code, 'reward_fn("x", answer="x")')).toBe(0)
})

test.skipIf(!hasPython)(
  `an answer that is not the structured output earns nothing for that part${skip}`,
  () => {
    expect(python(toRunRl(mixed).code, 'reward_fn("no JSON", city="paris")')).toEqual([
      0.25,
      { acc: 0, len: 0.7 },
    ])
  },
)

test.skipIf(!hasPython)(
  `a Lambda handler grades a list of rows, with fields beside or under metadata${skip}`,
  () => {
    const rows = `[
    {"id": "1", "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "4"}], "answer": "4"},
    {"id": "2", "messages": [{"role": "assistant", "content": [{"text": "5"}]}], "metadata": {"answer": "4"}},
  ]`
    expect(python(toBedrock(check()).code, `lambda_handler(${rows}, None)`)).toEqual([
      { id: '1', aggregate_reward_score: 1, metrics_list: [] },
      { id: '2', aggregate_reward_score: 0, metrics_list: [] },
    ])
  },
)

test.skipIf(!hasPython)(`an error is raised and is no zero${skip}`, () => {
  const run = (code: string, question: string) =>
    spawnSync('python3', ['-'], { input: `${code}\n${question}`, encoding: 'utf8' })
  expect(run(toRunRl(check()).code, 'reward_fn("x")').stderr).toContain('{{ item.answer }} is not there')
  const text = readGrader({
    type: 'python',
    name: 'p',
    source: 'def grade(sample, item):\n  return "0.9"',
  }).grader
  expect(run(toRunRl(text).code, 'reward_fn("x")').stderr).toContain('no number')
  const divided = { ...mixed, calculateOutput: 'acc / (len - len)' } as Grader
  expect(run(toRunRl(divided).code, 'reward_fn("{}", city="x")').status).not.toBe(0)
})

test('what a platform cannot express is refused with the reason', () => {
  const refused = (export_: () => unknown) => {
    try {
      export_()
    } catch (error) {
      return (error as Error).message
    }
    return 'written'
  }
  expect(refused(() => toRunRl(asked))).toContain('it asks the model gpt-4o-2024-08-06')
  expect(refused(() => toBedrock(asked))).toContain('Amazon Bedrock')
  expect(refused(() => toRunRl(check({ input: '{{sample.output_tools[0].name}}' })))).toContain(
    'sample.output_tools',
  )
  expect(refused(() => toBedrock(check({ input: '{{sample.output_tools[0].name}}' })))).toBe('written')
  const cosine = readGrader({
    type: 'text_similarity',
    name: 's',
    input: 'a',
    reference: 'b',
    evaluation_metric: 'cosine',
  })
  expect(refused(() => toRunRl(cosine.grader))).toContain('embeddings')
  const reads = readGrader({
    type: 'python',
    name: 'p',
    source: 'def grade(sample, item):\n  return len(sample["choices"])',
  })
  expect(refused(() => toRunRl(reads.grader))).toContain('choices')
})

test.skipIf(!hasPython)(`an answer that nests too deep is no JSON, and no error of the grader${skip}`, () => {
  const { code } = toRunRl(check({ input: '{{sample.output_json.city}}' }))
  expect(python(code, 'reward_fn("[" * 200000, answer="x")')).toBe(0)
})
