import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Turn, turnText } from './turn-text.ts'

test('every turn is rendered alike, and a prompt ends as the assistant begins', () => {
  const turns: Turn[] = [
    ['user', 'q1'],
    ['assistant', 'a1'],
    ['user', 'q2'],
  ]
  expect(turnText('{ROLE}: {content}\n', turns, { generate: true })).toBe(
    'USER: q1\nASSISTANT: a1\nUSER: q2\nASSISTANT: ',
  )
  expect(turnText('<{role}>{content}', turns)).toBe('<user>q1<assistant>a1<user>q2')
})

test('a turn may end with its role, and names in what was said are text', () => {
  expect(turnText('<{role}>{content}</{role}>', [['user', '{role} $& {content}']], { generate: true })).toBe(
    '<user>{role} $& {content}</user><assistant>',
  )
})

test('a turn that stopped inside the end of its template gets what is left of it', () => {
  const text = (answer: string) =>
    turnText('{ROLE}\n{content}\n<end>\n', [['assistant', answer]], { stop: '<end>' })
  expect(text('a\n<end>')).toBe(text('a'))
  expect(text('a')).toBe('ASSISTANT\na\n<end>\n')
})

test('each prompt begins with the one before and what was generated, its end included', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('{ROLE}: {content}\n', '<|{role}|>{content}<|end|>\n', '{content}<|end|>'),
      fc.array(fc.tuple(fc.string(), fc.string()), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      (template, exchanges, stops) => {
        const stop = template.includes('<|end|>') ? '<|end|>' : '\n'
        const turns: Turn[] = []
        let before = ''
        for (const [asked, answered] of exchanges) {
          turns.push(['user', asked])
          const prompt = turnText(template, turns, { generate: true, stop })
          expect(prompt.startsWith(before)).toBe(true)
          const generated = answered.replaceAll(stop, '') + (stops ? stop : '')
          before = prompt + generated
          turns.push(['assistant', generated])
        }
      },
    ),
  )
})
