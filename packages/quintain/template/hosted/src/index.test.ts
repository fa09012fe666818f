import { readFileSync } from 'node:fs'
import { parseJsonl, type TaskInput } from 'quintain'
import { renderTemplate, templatesOf, validateGrader } from 'quintain/scoring'
import { testEnvironment } from 'quintain/vitest'
import { expect, test } from 'vitest'
import env, { graders } from './index.ts'

type Row = TaskInput<{ tools: unknown[] }, { item: Record<string, unknown> }>
const rows = parseJsonl(readFileSync(new URL('../tasks.jsonl', import.meta.url))).records.map(
  ({ value }) => value as Row,
)

test('every grader can run: its formula and templates can be read', () => {
  expect(graders.flatMap(validateGrader)).toEqual([])
})

test('the rows have the fields that graders read, but for those that lint.json tells', () => {
  const lacking = rows.filter(
    ({ secret }) => !graders.flatMap(templatesOf).every((template) => isFilled(template, secret)),
  )
  expect(lacking.length).toBe(__UNGRADABLE__)
})

function isFilled(template: string, secret: Row['secret']): boolean {
  const item = secret?.item ?? {}
  // What the agent says is not there yet; only what the row says is looked at.
  const own = template.replaceAll(/\{\{\s*sample\b[^{}]*\}\}/g, '')
  return renderTemplate(own, { item, sample: { output_text: '' } }).ok
}

test('what an agent is shown of a row is its messages and tools', () => {
  for (const { data } of rows) expect(Object.keys(data ?? {})).toEqual(['tools'])
})

// Judges cost money: an environment that asks any is played by `quintain eval … --judge`. The rest is played here: its oracle
// solves it, silence does not, and nobody sees the secret.
const asksJudges: boolean = __JUDGED__
if (!asksJudges) testEnvironment(env, { tasks: 5, secrets: __SECRETS__, noop: __NOOP__ })
