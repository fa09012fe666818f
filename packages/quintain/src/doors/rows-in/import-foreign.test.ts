import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { foldRun, readPrivate, readTrajectory } from '../../core/index.ts'
import { runRows } from '../../rows/index.ts'
import { zipOf } from './__fixtures__/zip.ts'
import { type ForeignFormat, importForeign } from './import-foreign.ts'

const folder = mkdtempSync(join(tmpdir(), 'quintain-foreign-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const gold = 'GOLD-CANARY-8812'
let made = 0

async function imported(
  format: ForeignFormat,
  name: string,
  data: string | Buffer,
  options: { score?: string; strict?: boolean } = {},
) {
  const path = join(folder, name)
  await writeFile(path, data)
  const run = await importForeign(format, path, { out: join(folder, `run-${made++}`), ...options })
  const { states, manifest, issues } = await foldRun(run.dir)
  expect(issues).toEqual([])
  const files = ['run.json', 'orders.jsonl', 'attempts.jsonl', 'trajectories.jsonl', 'verdicts.jsonl']
  const text = files.map((file) => readFileSync(join(run.dir, file), 'utf8')).join('')
  const told = states.map(({ order, status, chosen }) => [order.id, status, chosen?.verdict?.reward ?? null])
  return { run, states, manifest, text, told }
}

const refusal = (promise: Promise<unknown>): Promise<{ code: string; message: string }> =>
  promise.then(
    () => ({ code: 'none', message: '' }),
    (error) => error,
  )
const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

describe('results of verifiers v0', () => {
  const row = (example: number, more: Record<string, unknown> = {}) => ({
    example_id: example,
    prompt: [{ role: 'user', content: 'What?' }],
    completion: [{ role: 'assistant', content: 'That.' }],
    answer: gold,
    info: { note: gold },
    reward: 0.5,
    error: null,
    metrics: { exact: 0.5 },
    stop_condition: 'max_turns_reached',
    token_usage: { input_tokens: 5, output_tokens: 2 },
    ...more,
  })

  test('errors are faults, not the 0.0 beside them; what has no reward is unscored', async () => {
    const bad = { error: 'SandboxError', message: gold, error_chain_repr: gold }
    const { told, states, run, text } = await imported(
      'verifiers',
      'results.jsonl',
      lines(row(0), row(0, { reward: 0 }), row(1, { reward: 0, error: bad }), row(2, { reward: null })),
    )
    expect(told).toEqual([
      ['0#0', 'scored', 0.5],
      ['0#1', 'scored', 0],
      ['1#0', 'faulted', null],
      ['2#0', 'unscored', null],
    ])
    expect(states[2]!.chosen!.fault).toMatchObject({ owner: 'sandbox', code: 'original_error' })
    expect(states[0]!.chosen).toMatchObject({
      outcome: 'completed',
      usage: { agent: { fresh: 5, output: 2 } },
    })
    expect(run.warnings.join('\n')).toMatch(/raises.*may be an error of the grader/)
    expect(text).not.toContain(gold)
    const hidden = await readPrivate(run.dir, states[0]!.chosen!)
    expect(hidden?.secret).toEqual({ answer: gold, info: { note: gold } })
  })

  test('the metadata beside them say environment, model, settings and what success is', async () => {
    await writeFile(
      join(folder, 'metadata.json'),
      '{"env_id": "sums", "model": "m", "sampling_args": {"temperature": 1}, "pass_threshold": 0.5, "avg_reward": NaN}',
    )
    const { manifest, states } = await imported(
      'verifiers',
      'results.jsonl',
      lines(row(0), row(1, { reward: 0.2 })),
    )
    rmSync(join(folder, 'metadata.json'))
    expect(manifest.environment).toMatchObject({ name: 'sums', success: true, metrics: ['exact'] })
    expect(manifest.seats['agent']).toMatchObject({ policy: 'm', sampling: { temperature: 1 } })
    expect(states.map(({ chosen }) => chosen!.verdict!.success)).toEqual([true, false])
  })

  test('NaN is no reward; what cannot be read is left out, line by line, or refused when asked', async () => {
    const text =
      `${JSON.stringify(row(0)).replace('"reward":0.5', '"reward":NaN')}\n` +
      `{"example_id": 1, "comp\n${lines(row(2), { something: 'else' }, row(3, { reward: '1' }), row(4, { completion: [7] }))}` +
      `{"example_id": 5, "prompt`
    const { told, run } = await imported('verifiers', 'results.jsonl', text)
    expect(told).toEqual([
      ['0#0', 'unscored', null],
      ['2#0', 'scored', 0.5],
    ])
    expect(run.dropped.map((line) => line.split(':')[0])).toEqual([
      'line 2',
      'line 4',
      'line 5',
      'line 6',
      'line 7',
    ])
    expect(await refusal(imported('verifiers', 'results.jsonl', text, { strict: true }))).toMatchObject({
      code: 'import_invalid',
      message: expect.stringContaining('line 2'),
    })
    expect(await refusal(imported('verifiers', 'results.jsonl', 'no\njson\n'))).toMatchObject({
      code: 'import_invalid',
    })
  })

  test('its rows are rows like any others', async () => {
    const { run } = await imported('verifiers', 'results.jsonl', lines(row(0)))
    expect((await runRows(run.dir, { textOnly: true })).rows['text-only']).toBe(1)
  })
})

describe('traces of verifiers v1', () => {
  const task = { type: 'T', key: 'sum-1', data: { idx: 0, name: 'sum-1', answer: gold } }
  const nodes = [
    { message: { role: 'system', content: 'Add.' }, sampled: false },
    { parent: 0, message: { role: 'user', content: '1 + 1?' }, sampled: false },
    {
      parent: 1,
      message: { role: 'assistant', content: null, tool_calls: [{ id: 'c', name: 'add', arguments: '{}' }] },
      sampled: true,
    },
    { parent: 2, message: { role: 'tool', tool_call_id: 'c', content: '2' }, sampled: false },
    { parent: 3, message: { role: 'assistant', content: '2' }, sampled: true },
    { parent: 1, message: { role: 'assistant', content: 'a title' }, sampled: true },
  ]
  const trace = {
    version: 1,
    task,
    agent: { config: { model: 'm', sampling: { temperature: 1 } }, name: 'agent' },
    tools: [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }],
    nodes,
    calls: [{ node: 2, usage: { prompt_tokens: 5, completion_tokens: 2, cached_input_tokens: 3 } }],
    rewards: { right: { score: 1, weight: 0.5 }, short: { score: 0.5, weight: 1 } },
    metrics: { turns: 2 },
    ok: true,
    errors: [],
    stop_condition: 'max_output_tokens',
  }
  const episode = (...traces: unknown[]) => ({ env: { id: 'sums' }, task, ok: true, errors: [], traces })

  test('the sum of weighted scores is the reward, the longest branch the conversation', async () => {
    const { told, states, manifest, run, text } = await imported(
      'verifiers',
      't.jsonl',
      lines(episode(trace)),
    )
    expect(told).toEqual([['sum-1#0', 'scored', 1]])
    expect(manifest.environment).toMatchObject({ name: 'sums', metrics: ['right', 'short', 'turns'] })
    expect(states[0]!.chosen).toMatchObject({
      outcome: 'token_limit',
      usage: { agent: { fresh: 5, cacheRead: 3, output: 2 } },
      verdict: { metrics: { right: 1, short: 0.5, turns: 2 } },
    })
    const trajectory = await readTrajectory(run.dir, states[0]!.chosen!)
    expect(trajectory.nodes.map(({ message, sampled }) => [message.role, sampled])).toEqual([
      ['system', false],
      ['user', false],
      ['assistant', true],
      ['tool', false],
      ['assistant', true],
    ])
    expect(trajectory.seats['agent']!.tools).toEqual(trace.tools)
    expect(text).not.toContain(gold)
  })

  test('the shapes of before are known by what they have: bare traces, plain contributions, usage on nodes', async () => {
    const { agent: _, calls: __, ok: ___, ...bare } = trace
    const used = nodes.map((node) => ({
      ...node,
      usage: node.sampled ? { prompt_tokens: 1, completion_tokens: 1 } : null,
    }))
    const old = { ...bare, nodes: used, rewards: { right: 0.5, short: 0.25 } }
    const broken = {
      ...old,
      errors: [{ type: 'ProviderError', message: gold }],
      stop_condition: 'error',
      rewards: {},
    }
    const { told, states, text } = await imported('verifiers', 't.jsonl', lines(old, broken))
    expect(told).toEqual([
      ['sum-1#0', 'scored', 0.75],
      ['sum-1#1', 'faulted', null],
    ])
    expect(states[0]!.chosen!.usage.agent).toMatchObject({ fresh: 3, output: 3 })
    expect(states[1]!.chosen!.fault).toMatchObject({ owner: 'provider' })
    expect(text).not.toContain(gold)
  })

  test('a reward that is null is no sum, none at all is none, and what failed is a fault whatever it was given', async () => {
    const { told } = await imported(
      'verifiers',
      't.jsonl',
      lines(
        episode({ ...trace, rewards: { right: { score: 1, weight: 1 }, judge: null } }),
        episode({ ...trace, rewards: {} }),
        episode({ ...trace, ok: false, errors: [{ type: 'HarnessError' }] }),
        episode(),
        episode({ ...trace, agent: { name: 'a' } }, { ...trace, agent: { name: 'b' } }),
      ),
    )
    expect(told).toEqual([
      ['sum-1#0', 'unscored', null],
      ['sum-1#1', 'unscored', null],
      ['sum-1#2', 'faulted', null],
      ['sum-1#3', 'faulted', null],
      ['sum-1/a#0', 'scored', 1],
      ['sum-1/b#0', 'scored', 1],
    ])
  })

  test('a graph that is none is left out and ends', async () => {
    const loop = [
      { parent: 1, message: nodes[0]!.message },
      { parent: 0, message: nodes[1]!.message },
    ]
    const bad = [loop, [{ parent: 0 }], [7], 'nodes', [{ parent: -2, message: nodes[0]!.message }]]
    const { run } = await imported(
      'verifiers',
      't.jsonl',
      lines(episode(trace), ...bad.map((given) => episode({ ...trace, nodes: given }))),
    )
    expect(run.dropped).toHaveLength(bad.length)
  })
})

describe('logs of Inspect', () => {
  const messages = [
    { role: 'system', content: 'Add.' },
    { role: 'user', content: 'attachment://abc', source: 'input' },
    { role: 'assistant', content: 'Like this: 3.', source: 'input' },
    {
      role: 'assistant',
      source: 'generate',
      content: [
        { type: 'reasoning', reasoning: 'I add.' },
        { type: 'text', text: 'Adding.' },
      ],
      tool_calls: [{ id: 'c', function: 'add', arguments: { x: 1 }, type: 'function' }],
    },
    {
      role: 'tool',
      tool_call_id: 'c',
      function: 'add',
      content: 'no',
      error: { type: 'parsing', message: 'x' },
    },
    { role: 'assistant', source: 'generate', content: '2' },
  ]
  const sample = (id: string | number, epoch: number, more: Record<string, unknown> = {}) => ({
    id,
    epoch,
    messages,
    target: gold,
    metadata: { note: gold },
    attachments: { abc: '1 + 1?' },
    scores: { includes: { value: 0.25 }, match: { value: 'C', answer: '2' } },
    model_usage: { 'mock/m': { input_tokens: 5, output_tokens: 2, input_tokens_cache_read: 1 } },
    ...more,
  })
  const facts = {
    version: 2,
    status: 'success',
    plan: {},
    eval: {
      task: 'sums',
      model: 'mock/m',
      model_generate_config: { temperature: 1 },
      scorers: [{ name: 'match' }, { name: 'includes' }],
      dataset: { sample_ids: ['a', 'b'] },
      config: { epochs: 2 },
    },
  }
  const log = (...samples: unknown[]) => JSON.stringify({ ...facts, samples })
  const evalLog = (...samples: { id: unknown; epoch: unknown }[]) =>
    zipOf([
      { name: '_journal/start.json', data: '{"version": 2}' },
      { name: '../../etc/samples/evil.json', data: '{}' },
      ...samples.map((one) => ({
        name: `samples/${String(one.id)}_epoch_${String(one.epoch)}.json`,
        data: JSON.stringify(one),
        method: 93 as const,
      })),
      { name: 'header.json', data: JSON.stringify(facts) },
    ])
  const all = [
    sample('a', 1),
    sample('a', 2, { scores: { match: { value: 'I' } } }),
    sample('b', 1),
    sample('b', 2),
  ]

  test('samples are attempts, in both forms alike; the first scorer gives the reward', async () => {
    for (const [name, data] of [
      ['log.json', log(...all)],
      ['log.eval', evalLog(...all)],
    ] as const) {
      const { told, states, manifest, run, text } = await imported('inspect', name, data)
      expect(told).toEqual([
        ['a#0', 'scored', 1],
        ['a#1', 'scored', 0],
        ['b#0', 'scored', 1],
        ['b#1', 'scored', 1],
      ])
      expect(manifest.environment).toMatchObject({ name: 'sums', success: true, metrics: ['includes'] })
      expect(states[0]!.chosen).toMatchObject({
        usage: { agent: { fresh: 5, cacheRead: 1, output: 2 } },
        verdict: { success: true, metrics: { includes: 0.25 } },
        counts: { toolErrors: { original_error: 1 } },
      })
      const { nodes } = await readTrajectory(run.dir, states[0]!.chosen!)
      expect(nodes.map(({ sampled }) => sampled)).toEqual([false, false, false, true, false, true])
      expect(nodes[1]!.message.content).toBe('1 + 1?')
      expect(nodes[3]!.message).toMatchObject({
        content: 'Adding.',
        reasoning: 'I add.',
        toolCalls: [{ id: 'c', name: 'add', arguments: '{"x":1}' }],
      })
      expect(text).not.toContain(gold)
    }
  })

  test('what was planned and is not there is an order that failed, and an error is no score', async () => {
    const broken = sample('a', 2, { error: { message: `ValueError('${gold}')` } })
    const odd = sample('b', 1, { error: { message: `${gold} is wrong` }, scores: {} })
    const { told, states, text } = await imported('inspect', 'l.eval', evalLog(sample('a', 1), broken, odd))
    expect(told).toEqual([
      ['a#0', 'scored', 1],
      ['a#1', 'faulted', null],
      ['b#0', 'faulted', null],
      ['b#1', 'faulted', null],
    ])
    expect(states[3]!.chosen!.fault).toMatchObject({ code: 'not_in_file' })
    expect(text).not.toContain(gold)
  })

  test('grades and numbers are read as Inspect does, and another score may be the reward', async () => {
    const values = ['P', 'N', true, '0.5', { x: 1 }, null, 'words', 0.125]
    const samples = values.map((value, at) => sample(at, 1, { scores: { match: { value } } }))
    const { told } = await imported('inspect', 'l.json', log(...samples))
    const first = told.filter(([id]) => /^\d#0/.test(String(id)))
    expect(first.map(([, , reward]) => reward)).toEqual([0.5, 0, 1, 0.5, 1, null, null, 0.125])
    const named = await imported('inspect', 'l.json', log(...all.slice(0, 1)), { score: 'includes' })
    expect(named.told[0]).toEqual(['a#0', 'scored', 0.25])
    expect(await refusal(imported('inspect', 'l.json', log(all[0]), { score: 'none' }))).toMatchObject({
      code: 'import_invalid',
      message: expect.stringContaining('match, includes'),
    })
  })

  test('a limit is an end of the agent and is scored', async () => {
    const { states } = await imported(
      'inspect',
      'l.json',
      log(
        sample('a', 1, { limit: { type: 'message', limit: 3 } }),
        sample('a', 2, { limit: { type: 'time' } }),
      ),
    )
    expect(states.slice(0, 2).map(({ chosen }) => [chosen!.outcome, chosen!.verdict!.reward])).toEqual([
      ['turn_limit', 1],
      ['wall_limit', 1],
    ])
  })

  test('a sample twice counts once, and what is damaged is told', async () => {
    const zip = zipOf([
      { name: 'samples/a_epoch_1.json', data: JSON.stringify(sample('a', 1)) },
      { name: 'samples/again.json', data: JSON.stringify(sample('a', 1)) },
      { name: 'samples/bad.json', data: '{', claim: { crc: 5 } },
      { name: 'samples/deep.json', data: '['.repeat(5000) },
      { name: 'header.json', data: JSON.stringify({ ...facts, eval: { ...facts.eval, dataset: {} } }) },
    ])
    const { told, run } = await imported('inspect', 'l.eval', zip)
    expect(told).toEqual([['a#0', 'scored', 1]])
    expect(run.dropped.map((line) => line.split(':')[0])).toEqual(['again', 'bad', 'deep'])
  })

  test('JSON lines are called what they are, and a log that was cut off too', async () => {
    const line = JSON.stringify({ prompt: [], completion: [], reward: 1 })
    expect(await refusal(imported('inspect', 'l.json', `${line}\n${line}\n`))).toMatchObject({
      code: 'import_invalid',
      message: expect.stringMatching(/it is JSON lines, .*quintain import verifiers/),
    })
    const whole = JSON.stringify(JSON.parse(log(all[0])), null, 2)
    expect(await refusal(imported('inspect', 'l.json', whole.slice(0, -40)))).toMatchObject({
      message: expect.stringContaining('it was cut off or is damaged'),
    })
  })

  test('what is no log is refused', async () => {
    for (const data of [
      '{}',
      '[1]',
      'x',
      zipOf([{ name: 'a', data: 'b' }]),
      evalLog(all[0]!).subarray(0, 500),
    ])
      expect(await refusal(imported('inspect', 'l.eval', data))).toMatchObject({ code: 'import_invalid' })
  })
})

describe('chat lines', () => {
  test('are a run with rewards or without, and what is wrong is told by line', async () => {
    const line = (more: object) => ({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
      ...more,
    })
    const text = lines(line({ task: 'a', reward: 1 }), line({ task: 'b' }), line({ reward: 'high' }), {
      no: 1,
    })
    const { told, run } = await imported('chat', 'c.jsonl', text)
    expect(told).toEqual([
      ['a#0', 'scored', 1],
      ['b#0', 'unscored', null],
    ])
    expect(run.dropped.map((one) => one.split(':')[0])).toEqual(['line 3', 'line 4'])
  })
})

test('whatever a file holds, a run comes of it or a refusal with a code', async () => {
  const keys = [
    'example_id',
    'prompt',
    'completion',
    'reward',
    'error',
    'traces',
    'nodes',
    'task',
    'messages',
    'role',
  ]
  const tree = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 0, -1, Number.MAX_VALUE, 'user', 'assistant', '', 'a'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 5 }),
    ),
  })).value
  await fc.assert(
    fc.asyncProperty(fc.array(tree, { minLength: 1, maxLength: 4 }), async (values) => {
      for (const format of ['verifiers', 'chat'] as const) {
        const found = await refusal(imported(format, 'any.jsonl', lines(...values)))
        expect(['none', 'import_invalid']).toContain(found.code)
      }
    }),
    { numRuns: 40 },
  )
})
