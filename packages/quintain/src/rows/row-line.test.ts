import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { result, says, Talk, user } from './__fixtures__/talk.ts'
import { type TokenRow, trainingRows } from './index.ts'
import { rowLine } from './row-line.ts'

/** What version 1 looks like. These files are never edited: what reads them must read them for good. */
const golden = (file: string) => readFileSync(join(import.meta.dirname, '__golden__', file), 'utf8')

function talk(): Talk {
  const made = new Talk()
  const go = user('go')
  const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }]
  const call = says('', {
    reasoning: 'why',
    toolCalls: [{ id: 'c', name: 'look', arguments: '{"at": "hat"}' }],
  })
  const policySpans = [{ start: 0, end: 2, version: 'step-7' }]
  made.ask([go], call, { tools, policySpans, logprobs: [-0.1, -0.25, -1e-7, 0, -3, -12.5] })
  made.ask([go, call, result('a hat')], 'done', { tools, finish: 'length' })
  return made
}

test('lines of rows are what they were', () => {
  const { trajectory, tokens } = talk()
  const verdict = { reward: 0.5 }
  const { rows } = trainingRows(trajectory, { tokens, verdict })
  expect(rows.map((row) => `${rowLine(row)}\n`).join('')).toBe(golden('row.v1.jsonl'))
  const chat = trainingRows(trajectory, { verdict, textOnly: true })
  expect(chat.rows.map((row) => `${rowLine(row)}\n`).join('')).toBe(golden('row-text-only.v1.jsonl'))
})

test('log-probabilities come back as the same Float32', () => {
  const { rows } = trainingRows(talk().trajectory, { tokens: talk().tokens })
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const row: TokenRow = { ...rows[0]!, logprobs: Float32Array.of(value) }
      const { logprobs } = JSON.parse(rowLine(row)) as { logprobs: number[] }
      expect(Math.fround(logprobs[0]!) + 0).toBe(value + 0)
    }),
  )
})
