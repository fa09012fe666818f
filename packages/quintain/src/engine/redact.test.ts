import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { redactedMessage } from '../core/redacted-message.ts'
import { hideKeys, redactor } from './redact.ts'

describe('a secret is taken out of text', () => {
  const cases: [string, unknown, string, string][] = [
    ['as it is', 'quokka', 'it was quokka', 'it was [secret]'],
    ['in any case', 'Quokka', 'QUOKKA or quokka', '[secret] or [secret]'],
    ['inside a word', 'quokka', 'xquokkax', 'x[secret]x'],
    ['wherever it is in the secret', { a: [{ b: 'quokka' }], n: 20_26 }, 'quokka 2026', '[secret] [secret]'],
    ['short ones as whole words only', { n: 4 }, 'at 4 of 2024, a4', 'at [secret] of 2024, a4'],
    ['short words as whole words only', 'no', 'no, nothing known', '[secret], nothing known'],
    ['with letters outside of ASCII', 'Ärger', 'kein ÄRGER', 'kein [secret]'],
    ['line by line', 'first line\n  second line', 'saw "second line"', 'saw "[secret]"'],
    ['with its spaces folded', 'two  words\nhere', 'two words here', '[secret]'],
    ['as JSON', 'say "yes"', JSON.stringify({ a: 'say "yes"' }), '{"a":"[secret]"}'],
    ['as base64', 'quokka-42', Buffer.from('quokka-42').toString('base64'), '[secret]'],
    ['in an address', 'two words', 'https://x.example/?q=two%20words', 'https://x.example/?q=[secret]'],
    ['as a form sends it', 'two words', 'q=two+words', 'q=[secret]'],
    ['in HTML', `R&D's <b>`, 'was R&amp;D&#39;s &lt;b&gt; it', 'was [secret] it'],
    ['composed', 'caf\u00e9s', 'no cafe\u0301s here', 'no [secret] here'],
    ['decomposed', 'cafe\u0301s', 'no caf\u00e9s here', 'no [secret] here'],
    ['as a key inside the secret', { words: { quokka: 1 } }, 'not quokka', 'not [secret]'],
    [
      'as a key of a map in a list',
      [{ words: { quokka: 1 } }],
      'no words, not quokka',
      'no words, not [secret]',
    ],
    [
      'but for names of fields of what it lists',
      { checks: [{ name: 'a-b-c' }] },
      'File name too long',
      'File name too long',
    ],
    ['as a key that is a sentence', { 'it is here': 1 }, 'not it is here', 'not [secret]'],
    ['but for names of its fields', { answer: 'quokka' }, 'no answer quokka', 'no answer [secret]'],
    ['with characters that patterns know', 'a.*(b)[c]|$^+?{}\\/', 'x a.*(b)[c]|$^+?{}\\/ y', 'x [secret] y'],
    ['which are not patterns', 'a.*b', 'aXXb', 'aXXb'],
    ['the longest first', ['quokka', 'quokka-house'], 'quokka-house', '[secret]'],
    ['not when there is none', undefined, 'anything', 'anything'],
    ['not when it is empty', { a: '', b: '  ', c: true, d: null }, 'true null', 'true null'],
  ]
  test.for(cases)('%s', ([, secret, text, expected]) => {
    expect(redactor(secret)(text)).toBe(expected)
  })

  test('a secret of a hundred thousand lines is looked for as a whole', () => {
    const lines = Array.from({ length: 100_000 }, (_, at) => `assert f(${at}) == ${at * 7}`)
    const redact = redactor(lines.join('\n'))
    expect(redact('failed: assert f(99999) == 699993')).toBe('failed: [secret]')
    expect(redact(`failed: ${lines[3]} and ${lines[70_000]}`)).toBe('failed: [secret] and [secret]')
  })

  test('any text in a secret is gone from a message, at every place of the cut', () => {
    fc.assert(
      fc.property(
        fc
          .string({ minLength: 8, maxLength: 60, unit: 'grapheme' })
          .filter((text) => text.trim().length >= 8),
        fc.integer({ min: 0, max: 330 }),
        (secret, before) => {
          const shown = redactedMessage(redactor({ secret }), new Error(`${'-'.repeat(before)}${secret}`))
          const whole = secret.replace(/\s+/g, ' ').trim()
          // No half of it either: what is cut is cut after it was taken out.
          for (let length = whole.length; length >= 8; length--) {
            expect(shown.toLowerCase()).not.toContain(whole.slice(0, length).toLowerCase())
          }
          expect(shown.length).toBeLessThanOrEqual(300)
        },
      ),
    )
  })

  test('letters of which Unicode knows a third case are found', () => {
    expect(redactor('masse')('die ma\u017fse')).toBe('die [secret]')
    expect(redactor('ma\u017fse')('die masse')).toBe('die [secret]')
    expect(redactor('kelvin')('300 \u212aelvin')).toBe('300 [secret]')
    expect(redactor('ΣΟΦΟΣ')('ὁ σοφος')).toBe('ὁ [secret]')
  })

  test('what is looked for in ASCII is found as a pattern finds it', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'B', '1', '-', ' ', '\n', '.', '"', '&'),
      maxLength: 6,
    })
    fc.assert(
      fc.property(fc.array(word, { maxLength: 3 }), word, word, (secrets, before, after) => {
        const text = `${before}${secrets.join('').toUpperCase()}${after}`
        // One letter outside of ASCII, and every form is a pattern.
        const asPattern = redactor(secrets)(`${text} é`)
        expect(`${redactor(secrets)(text)} é`).toBe(asPattern)
      }),
    )
  })

  test('what was thrown may be anything', () => {
    const redact = redactor('quokka')
    for (const thrown of [
      undefined,
      null,
      5,
      'quokka',
      { message: 'quokka' },
      Object.create(null),
      Symbol('quokka'),
    ]) {
      expect(redactedMessage(redact, thrown)).not.toContain('quokka')
    }
  })
})

describe("the host's keys are taken out of text", () => {
  afterEach(() => {
    delete process.env['SOME_API_KEY']
    delete process.env['SOME_COLOUR']
  })

  test('by the names of their variables, and by their looks', () => {
    process.env['SOME_API_KEY'] = 'verysecretvalue'
    process.env['SOME_COLOUR'] = 'ultramarineblue'
    expect(hideKeys('bad key verysecretvalue')).not.toContain('verysecretvalue')
    expect(hideKeys('ultramarineblue')).toBe('ultramarineblue')
    expect(hideKeys('Authorization: Bearer abcdef123456')).not.toContain('abcdef123456')
  })
})
