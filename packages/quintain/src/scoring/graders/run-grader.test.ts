import { describe, expect, it } from 'vitest'
import { FaultError, type JudgeReply, type JudgeRequest, QuintainError } from '../../core/index.ts'
import type { GraderMeans, GraderPolicy, PythonGrade } from './grader.ts'
import { graderIdentity, modelsOf } from './grader-identity.ts'
import { readGrader } from './read-grader.ts'
import { runGrader } from './run-grader.ts'

const item = { answer: 'Paris' }
const check = {
  ...{ type: 'string_check', name: 'c', operation: 'eq' },
  ...{ input: '{{sample.output_text}}', reference: '{{item.answer}}' },
}
const judge = {
  ...{ type: 'score_model', name: 'j', model: 'gpt-4o', range: [0, 10] },
  input: [
    { role: 'developer', content: 'Grade.' },
    { role: 'user', content: 'Is {{sample.output_text}} the same as {{item.answer}}?' },
  ],
  sampling_params: { temperature: 0, max_completions_tokens: 100 },
}
const labelled = {
  ...judge,
  type: 'label_model',
  range: null,
  labels: ['good', 'bad'],
  passing_labels: ['good'],
}

function run(
  json: unknown,
  output_text = 'Paris',
  more: { means?: GraderMeans; policy?: GraderPolicy } = {},
) {
  return runGrader({ grader: readGrader(json).grader, item, sample: { output_text }, ...more })
}
const saying = (text: string, more: Partial<JudgeReply> = {}): { means: GraderMeans } => ({
  means: { ask: async () => ({ text, finish: 'stop', ...more }) },
})
const python = (grade: Partial<PythonGrade>): GraderMeans => ({
  python: async () =>
    ({ ok: true, value: 0, stdout: '', runtime: null, ms: 1, ...grade }) as unknown as PythonGrade,
})

describe('string_check and text_similarity', () => {
  it.each([
    ['eq', 'Paris', 1],
    ['eq', 'paris', 0],
    ['ne', 'paris', 1],
    ['like', 'In Paris.', 1],
    ['like', 'In paris.', 0],
    ['ilike', 'In PARIS.', 1],
    ['like', 'Par%', 0],
  ])('%s of %j is %d', async (operation, text, score) => {
    expect(await run({ ...check, operation }, text)).toMatchObject({ score, passed: score === 1 })
  })

  it('measures, and says whether the threshold is reached', async () => {
    const similar = {
      ...check,
      type: 'text_similarity',
      evaluation_metric: 'fuzzy_match',
      pass_threshold: 0.9,
    }
    expect(await run(similar)).toMatchObject({ score: 1, passed: true })
    expect(await run(similar, 'Pari')).toMatchObject({ score: 8 / 9, passed: false })
    expect(await run({ ...similar, evaluation_metric: 'cosine' })).toMatchObject({
      score: null,
      error: { code: 'other_error' },
    })
    const embed = async (texts: readonly string[]) => texts.map((text) => [text.length, 1])
    expect(
      (await run({ ...similar, evaluation_metric: 'cosine' }, 'Paris', { means: { embed } })).score,
    ).toBeCloseTo(1)
  })

  it('gives 0 to an answer that is not what was asked, and nothing where the grader is wrong', async () => {
    const json = { ...check, input: '{{sample.output_json.city}}' }
    expect(await run(json, '{"city":"Paris"}')).toMatchObject({ score: 1 })
    expect(await run(json, 'Paris')).toMatchObject({ score: 0, error: { code: 'sample_parse_error' } })
    const wrong = { ...json, reference: '{{item.gone}}' }
    expect(await run(wrong, 'Paris')).toMatchObject({
      score: null,
      error: { code: 'invalid_variable_error' },
    })
  })
})

