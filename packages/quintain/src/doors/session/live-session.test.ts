import { expect, test } from 'vitest'
import type { PlayStart, WorldSide } from '../../engine/index.ts'
import { LiveSession } from './live-session.ts'

const task = { id: 'a', split: 'test', index: 0, task: { id: 'a', split: 'test', data: undefined } }
const start: PlayStart = {
  seat: 'agent',
  attempt: 'attempt',
  task: task.task,
  messages: [],
  tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
  endpoints: {},
  limits: {},
  replies: false,
  elapsedMs: 0,
}

function sideOf(tools: WorldSide['tools']): WorldSide {
  const never = () => Promise.reject(new Error('not asked'))
  return { signal: new AbortController().signal, tools, reply: never, generate: never, clock: () => {} }
}

test('a step that throws what nobody has named ends the episode as a fault of ours', async () => {
  const session = new LiveSession({ handle: 'h', task, onStep: () => {} })
  const played = session.begin(
    start,
    sideOf(() => Promise.reject(new TypeError('a defect'))),
  )
  const step = session.call({ name: 'look', arguments: {} })
  const { thrown } = await played
  expect(thrown).toMatchObject({ by: 'fault', fault: { owner: 'platform', code: 'session_broke' } })
  // As the engine does, which records it.
  if (thrown?.by === 'fault') session.ended({ kind: 'failed', fault: thrown.fault })
  await expect(step).rejects.toMatchObject({ code: 'infrastructure' })
})

test('calls of one reply have names of their own in the records', async () => {
  const ids: string[] = []
  const session = new LiveSession({ handle: 'h', task, onStep: () => {} })
  void session.begin(
    start,
    sideOf(async ([call]) => {
      ids.push(call!.id)
      const message = { role: 'tool' as const, toolCallId: call!.id, name: 'look', content: 'seen' }
      return { messages: [message], executed: 1, truncated: false }
    }),
  )
  for (let n = 0; n < 3; n++) await session.call({ name: 'look', arguments: {}, batch: 'one' })
  expect(new Set(ids).size).toBe(3)
})
