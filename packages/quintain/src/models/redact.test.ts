import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor, createReplyRedactor } from './redact.ts'

const key = 'zq7Lm0Xw/4tRb+9KcVhY2pNd'
const redact = createRedactor([key])

describe('createRedactor', () => {
  test.each([
    ['whole', `key ${key} is bad`, 'key *** is bad'],
    ['encoded for an address', `?k=${encodeURIComponent(key)}&a`, '?k=***&a'],
    ['as base64', Buffer.from(key).toString('base64'), '***'],
    ['masked with stars', 'key zq7Lm0Xw****pNd is bad', 'key *** is bad'],
    ['masked with an ellipsis', 'key zq7Lm0Xw/4t… is bad', 'key *** is bad'],
    ['masked with dots', 'key "zq7Lm0Xw/4tRb...2pNd" is bad', 'key "***" is bad'],
    ['with a zero-width space in it', `key zq7Lm0Xw\u200b/4tRb+9KcVhY2pNd is bad`, 'key *** is bad'],
    ['with zero-width spaces all over', [...key].join('\u200b'), '***'],
    ['with markup in it', 'key zq7Lm0Xw<wbr>/4tRb<b>+9KcVhY2pNd</b>', 'key ***</b>'],
    ['begun before markup', 'key zq7Lm0Xw/4<b>hidden</b>', 'key ***hidden</b>'],
    ['with an entity in it', 'key zq7Lm0Xw&#8203;/4tRb+9KcVhY2pNd', 'key ***'],
    ['twice', `${key}${key}`, '******'],
    ['after a false start', `zq7${key}`, 'zq7***'],
  ])('takes out a key that stands there %s', (_name, text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  test.each([
    'zq7Lm0Xw is the name of a thing',
    'zq7Lm0… is too short to tell',
    'the limit is 7...9 <b>tokens</b>',
  ])('leaves %j alone', (text) => {
    expect(redact(text)).toBe(text)
  })

  test('nothing is left of a key, wherever it stands and whatever is put between its characters', () => {
    const between = fc.constantFrom('', '', '', '\u200b', '<i>', '&shy;', '\n', '\ufeff')
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(between, { minLength: key.length, maxLength: key.length }),
        fc.string(),
        (before, gaps, after) => {
          const echo = [...key].map((character, index) => character + (gaps[index] ?? '')).join('')
          const shown = redact(before + echo + after).replaceAll(/<i>|&shy;|[\u200b\ufeff\n]/g, '')
          expect(shown).not.toContain(key.slice(0, 8))
          expect(shown).not.toContain(key.slice(-8))
        },
      ),
    )
  })

  test('gets through a text made to be slow', () => {
    const text = `z${'<'.repeat(50_000)}${'z<b>'.repeat(20_000)}${'zq7Lm0Xw'.repeat(5000)}`
    expect(redact(text)).toBe(text)
  })
})

describe('createReplyRedactor', () => {
  const redactReply = createReplyRedactor([key])

  test('takes keys out of strings and names of fields, at any depth', () => {
    expect(redactReply({ a: [{ b: `x ${key}` }, key], [key]: 1, n: 3, z: null })).toEqual({
      a: [{ b: 'x ***' }, '***'],
      '***': 1,
      n: 3,
      z: null,
    })
    const deep = JSON.parse(`${'['.repeat(20_000)}"${key}"${']'.repeat(20_000)}`) as unknown
    let inner = redactReply(deep)
    while (Array.isArray(inner)) inner = inner[0]
    expect(inner).toBe('***')
  })

  test('masked beginnings go from ids and names, and stay in what the model said', () => {
    const reply = { id: 'call-zq7Lm0Xw****', content: 'zq7Lm0Xw... and sk-abcdefghijkl' }
    expect(redactReply(reply)).toEqual({ id: 'call-***', content: 'zq7Lm0Xw... and sk-abcdefghijkl' })
  })

  test.each(['EMPTY', 'lm-studio', 'not-needed', 'sk-1234'])(
    'a stand-in for a key (%s) is a word that a model may say',
    (word) => {
      expect(createReplyRedactor([word])({ content: `so ${word} it is` })).toEqual({
        content: `so ${word} it is`,
      })
    },
  )
})
