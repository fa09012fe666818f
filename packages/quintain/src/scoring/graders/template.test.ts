import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldsOf, renderTemplate } from './template.ts'

const item = {
  answer: 'Paris',
  n: 4,
  deep: { list: [{ x: 'a' }] },
  'my key': 1,
  nothing: null,
  odd: '{{ item.n }}',
}
const render = (template: string, output_text = 'hi', more = {}) => {
  const result = renderTemplate(template, { item, sample: { output_text, ...more } })
  return result.ok ? result.text : result.code
}

describe('templates of graders', () => {
  it.each([
    ['{{item.answer}} / {{ sample.output_text }}', 'Paris / hi'],
    ['{{ item.deep.list[0].x }}{{item.deep.list.0.x}}{{item["my key"]}}{{ item.my key }}', 'aa11'],
    ['{{item.deep}} {{item.n}} {{item.nothing}}', '{"list":[{"x":"a"}]} 4 null'],
    ['{{item.odd}}', '{{ item.n }}'],
    ['{"a": {"b": {}}} {{"score": 1}} {{ {{ }}', '{"a": {"b": {}}} {{"score": 1}} {{ {{ }}'],
    ['{{ sample.output_tools }}', '[]'],
    ['{{{item.n}}}', '{4}'],
  ])('%s', (template, text) => {
    expect(render(template)).toBe(text)
  })

  it.each([
    ['{{ item.anser }}', 'invalid_variable_error'],
    ['{{ answer }}', 'invalid_variable_error'],
    ['{{ item.constructor }}', 'invalid_variable_error'],
    ['{{ item.answer.length }}', 'invalid_variable_error'],
    ['{{ sample.text }}', 'invalid_variable_error'],
    ['{{ item.answer | upper }}', 'invalid_variable_error'],
    ['{{ sample.output_json.name }}', 'sample_parse_error'],
    ['{{ sample.output_tools[0].function.name }}', 'sample_parse_error'],
  ])('%s: %s', (template, problem) => {
    expect(render(template)).toBe(problem)
  })

  it('reads the JSON of an answer, and takes what is missing in it for the agent’s failure', () => {
    expect(render('{{sample.output_json.name}}', '{"name": "Ann", "age": 3}')).toBe('Ann')
    expect(render('{{sample.output_json}}', '[1, 2]')).toBe('[1,2]')
    expect(render('{{sample.output_json.first}}', '{"name": "Ann"}')).toMatch(/^sample_parse_error/)
    expect(render('{{sample.output_json.a}}', '['.repeat(1_000_000))).toMatch(/^sample_parse_error/)
  })

  it('lets no answer grow without bound', () => {
    expect(render('{{sample.output_text}}'.repeat(20), 'a'.repeat(10_000_000))).toMatch(/^sample_parse_error/)
  })

  it('never looks at what comes in', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('{{item.n}}', '{{', '}}', ''),
        (text, more) => {
          expect(render('<{{ sample.output_text }}>', text + more + text)).toBe(`<${text + more + text}>`)
        },
      ),
    )
  })

  it('lists the fields of a template', () => {
    expect(fieldsOf('{{ item.a[0]["b.c"] }} and {{sample.output_text}}')).toEqual([
      'item.a',
      'sample.output_text',
    ])
  })
})
