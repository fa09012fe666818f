import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environment, type Harness, Journal, type ManifestRecord, textOf } from './core/index.ts'
import { modelThat, temporaryFolder } from './engine/__fixtures__/recorded.ts'
import { locateEnvironment } from './engine/locate.ts'
import { startRun } from './engine/run.ts'
import { evaluate, resume } from './evaluate.ts'
import { startFakeModel } from './models/fake-server.ts'
import { chatModelFromEnv } from './models/index.ts'

let asked = 0
const env = environment({ tasks: [{ id: 'a', prompt: 'go' }], rewards: { one: () => 1 } })
const agent = () => {
  asked++
  return 'hi'
}
const program: Harness = {
  name: 'program@1',
  carries: { turns: true, tools: true, images: true },
  runs: 'outside',
  async run({ model, messages }) {
    const { message } = await model.generate({ messages })
    return { outcome: 'completed', answer: `it says ${textOf(message.content)}` }
  },
}
const code = (value: string) => expect.objectContaining({ code: value })

describe('evaluate() refuses what no run can be made of, before anything runs', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['maxTries without end', { maxTries: Number.POSITIVE_INFINITY }, 'maxTries is Infinity'],
    ['maxTries of none', { maxTries: 0 }, 'whole number from 1'],
    ['concurrency in parts', { concurrency: 1.5 }, 'concurrency is 1.5'],
    ['a million workers', { workers: 1_000_000 }, 'workers is 1000000'],
    ['a grace of no length', { graceMs: Number.NaN }, 'graceMs is NaN'],
    ['a cap that is no number', { maxCostUsd: '5' }, 'maxCostUsd is "5"'],
    ['an agent that is no function', { agent: 'hello' }, 'agent is no function'],
    ['an agent that is no harness', { agent: { name: 'x' } }, 'agent.run'],
    ['a harness that runs elsewhere', { agent: { ...program, runs: 'elsewhere' } }, 'agent.runs'],
    ['nobody', { agent: undefined }, 'Say who plays'],
    ['two that answer', { model: 'm', policy: 'script:noop' }, 'not both'],
    ['two harnesses', { harness: program }, 'not both'],
    ['a model that is none', { agent: undefined, model: {} }, 'neither text nor a model'],
    ['a policy that is no text', { agent: undefined, policy: 5 }, 'policy is no text'],
    ['tasks that are neither', { tasks: 'a' }, 'tasks is "a"'],
    ['ids that are no text', { tasks: [1] }, 'tasks is a list'],
    ['repeats of none', { repeats: 0 }, 'repeats is 0'],
    ['a folder without a name', { dir: '' }, 'dir is ""'],
    ['a coverage beyond all', { minCoverage: 1.5 }, 'minCoverage is 1.5'],
    ['a coverage that is no number', { minCoverage: Number.NaN }, 'minCoverage is NaN'],
    ['a slip in sampling', { sampling: { temprature: 0 } }, 'did you mean "temperature"?'],
    ['an isolation that is none', { isolation: 'docker' }, 'isolation is "docker"'],
    ['options that are no object', { options: [] }, 'options is a list'],
    ['a signal that is none', { signal: {} }, 'signal is an object'],
    ['a harness without a name', { harness: { run: agent, carries: {} } }, 'harness.name'],
    ['seats that are no object', { seats: [] }, 'seats is no object'],
  ])('%s', async (_name, options, words) => {
    asked = 0
    const run = evaluate(env, { agent, ...options } as never)
    await expect(run).rejects.toThrow(words)
    await expect(run).rejects.toThrow(code('usage'))
    expect(asked).toBe(0)
  })

  test('no options, no environment, limits that are none', async () => {
    await expect(evaluate(env, undefined as never)).rejects.toThrow(code('usage'))
    await expect(evaluate({} as never, { agent })).rejects.toThrow(code('usage'))
    await expect(evaluate(env, { agent, limits: 5 as never })).rejects.toThrow(code('limits_invalid'))
    await expect(resume(undefined as never)).rejects.toThrow(code('usage'))
  })

  test('what only code can pass wrong is refused there too', async () => {
    await expect(
      startRun({ env, seats: { agent: { agent } }, maxTries: Number.POSITIVE_INFINITY }),
    ).rejects.toThrow(code('usage'))
  })
})

