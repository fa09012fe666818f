import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environment, foldRun, readTrajectory } from './core/index.ts'
import { temporaryFolder } from './engine/__fixtures__/recorded.ts'
import { evaluate } from './evaluate.ts'
import type { AgentTurn } from './harness/index.ts'
import { type FakeBehaviour, startFakeModel } from './models/fake-server.ts'
import { chatModelFromEnv } from './models/index.ts'

const env = environment({
  tasks: [{ id: 'a', prompt: 'go' }],
  rewards: { heard: ({ transcript }) => Number(transcript.answer === 'ok') },
  success: ({ rewards }) => rewards.heard === 1,
})
const error = {
  message: "Invalid value: 'banana' (key-of-the-run).",
  type: 'invalid_request_error',
  param: 'tools',
}
const refusal: FakeBehaviour = { kind: 'status', status: 400, body: { error } }

async function ask({ model }: AgentTurn, path: string, body: object) {
  const reply = await model.fetch(`${model.baseURL}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${model.apiKey}` },
    body: JSON.stringify({ model: 'any', ...body }),
  })
  return {
    status: reply.status,
    retry: reply.headers.get('x-should-retry'),
    body: (await reply.json()) as unknown,
  }
}
const messages = [{ role: 'user', content: 'go' }]

async function play(script: readonly FakeBehaviour[], agent: (turn: AgentTurn) => Promise<string>) {
  const fake = await startFakeModel({ script })
  const keys = { OPENAI_BASE_URL: fake.url, OPENAI_API_KEY: 'key-of-the-run' }
  const model = chatModelFromEnv('m', { env: keys })
  const dir = join(await temporaryFolder(), 'run')
  await evaluate(env, { agent, model, dir, maxTries: 1 })
  const [state] = (await foldRun(dir)).states
  const attempt = state!.chosen!
  await model.close?.()
  await fake.close()
  return { attempt, trajectory: await readTrajectory(dir, attempt) }
}

test("a body that its provider refuses is the agent's to see and to mend, and no fault of the attempt", async () => {
  const seen: unknown[] = []
  const { attempt, trajectory } = await play([refusal], async (turn) => {
    seen.push(await ask(turn, '/chat/completions', { messages, bananas: 1 }))
    const { body } = await ask(turn, '/chat/completions', { messages })
    return (body as { choices: { message: { content: string } }[] }).choices[0]!.message.content
  })
  expect(seen).toEqual([
    {
      status: 400,
      retry: 'false',
      body: { error: { ...error, message: "Invalid value: 'banana' (***)." } },
    },
  ])
  expect(attempt).toMatchObject({
    outcome: 'completed',
    fault: null,
    verdict: { success: true },
    counts: { turns: 1 },
  })
  expect(trajectory.calls.map(({ fault, output }) => [fault?.code, output >= 0])).toEqual([
    ['bad_request', false],
    [undefined, true],
  ])
  expect(JSON.stringify(trajectory)).not.toContain('key-of-the-run')
})

test('a refusal that is no JSON, as of a proxy, keeps its status', async () => {
  const page: FakeBehaviour = { kind: 'html', status: 400 }
  const seen: { status: number; body: unknown }[] = []
  const { attempt } = await play([page, page], async (turn) => {
    seen.push(await ask(turn, '/chat/completions', { messages, bananas: 1 }))
    seen.push(await ask(turn, '/messages', { messages, max_tokens: 5 }))
    const { body } = await ask(turn, '/chat/completions', { messages })
    return (body as { choices: { message: { content: string } }[] }).choices[0]!.message.content
  })
  expect(seen).toMatchObject([
    { status: 400, body: { error: { code: 'bad_request' } } },
    { status: 400, body: { type: 'error' } },
  ])
  expect(attempt).toMatchObject({ outcome: 'completed', fault: null })
})

test('where nothing else was answered, it is a fault: the agent and the endpoint may not go together', async () => {
  const { attempt } = await play([refusal, refusal], async (turn) => {
    await ask(turn, '/chat/completions', { messages })
    return 'I give up'
  })
  expect(attempt).toMatchObject({
    outcome: null,
    fault: { owner: 'provider', code: 'bad_request', retryable: false },
  })
})

test("a body that was translated from the agent's protocol is told in that protocol, and is the agent's to mend, too", async () => {
  const seen: { status: number; body: unknown }[] = []
  const { attempt } = await play([refusal, refusal], async (turn) => {
    seen.push(await ask(turn, '/responses', { input: 'go', temperature: 5 }))
    seen.push(await ask(turn, '/messages', { messages, max_tokens: 5, temperature: 5 }))
    const { body } = await ask(turn, '/chat/completions', { messages })
    return (body as { choices: { message: { content: string } }[] }).choices[0]!.message.content
  })
  expect(seen).toMatchObject([
    { status: 400, body: { error: { code: 'bad_request', message: expect.stringContaining('banana') } } },
    {
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('banana') },
      },
    },
  ])
  expect(JSON.stringify(seen)).not.toContain('key-of-the-run')
  expect(attempt).toMatchObject({ outcome: 'completed', fault: null, verdict: { success: true } })
})