describe('score_model and label_model', () => {
  it('asks the model that it names, with its sampling, for a result in a form', async () => {
    const asked: [string, JudgeRequest][] = []
    await run(judge, '{{item.answer}}', {
      means: {
        ask: async (name, request) => {
          asked.push([name, request])
          return { text: '7', finish: 'stop' }
        },
      },
    })
    expect(asked).toMatchObject([
      [
        'gpt-4o',
        {
          messages: [
            { role: 'system', content: 'Grade.' },
            { role: 'user', content: 'Is {{item.answer}} the same as Paris?' },
          ],
          sampling: { temperature: 0, maxTokens: 100 },
          output: { strict: true, schema: { properties: { result: { type: 'number' } } } },
        },
      ],
    ])
  })

  it('keeps the raw number and where in its range it is', async () => {
    expect(
      await run(judge, 'x', saying('{"steps":[],"result":7}', { model: 'gpt-4o-2024-08-06' })),
    ).toMatchObject({
      ...{ score: 7, raw: 7, normalised: 0.7 },
      by: { model: 'gpt-4o-2024-08-06' },
    })
  })

  it('clamps what is out of range only where that is asked for', async () => {
    expect(await run(judge, 'x', saying('11'))).toMatchObject({
      score: null,
      raw: 11,
      error: { code: 'out_of_range' },
    })
    const policy = { outOfRange: 'clamp' } as const
    expect(await run(judge, 'x', { ...saying('11'), policy })).toMatchObject({
      score: 10,
      raw: 11,
      normalised: 1,
    })
  })

  it.each<[string, { means: GraderMeans }, string]>([
    ['no number', saying('fine'), 'model_grader_parse_error'],
    ['a refusal', saying('', { refusal: 'No.' }), 'model_grader_refusal_error'],
    ['a filtered reply', saying('', { finish: 'content_filter' }), 'model_grader_refusal_error'],
    ['a cut reply', saying('{"steps": [', { finish: 'length' }), 'model_grader_exceeded_max_tokens_error'],
    ['no model', { means: {} }, 'model_grader_server_error'],
  ])('gives no score for %s', async (_, more, code) => {
    expect(await run(judge, 'x', more)).toMatchObject({ score: null, error: { code } })
    expect(await run(labelled, 'x', more)).toMatchObject({ score: null, error: { code } })
  })

  it('keeps the fault of a call that failed, and throws slips of the environment and ends of the attempt', async () => {
    const fault = { owner: 'judge', code: 'overloaded', message: 'busy', retryable: true } as const
    const throwing = (error: Error) => ({ means: { ask: () => Promise.reject(error) } })
    expect(await run(judge, 'x', throwing(new FaultError(fault)))).toMatchObject({
      ...{ score: null, fault },
      error: { code: 'model_grader_server_error', message: 'busy' },
    })
    await expect(run(judge, 'x', throwing(new QuintainError('usage', 'no such judge')))).rejects.toThrow(
      'no such judge',
    )
    const { grader } = readGrader(judge)
    const options = {
      grader,
      item,
      sample: { output_text: '' },
      signal: AbortSignal.abort(new Error('over')),
    }
    await expect(runGrader({ ...options, ...saying('1') })).rejects.toThrow('over')
  })

  it('passes the labels that pass', async () => {
    expect(await run(labelled, 'x', saying('Good.'))).toMatchObject({ score: 1, passed: true, label: 'good' })
    expect(await run(labelled, 'x', saying('bad'))).toMatchObject({ score: 0, passed: false, label: 'bad' })
    expect(await run(labelled, 'x', saying('fine'))).toMatchObject({ score: null, label: null })
  })
})

describe('python', () => {
  const source = { type: 'python', name: 'p', source: 'def grade(sample, item): return 2' }
  it('gives the number of the source, in whatever range', async () => {
    expect(await run(source, 'x', { means: python({ value: 2 } as Partial<PythonGrade>) })).toMatchObject({
      score: 2,
    })
  })

  it('has no score for a source that fails, or 0 as the vendor where that is asked for', async () => {
    const means = python({ ok: false, code: 'python_grader_runtime_error', message: 'ValueError' })
    expect(await run(source, 'x', { means })).toMatchObject({
      score: null,
      error: { code: 'python_grader_runtime_error', message: 'ValueError' },
    })
    const policy = { pythonError: 'zero' } as const
    expect(await run(source, 'x', { means, policy })).toMatchObject({ score: 0, error: {} })
    expect(await run(source, 'x', { policy })).toMatchObject({
      score: null,
      error: { code: 'python_grader_server_error' },
    })
  })
})

describe('multi', () => {
  const multi = {
    type: 'multi',
    name: 'm',
    graders: { acc: check, judge },
    calculate_output: '0.5 * acc + judge / 20',
  }

  it('runs each part once and keeps what it came to', async () => {
    let asked = 0
    const ask = async (): Promise<JudgeReply> => ({ text: String(asked++), finish: 'stop' })
    expect(
      await run({ ...multi, calculate_output: 'judge + judge + acc' }, 'Paris', { means: { ask } }),
    ).toMatchObject({
      score: 1,
      parts: { acc: { score: 1 }, judge: { score: 0, normalised: 0 } },
    })
    expect(asked).toBe(1)
  })

  it('has no score when a part has none, and counts an answer that failed as 0', async () => {
    expect(await run(multi, 'Paris', saying('fine'))).toMatchObject({
      ...{ score: null, parts: { acc: { score: 1 } } },
      error: { code: 'model_grader_parse_error', message: expect.stringContaining('"judge"') },
    })
    const json = { ...check, input: '{{sample.output_json.city}}' }
    expect(await run({ ...multi, graders: { acc: json, judge } }, 'Paris', saying('10'))).toMatchObject({
      score: 0.5,
    })
  })

  it.each([
    ['acc +', 'formula_parse_error'],
    ['acc + style', 'invalid_variable_error'],
    ['acc / (acc - acc)', 'other_error'],
    ['log(0 * judge)', 'other_error'],
  ])('%s is a %s', async (calculate_output, code) => {
    expect(await run({ ...multi, calculate_output }, 'x', saying('1'))).toMatchObject({
      score: null,
      error: { code },
    })
  })
})

describe('the identity of a grader', () => {
  const of = (more: object, options = {}) => graderIdentity(readGrader({ ...judge, ...more }).grader, options)
  it('changes with what makes its scores, and with nothing else', () => {
    const others = [
      of({ model: 'gpt-5' }),
      of({ range: [0, 5] }),
      of({ input: 'Grade.' }),
      of({ sampling_params: { temperature: 1 } }),
      of({}, { policy: { outOfRange: 'clamp' } }),
      of({}, { models: { 'gpt-4o': 'local:small' } }),
    ]
    expect(new Set([of({}), ...others]).size).toBe(7)
    expect(of({ name: 'other' })).toBe(of({}))
    expect(of({}, { policy: { outOfRange: 'fault' }, models: { 'gpt-4o': 'gpt-4o' } })).toBe(of({}))
  })

  it('names the models that are asked', () => {
    const graders = { a: judge, b: labelled, c: check }
    expect(modelsOf(readGrader({ type: 'multi', name: 'm', graders, calculate_output: 'a' }).grader)).toEqual(
      ['gpt-4o'],
    )
  })
})
