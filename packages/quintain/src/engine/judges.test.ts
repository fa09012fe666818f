import { expect, test } from 'vitest'
import { environment, ModelFault, type Usage } from '../core/index.ts'
import { packageOf } from './__fixtures__/package-of.ts'
import { filesOf, modelThat, pause, recorded, resumed } from './__fixtures__/recorded.ts'

const asked = () =>
  packageOf(`export default environment({
  tasks: [{ id: 'poem', prompt: 'Write a poem.', secret: { wanted: 'roses-of-gold' } }],
  judges: ['gpt-4o'],
  rewards: {
    good: async ({ task, transcript, judge }) => {
      const reply = await judge('gpt-4o', {
        messages: [{ role: 'user', content: 'Is ' + transcript.answer + ' about ' + task.secret.wanted + '?' }],
        sampling: { temperature: 0 },
        output: { name: 'verdict', schema: { type: 'object' }, strict: true },
      })
      return Number(reply.text)
    },
  },
})`)

const usage: Usage = { fresh: 10, cacheRead: 0, cacheWrite: 0, output: 2 }
const poet = modelThat(() => 'roses')

test('a grader in a worker asks the model that stands for its judge, which is billed and kept apart', async () => {
  const requests: unknown[] = []
  const judge = modelThat((request) => {
    requests.push(request)
    return { message: { role: 'assistant', content: '0.25' }, usage, costUsd: 0.5 }
  }, 'judge-model')
  const run = await recorded(await asked(), { model: poet }, { judges: { 'gpt-4o': judge }, workers: 1 })
  expect(run.only.verdict?.reward).toBe(0.25)
  expect(run.only.usage.judge).toEqual(usage)
  expect(run.only.costUsd).toEqual({ agent: 0, judge: 0.5 })
  expect(run.end.manifest.judges).toEqual({ 'gpt-4o': { policy: 'judge-model' } })
  expect(requests).toMatchObject([
    {
      messages: [{ role: 'user', content: 'Is roses about roses-of-gold?' }],
      sampling: { temperature: 0 },
      wire: { settings: { responseFormat: { type: 'schema', name: 'verdict', strict: true } } },
    },
  ])
  expect((await run.hidden())?.evidence).toMatchObject({
    judgeCalls: [{ judge: 'gpt-4o', reply: { text: '0.25' } }],
  })
  for (const text of (await filesOf(run.dir, 'publishable')).values())
    expect(text).not.toContain('roses-of-gold')
})

test('one model can stand for every judge', async () => {
  const run = await recorded(
    await asked(),
    { model: poet },
    { judges: { '*': modelThat(() => '1', 'any') }, workers: 1 },
  )
  expect(run.only.verdict?.reward).toBe(1)
  expect(run.end.manifest.judges).toEqual({ 'gpt-4o': { policy: 'any' } })
})

test('a judge that fails is a fault of the judge: the agent keeps how it ended, and nobody gets a zero', async () => {
  const judge = modelThat(() => {
    throw new ModelFault({
      owner: 'provider',
      stage: 'model',
      code: 'overloaded',
      message: 'busy',
      retryable: false,
    })
  })
  const run = await recorded(await asked(), { model: poet }, { judges: { '*': judge }, workers: 1 })
  expect(run.only).toMatchObject({
    outcome: 'completed',
    verdict: null,
    fault: { owner: 'judge', stage: 'grade', code: 'overloaded' },
  })
})

test("what a judge has to wait for is not the grading's own time", async () => {
  const judge = modelThat(async (_request, { onWait }) => {
    onWait?.(true, 'queue')
    await pause(400)
    onWait?.(false)
    return '1'
  })
  const run = await recorded(
    await asked(),
    { model: poet },
    { judges: { '*': judge }, workers: 1, limits: { grade: 200 } },
  )
  expect(run.only.verdict?.reward).toBe(1)
})

test('an environment with judges does not run before somebody says which models they are', async () => {
  const entry = await asked()
  await expect(recorded(entry, { model: poet }, { workers: 1 })).rejects.toMatchObject({
    code: 'needs_unmet',
    message: expect.stringContaining('--judge gpt-4o=MODEL'),
  })
  const judges = { 'gpt-40': modelThat(() => '1') }
  await expect(recorded(entry, { model: poet }, { judges, workers: 1 })).rejects.toMatchObject({
    code: 'policy_unknown',
    message: expect.stringContaining('gpt-4o'),
  })
})

test('a run is not finished by another judge', async () => {
  const first = modelThat(() => '1', 'first')
  const run = await recorded(await asked(), { model: poet }, { judges: { '*': first }, workers: 1 })
  const players = { agent: { model: poet } }
  await expect(resumed(run, { players })).rejects.toMatchObject({ code: 'policy_unknown' })
  const second = { 'gpt-4o': modelThat(() => '1', 'second') }
  await expect(resumed(run, { players, judges: second })).rejects.toMatchObject({ code: 'run_mismatch' })
  const more = await resumed(run, { players, judges: { 'gpt-4o': first }, repeats: 2 })
  expect(more.states.map(({ chosen }) => chosen?.verdict?.reward)).toEqual([1, 1])
})

test('a name that is no judge of the environment is refused, with the nearest', async () => {
  const env = environment({
    tasks: [{ id: 'a' }],
    judges: ['strict'],
    rewards: { good: async ({ judge }) => Number((await judge('stict', { messages: [] })).text) },
  })
  const run = await recorded(env, { policy: 'script:noop' }, { judges: { '*': modelThat(() => '1') } })
  expect(run.only.fault).toMatchObject({ owner: 'grader' })
  expect(JSON.stringify(await run.hidden())).toContain('strict')
  expect(() => environment({ tasks: [], judges: ['a=b'], rewards: { good: () => 1 } })).toThrow('judge')
})

test('an environment says in which form its agent is to answer', async () => {
  const seen: unknown[] = []
  const env = environment({
    tasks: [{ id: 'a', prompt: 'Say 1.' }],
    output: { type: 'schema', name: 'answer', schema: { type: 'object' }, strict: true },
    rewards: { good: () => 1 },
  })
  const model = modelThat((request) => {
    seen.push(request.wire?.settings.responseFormat, request.wire?.body)
    return '{}'
  })
  await recorded(env, { model }, { sampling: { temperature: 0.5 } })
  expect(seen).toMatchObject([
    { type: 'schema', name: 'answer' },
    {
      messages: [{ role: 'user', content: 'Say 1.' }],
      temperature: 0.5,
      response_format: { type: 'json_schema' },
    },
  ])
})
