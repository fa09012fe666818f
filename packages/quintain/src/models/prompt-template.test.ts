import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { QuintainError } from '../core/index.ts'
import { loadPrompts, promptData, renderJsonPrompt, renderPrompt } from './prompt-template.ts'

function errorOf(make: () => unknown): { code: string; name?: unknown; message: string } {
  try {
    make()
  } catch (thrown) {
    const { code, facts, message } = thrown as QuintainError
    return { code, name: facts['name'], message }
  }
  throw new Error('nothing was thrown')
}

const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('{{x}}', '{{user.name}}', '$&', '"}', '\\', '\u2028', '<b>'),
)

describe('a text', () => {
  test('has its variables filled in, by path', () => {
    const variables = { a: 'x', user: { name: 'Ann', tags: ['p', 'q'] }, n: 0, yes: false, none: null }
    expect(renderPrompt('{{a}} {{ user.name }} {{user.tags.1}} {{n}} {{yes}} {{none}}', variables)).toBe(
      'x Ann q 0 false null',
    )
    expect(renderPrompt('{{user}}', variables)).toBe('{"name":"Ann","tags":["p","q"]}')
  })

  test('holds whatever came in as it is, once', () => {
    fc.assert(
      fc.property(value, value, (x, y) => {
        expect(renderPrompt('<{{x}}|{{y}}>', { x, y })).toBe(`<${x}|${y}>`)
      }),
    )
  })

  test('is left alone where it holds no placeholder', () => {
    for (const text of ['{# note #} {% if %}', '{"a": {"b": 1}}', 'a {{ b', '{ {a} }'])
      expect(renderPrompt(text, {})).toBe(text)
  })

  test.each([
    'user.nmae',
    'user.constructor',
    'user.constructor.name',
    'user.__proto__',
    '__proto__',
    'toString',
    'list.length',
    'list.2',
    'list.map',
    'user.name.length',
    'nothing.at.all',
    'gone',
    '7*7',
    '#if user',
    'user | upper',
    '',
    'fn',
  ])('that names %j, which was not given, is refused', (name) => {
    const variables = { user: { name: 'Ann' }, list: [1, 2], gone: undefined, fn: () => 1 }
    expect(errorOf(() => renderPrompt(`Hi {{${name}}}`, variables))).toMatchObject({
      code: 'undefined_variable',
      name,
    })
    expect(errorOf(() => renderJsonPrompt(`["Hi {{${name}}}"]`, variables))).toMatchObject({
      code: 'undefined_variable',
      name,
    })
  })

  test('says what may have been meant', () => {
    expect(errorOf(() => renderPrompt('{{user.nmae}}', { user: { name: 'Ann' } })).message).toContain(
      '"user.name"',
    )
  })
})

describe('a prompt that is JSON', () => {
  test('holds in its strings whatever came in', () => {
    fc.assert(
      fc.property(value, value, (x, y) => {
        const template = '[{"role":"user","content":"\\"{{x}}\\" {{y}}"},{"{{x}}":"\\\\{{y}}"}]'
        expect(renderJsonPrompt(template, { x, y })).toEqual([
          { role: 'user', content: `"${x}" ${y}` },
          { [x]: `\\${y}` },
        ])
      }),
    )
  })

  test('holds values elsewhere', () => {
    const variables = { n: 3, items: [{ a: 1 }], text: 'a "b"', none: null }
    expect(
      renderJsonPrompt(
        '{"n":{{n}},"items":{{items}},"text":{{ text }},"none":{{none}},"s":"{{items}}"}',
        variables,
      ),
    ).toEqual({ n: 3, items: [{ a: 1 }], text: 'a "b"', none: null, s: '[{"a":1}]' })
  })

  test('is refused where it is none, and says nothing of what came in', () => {
    const found = errorOf(() => renderJsonPrompt('[{"a": {{x}} oops}]', { x: 'a secret' }))
    expect(found.code).toBe('prompt_invalid')
    expect(found.message).not.toContain('secret')
    expect(errorOf(() => renderJsonPrompt('['.repeat(10_000) + ']'.repeat(10_000), {})).code).toBe(
      'prompt_invalid',
    )
  })
})

describe('a file of prompts', () => {
  const forms = (file: string) => loadPrompts(file).map(({ form }) => form)

  test('is one prompt where it is a list of messages, whatever stands in them', () => {
    for (const file of [
      '[{"role":"user","content":"line\\n---\\nline"}]',
      '\uFEFF[{"role":"user","content":"a"},\n{"role":"user","content":"b"}]\n',
      '[{"role":"user","content":{{content}}}]',
      '{"messages":[]}',
      '[]',
    ])
      expect(forms(file)).toEqual(['json'])
    const [prompt] = loadPrompts('[{"role":"user","content":"a {{x}}"}]')
    expect(renderJsonPrompt(prompt!.template, { x: '---' })).toEqual([{ role: 'user', content: 'a ---' }])
  })

  test('may hold several', () => {
    expect(loadPrompts('["a {{x}}", "b\\n---\\nc"]').map(({ template }) => template)).toEqual([
      'a {{x}}',
      'b\n---\nc',
    ])
    expect(forms('[[{"role":"user","content":"a"}],[{"role":"user","content":"{{b}}"}]]')).toEqual([
      'json',
      'json',
    ])
    expect(loadPrompts('first\n---\r\nsecond\nline\n---\n\n').map(({ template }) => template)).toEqual([
      'first',
      'second\nline',
    ])
  })

  test('is a text where it only looks like JSON, and is not divided within lines', () => {
    expect(loadPrompts('[draft] a --- b\n----\n--- c')).toEqual([
      { form: 'text', template: '[draft] a --- b\n----\n--- c' },
    ])
    expect(loadPrompts('"just text"')).toEqual([{ form: 'text', template: 'just text' }])
    expect(loadPrompts('')).toEqual([])
  })
})

test('what another has written cannot end the place where it stands', () => {
  const name = fc.constantFrom('answer', 'a-1')
  const hostile = fc.array(
    fc.oneof(fc.string(), fc.constantFrom('</answer>', '< / ANSWER>', '</answer-', '<a-1>', '</A-1')),
  )
  fc.assert(
    fc.property(name, hostile, (tag, pieces) => {
      const text = pieces.join('')
      const block = promptData(tag, text)
      const [, open = '', inner = ''] = /^<([^>\n]+)>\n([\s\S]*)\n<\/\1>$/.exec(block) ?? []
      expect(inner).toBe(text)
      expect(inner.toLowerCase()).not.toContain(open.toLowerCase())
    }),
  )
})
