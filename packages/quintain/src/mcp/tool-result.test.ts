import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CallResult, checkCallResult, contentForModel } from './tool-result.ts'

const text = (said: string) => ({ type: 'text', text: said })
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
const limits = { maxBytes: 1000 }

test.each<[string, CallResult, unknown]>([
  ['one text', { content: [text('a')] }, 'a'],
  ['two texts', { content: [text('a'), text('b')] }, 'a\nb'],
  ['nothing', { content: [] }, ''],
  ['structure without content', { content: [], structuredContent: { n: 1 } }, '{"n":1}'],
  ['structure that is 0', { structuredContent: 0 }, '0'],
  ['structure beside content', { content: [text('n is 1')], structuredContent: { n: 1 } }, 'n is 1'],
  ['a failure', { isError: true, content: [text('no')] }, { toolError: 'tool_error', message: 'no' }],
  ['a failure without words', { isError: true }, { toolError: 'tool_error', message: 'The tool failed.' }],
  [
    'an image',
    { content: [text('see'), image] },
    [text('see'), { type: 'image', mediaType: 'image/png', data: 'aGk=' }],
  ],
  ['a resource', { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'in it' } }] }, 'in it'],
  [
    'a blob',
    { content: [{ type: 'resource', resource: { uri: 'a:b', blob: 'aGk=' } }] },
    '[resource a:b is not shown]',
  ],
  ['a link', { content: [{ type: 'resource_link', name: 'n', uri: 'a:b' }] }, '[resource n: a:b]'],
  ['sound', { content: [{ type: 'audio', data: 'aGk=', mimeType: 'audio/wav' }] }, '[audio is not shown]'],
  ['what is no block', { content: [5, null, { type: 7 }] }, '[a block of no type is not shown]'],
])('%s', (_what, result, shown) => {
  expect(contentForModel(result, limits)).toEqual(shown)
})

test('a text that is too long is cut, images stay, and the whole is handed out', () => {
  const cuts: object[] = []
  const shown = contentForModel(
    { content: [text('x'.repeat(900)), image, text('y'.repeat(900))] },
    { ...limits, onCut: (cut) => cuts.push(cut) },
  )
  expect(shown).toEqual([
    { type: 'text', text: expect.stringMatching(/^x{900}\ny+\n\[cut: .* of 1801 bytes are shown]$/) },
    { type: 'image', mediaType: 'image/png', data: 'aGk=' },
  ])
  expect(cuts).toEqual([{ text: `${'x'.repeat(900)}\n${'y'.repeat(900)}`, bytes: 1801 }])
})

test('whatever stands in content is shown without an exception', () => {
  fc.assert(
    fc.property(fc.array(fc.anything()), fc.boolean(), (content, isError) => {
      contentForModel({ content, isError }, limits)
    }),
  )
})

test('an output schema binds results that are no errors', async () => {
  const schema = { type: 'object', required: ['n'] }
  expect(await checkCallResult({ content: [text('{"n":1}')] }, schema)).toMatchObject({
    error: 'structured_content_missing',
  })
  expect(await checkCallResult({ structuredContent: {} }, schema)).toMatchObject({
    error: 'structured_content_invalid',
  })
  expect(await checkCallResult({ structuredContent: { n: 1 } }, schema)).toBeUndefined()
  expect(await checkCallResult({ structuredContent: null }, { type: ['number', 'null'] })).toBeUndefined()
  expect(await checkCallResult({ isError: true, content: [] }, schema)).toBeUndefined()
  expect(await checkCallResult({}, undefined)).toBeUndefined()
})
