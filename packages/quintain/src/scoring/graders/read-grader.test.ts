import { describe, expect, it } from 'vitest'
import { QuintainError } from '../../core/index.ts'
import { readGrader } from './read-grader.ts'
import { validateGrader } from './validate-grader.ts'

const check = {
  type: 'string_check',
  name: 'acc',
  input: '{{sample.output_text}}',
  reference: '{{item.a}}',
  operation: 'eq',
}
const similar = {
  type: 'text_similarity',
  name: 'style',
  input: 'x',
  reference: 'y',
  evaluation_metric: 'fuzzy_match',
}
const multi = {
  type: 'multi',
  name: 'm',
  graders: { acc: check, style: similar },
  calculate_output: '0.5 * acc + 0.5 * style',
}
const scored = {
  type: 'score_model',
  name: 's',
  model: 'gpt-4o',
  input: [{ role: 'user', content: 'Rate {{item.a}}' }],
}
const labelled = { ...scored, type: 'label_model', labels: ['good', 'bad'], passing_labels: ['good'] }

function problemOf(json: unknown): string {
  try {
    readGrader(json)
  } catch (error) {
    if (QuintainError.isInstance(error) && error.code === 'import_invalid') return error.message
    throw error
  }
  return 'none'
}

describe('readGrader takes every spelling', () => {
  it('gives the canonical form of what the vendor documents, and guesses nothing', () => {
    const { grader, guesses } = readGrader(multi)
    expect(grader).toMatchObject({ type: 'multi', calculateOutput: '0.5 * acc + 0.5 * style' })
    expect(Object.keys(grader.type === 'multi' ? grader.graders : {})).toEqual(['acc', 'style'])
    expect(guesses).toEqual([])
    expect(validateGrader(grader)).toEqual([])
  })

  it('takes graders as a list, with names that end in _score and a bracket that closes nothing', () => {
    const { grader, guesses } = readGrader({
      ...multi,
      graders: [check, { ...similar, name: 'Style check' }],
      calculate_output: '0.5 * acc_score + 0.5 * style_check_score)',
    })
    expect(grader).toMatchObject({ graders: { acc_score: { name: 'acc' }, style_check_score: {} } })
    expect(validateGrader(grader)).toEqual([])
    expect(guesses).toHaveLength(4)
  })

  it('takes a single grader, and a key that the formula calls by its name', () => {
    expect(readGrader({ ...multi, graders: check, calculate_output: 'acc' }).grader).toMatchObject({
      graders: { acc: { type: 'string_check' } },
    })
    const { grader, guesses } = readGrader({
      ...multi,
      graders: { 'first one': check },
      calculate_output: '2 * acc',
    })
    expect(grader).toMatchObject({ graders: { acc: {} } })
    expect(guesses).toHaveLength(1)
    expect(readGrader({ ...multi, graders: { acc: check }, calculate_output: null }).grader).toMatchObject({
      calculateOutput: 'acc',
    })
  })

  it.each([
    ['neq', 'ne'],
    ['ilike', 'ilike'],
    ['equals', 'eq'],
  ])('operation %s, and what was guessed is said', (operation, expected) => {
    const { grader, guesses } = readGrader({ ...check, operation })
    expect(grader).toMatchObject({ operation: expected })
    expect(guesses).toHaveLength(operation === expected ? 0 : 1)
  })

  it.each([
    ['rougeL', 'rouge_l'],
    ['ROUGE-1', 'rouge_1'],
    ['cosine', 'cosine'],
  ])('metric %s', (evaluation_metric, metric) => {
    expect(readGrader({ ...similar, evaluation_metric }).grader).toMatchObject({ metric })
  })

  it.each(['max_completions_tokens', 'max_completion_tokens', 'max_output_tokens'])('%s', (name) => {
    const sampling_params = {
      [name]: 50,
      temperature: 0,
      top_p: null,
      reasoning: { effort: 'low' },
      colour: 1,
    }
    const { grader, guesses } = readGrader({ ...scored, sampling_params })
    expect(grader).toMatchObject({ sampling: { maxTokens: 50, temperature: 0, reasoningEffort: 'low' } })
    expect(guesses).toEqual(['grader.sampling_params.colour is not known and is left out.'])
  })

  it('takes contents as text, part or list', () => {
    const { grader } = readGrader({
      ...scored,
      input: [
        { role: 'developer', type: 'message', content: { type: 'input_text', text: 'a' } },
        { role: 'user', content: ['b', { type: 'input_image', image_url: '{{item.i}}', detail: 'low' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'c' }] },
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }] },
      ],
    })
    expect(grader).toMatchObject({
      range: [0, 1],
      input: [
        { role: 'developer', content: [{ type: 'text', text: 'a' }] },
        { content: [{ text: 'b' }, { type: 'image', url: '{{item.i}}', detail: 'low' }] },
        { content: [{ type: 'text', text: 'c' }] },
        { content: [{ type: 'audio', format: 'wav' }] },
      ],
    })
  })

  it('takes labels at the top and within multi, and a saved job or reply round it', () => {
    expect(readGrader({ ...multi, graders: { l: labelled }, calculate_output: 'l' }).guesses).toEqual([])
    expect(readGrader({ grader: { ...labelled, name: undefined, pass_threshold: 0.5 } })).toMatchObject({
      grader: { passThreshold: 0.5, labels: ['good', 'bad'] },
      guesses: [expect.stringContaining('has no name')],
    })
  })
})

