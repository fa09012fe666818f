import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resultsText } from './suite-results.ts'
import { parseTestLog } from './test-log.ts'

const document = (encoding: string) =>
  `<?xml version="1.0" encoding="${encoding}"?><testsuite><testcase name="café"/></testsuite>`

function utf16(text: string, big: boolean): Uint8Array {
  const bytes = Buffer.from(text, 'utf16le')
  return big ? bytes.swap16() : bytes
}

test.each([
  ['UTF-8', Buffer.from(document('UTF-8'))],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${document('utf-8')}`)],
  ['Latin 1', Buffer.from(document('ISO-8859-1'), 'latin1')],
  ['UTF-16, little end first, with a mark', utf16(`\ufeff${document('UTF-16')}`, false)],
  ['UTF-16, big end first, without one', utf16(document('UTF-16'), true)],
  ['UTF-8 that calls itself UTF-16', Buffer.from(document('UTF-16'))],
  ['UTF-8 that calls itself what does not exist', Buffer.from(document('klingon'))],
])('results in %s', (_what, bytes) => {
  const { tests } = parseTestLog(resultsText(bytes), 'junit')
  expect(Object.fromEntries(tests)).toEqual({ café: 'passed' })
})

test('any bytes are some text', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => typeof resultsText(bytes) === 'string'))
})
