import { expect, test } from 'vitest'
import type { PlayStart } from '../../engine/index.ts'
import { SharedStarts } from './shared-starts.ts'
import { showTools } from './shown-tools.ts'

const start = (prompt: string): PlayStart => ({
  seat: 'agent',
  attempt: prompt,
  task: { id: prompt, split: 'train', data: {} },
  messages: [
    { role: 'system', content: 'You count.' },
    { role: 'user', content: prompt },
  ],
  tools: [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }],
  endpoints: {},
  limits: {},
  replies: false,
  elapsedMs: 0,
})

test('what sessions begin with is the same, and what several begin with is held once', () => {
  const starts = new SharedStarts()
  const [first, second] = [starts.shared(start('one')), starts.shared(start('two'))]
  expect(first).toEqual(start('one'))
  expect(second).toEqual(start('two'))
  expect(second.tools).toBe(first.tools)
  expect(second.messages[0]).toBe(first.messages[0])
  expect(second.messages[1]).not.toBe(first.messages[1])
})

test('tools that are held once are shown once, by each door as it shows them', () => {
  const { tools } = start('one')
  const reserved = new Set(['add'])
  const shown = showTools(tools, { answerTool: true, replies: false })
  expect(showTools(tools, { answerTool: true, replies: false })).toBe(shown)
  expect(showTools(tools, { answerTool: false, replies: false }).answerTool).toBeUndefined()
  expect(showTools(tools, { answerTool: true, replies: true }).answerTool).toBe('say')
  expect(showTools(tools, { answerTool: true, replies: false, reserved }).tools[0]?.name).toBe('add_2')
  expect(showTools([...tools], { answerTool: true, replies: false })).toEqual(
    expect.objectContaining({ tools: shown.tools }),
  )
})
