import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type Environment, environment, foldRun, tool } from '../../core/index.ts'
import { openSessionCore, type SessionCore } from '../session/index.ts'
import { functionCall, NemoClient, response, served } from './__fixtures__/client.ts'
import { nemoRow } from './rows.ts'

/* The door on the session core itself, with worlds that do what they should not. */

const secret = 'CANARY-42'
const folder = mkdtempSync(join(tmpdir(), 'quintain-nemo-core-'))
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
  rmSync(folder, { recursive: true, force: true })
})

const empty = z.object({})
/** Brings a counter to two by tools whose names the protocol keeps for itself, or that are no names of Python's. */
const odd = environment({
  system: 'Count.',
  tasks: ['play', 'closed'].map((id) => ({
    id,
    split: 'train',
    prompt: 'Count to two.',
    secret: { answer: secret },
  })),
  needs: ['tools'],
  limits: { tool: '300ms' },
  world: (task) => {
    if (task.id === 'closed') throw new Error(`it does not open: ${secret}`)
    let count = 0
    const add = (name: string) =>
      tool({ name, description: 'Adds one.', input: empty, run: () => `now ${++count}` })
    return {
      tools: () => [
        add('verify'),
        add('2-more'),
        tool({ name: 'wait', description: 'Hangs.', input: empty, run: () => new Promise<string>(() => {}) }),
      ],
      finish: () => ({ count }),
    }
  },
  rewards: {
    counted: ({ state }) => state.count / 2,
    right: {
      weight: 0.5,
      reward: ({ task, transcript }) => Number(transcript.answer === task.secret.answer),
    },
  },
  success: ({ state }) => state.count === 2,
})

async function open() {
  const core: SessionCore = await openSessionCore({
    env: odd as unknown as Environment,
    dir: join(folder, 'run'),
    isolation: 'inline',
  })
  const logged: string[] = []
  const { door, url } = await served(core, { logged })
  opened.push(door, core)
  const row = await nemoRow(core, await core.task({ id: 'play' }))
  return { core, agent: new NemoClient(url), row, logged }
}

test("tools have names that can be called and are nobody else's; both rewards are told, with their weights", async () => {
  const { agent, row } = await open()
  const { tools } = row['responses_create_params'] as { tools: { name: string }[] }
  const names = tools.map(({ name }) => name)
  expect(names).toHaveLength(3)
  expect(names).not.toContain('verify')
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/)
  await agent.post('/seed_session', row)
  expect((await agent.post(`/${names[0]}`, {})).text).toBe('now 1')
  expect((await agent.post(`/${names[1]}`, {})).text).toBe('now 2')
  const verified = await agent.post('/verify', {
    ...row,
    response: response(functionCall(names[0]!, {}), secret),
  })
  expect(verified.json).toMatchObject({
    reward: 1.5,
    reward_components: { counted: 1, right: 0.5 },
    counted: 1,
    right: 1,
    success: true,
    mask_sample: false,
  })
})

test('a tool that hangs is an error in words, and the episode has no number', async () => {
  const { agent, row } = await open()
  await agent.post('/seed_session', row)
  const hung = await agent.post('/wait', {})
  expect(hung.status).toBeGreaterThanOrEqual(400)
  const { json } = await agent.post('/verify', { ...row, response: response('two') })
  expect(json).toMatchObject({
    mask_sample: true,
    failure_kind: expect.stringMatching(/^quintain:world_/),
    _ng_failure_terminal: false,
  })
  expect(JSON.stringify(json)).not.toContain(secret)
})

test('a world that does not open is a seed that failed, and tells no secret', async () => {
  const { agent, row, core, logged } = await open()
  const failed = await agent.post('/seed_session', {
    ...row,
    verifier_metadata: { quintain: { task: 'closed' } },
  })
  expect(failed.status).toBeGreaterThanOrEqual(500)
  expect(failed.text).not.toContain(secret)
  expect(logged.join('\n')).not.toContain(secret)
  expect(core.stats().open).toBe(0)
})

test('rows and everything that is answered hold no secret, and what is left unfinished is a fault', async () => {
  const { agent, row, core } = await open()
  const said = [JSON.stringify(row)]
  said.push((await agent.post('/seed_session', row)).text)
  said.push((await agent.post('/read', {})).text)
  said.push((await agent.post('/close_session', {})).text)
  expect(said.join('\n')).not.toContain(secret)
  opened.pop()
  await core.close()
  const { states } = await foldRun(join(folder, 'run'))
  expect(states).toHaveLength(1)
  expect(JSON.stringify(states[0])).toContain('session_closed')
})