describe('readGrader says where a file is wrong', () => {
  const circle: Record<string, unknown> = { ...multi }
  circle['graders'] = { acc: circle }
  const cases: [string, unknown, RegExp][] = [
    ['nothing', null, /null, and no object/],
    ['a text', 'x', /text, and no object/],
    [
      'an unknown type',
      { ...check, type: 'string-check' },
      /did you mean "string_check"\?.*it is one of string_check/,
    ],
    ['a type like no other', { ...check, type: 'banana' }, /"banana"; it is one of string_check, .*multi\.$/],
    ['an endpoint', { type: 'endpoint' }, /private preview/],
    ['a missing field', { ...check, reference: undefined }, /no "reference"/],
    ['a wrong field', { ...check, reference: 4 }, /grader\.reference is a number/],
    ['a wrong operation', { ...check, operation: '==' }, /"=="/],
    ['a wrong range', { ...scored, range: [1, 0] }, /range/],
    ['a long range', { ...scored, range: [0, 1, 2] }, /range/],
    ['an infinite range', { ...scored, range: [0, Number.POSITIVE_INFINITY] }, /range/],
    ['a stray passing label', { ...labelled, passing_labels: ['fine'] }, /"fine"/],
    ['no labels', { ...labelled, labels: [] }, /no labels/],
    ['a large source', { type: 'python', name: 'p', source: 'x'.repeat(256_000) }, /256/],
    ['no source', { type: 'python', name: 'p' }, /source/],
    ['no graders', { ...multi, graders: {} }, /no graders/],
    ['no formula', { ...multi, calculate_output: undefined }, /calculate_output/],
    ['a bad name', { ...multi, graders: { 'a b': check }, calculate_output: '1' }, /"a b"/],
    [
      'a name of all objects',
      { ...multi, graders: JSON.parse(`{"__proto__": ${JSON.stringify(check)}}`), calculate_output: '1' },
      /__proto__/,
    ],
    ['one name twice', { ...multi, graders: [check, check] }, /two graders called "acc"/],
    ['a multi in a multi', { ...multi, graders: { acc: multi } }, /multi within a multi/],
    ['a circle', circle, /multi within a multi/],
    ['a part that is none', { ...multi, graders: { acc: [] } }, /grader\.graders\.acc is a list/],
    ['an unknown role', { ...scored, input: [{ role: 'tool', content: 'x' }] }, /input\[0\].*"tool"/],
    ['an unknown part', { ...scored, input: [{ role: 'user', content: [{ type: 'video' }] }] }, /"video"/],
  ]
  it.each(cases)('%s', (_, json, message) => {
    expect(problemOf(json)).toMatch(message)
  })

  it('finds formulas and templates that can never run', () => {
    const { grader } = readGrader({ ...multi, calculate_output: 'acc + styl' })
    expect(validateGrader(grader)).toMatchObject([{ code: 'invalid_variable_error', name: 'styl' }])
    expect(validateGrader(readGrader({ ...multi, calculate_output: 'acc +' }).grader)).toMatchObject([
      { code: 'formula_parse_error', at: 5 },
    ])
    expect(validateGrader(readGrader({ ...check, input: '{{ output }}' }).grader)).toMatchObject([
      { code: 'invalid_variable_error', grader: 'acc' },
    ])
  })
})
