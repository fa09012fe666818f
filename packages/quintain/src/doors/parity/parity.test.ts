import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readGrader } from '../../scoring/index.ts'
import { agrees, type ParityRow, parityText, readParityRow, replay } from './index.ts'

const check = {
  type: 'string_check',
  name: 'exact',
  input: '{{sample.output_text}}',
  reference: '{{item.answer}}',
  operation: 'eq',
}
const exact = readGrader(check).grader
const both = readGrader({
  type: 'multi',
  name: 'whole',
  graders: {
    acc: check,
    sim: {
      type: 'text_similarity',
      name: 's',
      input: '{{sample.output_text}}',
      reference: '{{item.answer}}',
      evaluation_metric: 'fuzzy_match',
    },
  },
  calculate_output: '(acc + sim) / 2',
}).grader

const read = (value: unknown, only = 'exact'): ParityRow => {
  const found = readParityRow(value, 1, only)
  if (!found.ok) throw new Error(found.problem)
  return found.row
}

test('rows as they are written, and output items of an eval run, are read as one thing', () => {
  expect(read({ item: { answer: '4' }, sample: '4', expected: 1 })).toMatchObject({
    sample: { output_text: '4' },
    expected: { exact: { score: 1 } },
  })
  expect(
    read({
      object: 'eval.run.output_item',
      datasource_item: { item: { answer: 'x' } },
      sample: { output: [{ role: 'assistant', content: [{ type: 'output_text', text: '{"a":1}' }] }] },
      results: [{ name: 'exact-0f3c2a11-1234-4abc-8def-0123456789ab', passed: true }],
    }),
  ).toMatchObject({
    item: { answer: 'x' },
    sample: { output_text: '{"a":1}', output_json: { a: 1 } },
    expected: { exact: { score: 1, passed: true } },
  })
  expect(readParityRow({ item: {}, sample: 3, expected: 1 }, 7, 'x')).toMatchObject({ ok: false, line: 7 })
  expect(readParityRow([], 1, 'x').ok).toBe(false)
  expect(readParityRow({ item: {}, sample: 'a', expected: { x: 'high' } }, 1, 'x').ok).toBe(false)
})

test('saved scores are compared row by row, for the whole and for its parts', async () => {
  const rows = [
    read({ item: { answer: 'four' }, sample: 'four', expected: { whole: 1, acc: 1, sim: 1 } }),
    read({ item: { answer: 'four' }, sample: 'five', expected: { whole: 0.25, acc: 0, sim: 0.5 } }),
    read({ item: { answer: 'four' }, sample: 'for', expected: { acc: 1, other: 1 } }),
  ].map((row, place) => ({ ...row, line: place + 1 }))
  const report = await replay({ graders: { whole: both }, rows })
  expect(report.rows).toBe(3)
  expect(report.strange).toEqual({ other: 1 })
  const [whole, acc, sim] = report.graders
  expect(whole).toMatchObject({ name: 'whole', compared: 2 })
  expect(acc).toMatchObject({
    name: 'acc',
    compared: 3,
    agreeing: 2,
    disagreeing: [{ line: 3, expected: 1, given: 0 }],
  })
  expect(sim).toMatchObject({ name: 'sim', compared: 2 })
  expect(agrees(report)).toBe(false)
  const text = parityText(report)
  expect(text).toContain('acc (string_check): 2 of 3 agree')
  expect(text).toContain('line 3: 1 then, 0 now')
  expect(text).not.toContain('four')
})

test('a row that cannot be graded is counted by its error, and is no zero', async () => {
  const rows = [
    read({ item: {}, sample: 'x', expected: 0 }),
    read({ item: { answer: 'x' }, sample: 'x', expected: 1 }),
  ]
  const report = await replay({ graders: { exact }, rows })
  expect(report.graders[0]).toMatchObject({
    rows: 2,
    compared: 1,
    agreeing: 1,
    errors: { invalid_variable_error: 1 },
  })
  expect(agrees(report)).toBe(false)
  const judged = readGrader({
    type: 'score_model',
    name: 'exact',
    model: 'm',
    input: [{ role: 'user', content: 'x' }],
  })
  const asked = await replay({ graders: { exact: judged.grader }, rows })
  expect(Object.values(asked.graders[0]!.errors)).toEqual([2])
})

test('scores of other graders only are no agreement', async () => {
  const rows = [read({ item: { answer: 'x' }, sample: 'x', expected: { other: 1 } })]
  expect(agrees(await replay({ graders: { exact }, rows }))).toBe(false)
})

test('what grades its own scores agrees with itself, however many rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', ''), fc.constantFrom('a', 'b')), { maxLength: 40 }),
      async (pairs) => {
        const rows = pairs.map(([said, answer], line) => ({
          ...read({ item: { answer }, sample: said, expected: Number(said === answer) }),
          line,
        }))
        const report = await replay({ graders: { exact }, rows })
        expect(agrees(report)).toBe(true)
        expect(report.rows).toBe(pairs.length)
      },
    ),
    { numRuns: 40 },
  )
})