test('a manifest that could not be read again is refused, and nothing is written', async () => {
  const dir = await temporaryFolder()
  const manifest = { schema: 'quintain.run', v: 1, maxTries: Number.POSITIVE_INFINITY } as ManifestRecord
  await expect(Journal.create(join(dir, 'run'), manifest)).rejects.toThrow(code('usage'))
  expect(await readdir(dir)).toEqual([])
})

test.each([
  ['version', { version: 1 }],
  ['quintain.contract', { quintain: { contract: '1' } }],
  ['quintain.source', { quintain: { source: ['index.ts'] } }],
])('a package.json whose %s is of the wrong type is refused by its name', async (field, wrong) => {
  const dir = await temporaryFolder()
  await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'x', main: 'index.js', ...wrong }))
  await writeFile(join(dir, 'index.js'), '')
  await expect(locateEnvironment(dir)).rejects.toThrow(field)
})

test('what the code of tasks throws is told by kind and place, since its text may quote a task', async () => {
  const quoting = environment({
    tasks: () => {
      throw new TypeError('cannot read gold quokka')
    },
    rewards: { one: () => 1 },
  })
  const thrown = await evaluate(quoting, { agent }).catch((error: unknown) => error as Error)
  expect(thrown).toMatchObject({ code: 'tasks_invalid', cause: { message: 'cannot read gold quokka' } })
  expect((thrown as Error).message).toMatch(/TypeError \(.*evaluate\.test\.ts:\d+:\d+\)/)
  expect((thrown as Error).message).not.toContain('quokka')
})

test('an agent plays with a model behind it, and goes on with the same', async () => {
  const sums = environment({
    tasks: ['a', 'b'].map((id) => ({ id, prompt: id })),
    rewards: { heard: ({ transcript }) => Number(transcript.answer === 'it says hm') },
    success: ({ rewards }) => rewards.heard === 1,
  })
  const model = modelThat(() => 'hm')
  const dir = join(await temporaryFolder(), 'run')
  const run = await evaluate(sums, { agent: program, model, tasks: 1, dir })
  expect(run.success.value).toBe(1)
  expect(run.manifest.seats['agent']).toEqual({ policy: 'fake', harness: 'program@1' })
  await expect(resume(dir, { env: sums, tasks: 2 })).rejects.toThrow(code('policy_unknown'))
  await expect(resume(dir, { env: sums, tasks: 2, model })).rejects.toThrow(code('policy_unknown'))
  await expect(resume(dir, { env: sums, tasks: 2, agent, model })).rejects.toThrow(code('run_mismatch'))
  const more = await resume(dir, { env: sums, tasks: 2, agent: program, model })
  expect([more.success.value, more.summary.orders]).toEqual([1, 2])
})

test('a run of a model of another protocol is gone on with where it was asked', async () => {
  const reply = { type: 'message', role: 'assistant', id: 'm1', content: [{ type: 'text', text: 'hi' }] }
  const fake = await startFakeModel({
    otherwise: { kind: 'ok', body: { ...reply, stop_reason: 'end_turn' } },
  })
  const two = environment({
    tasks: ['a', 'b'].map((id) => ({ id, prompt: id })),
    rewards: { heard: ({ transcript }) => Number(transcript.answer === 'hi') },
  })
  const dir = join(await temporaryFolder(), 'run')
  const model = chatModelFromEnv('anthropic:m', { env: {}, baseUrl: fake.url })
  await evaluate(two, { model, tasks: 1, dir })
  const more = await resume(dir, { env: two, tasks: 2 })
  expect([more.reward.value, more.summary.orders, fake.requests.length]).toEqual([1, 2, 2])
  await model.close?.()
  await fake.close()
})
