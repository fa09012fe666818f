import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type AttemptRecord,
  foldRun,
  readPrivate,
  readTrajectory,
  readVerdict,
  recordSchemas,
  runFiles,
} from '../core/index.ts'
import { importRun } from './import-run.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-import-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const canary = 'GOLD-CANARY-7731'

/** A result as tau-bench writes it. */
function result(
  task: number,
  trial: number | undefined,
  reward: unknown,
  more: Record<string, unknown> = {},
) {
  return {
    task_id: task,
    reward,
    info: {
      task: {
        user_id: 'u',
        actions: [{ name: 'cancel', kwargs: { id: canary } }],
        instruction: canary,
        outputs: [],
      },
      source: 'user',
      user_cost: 0.01,
      reward_info: { reward, info: { r_actions: reward, gt_data_hash: canary }, actions: [] },
    },
    traj: [
      { role: 'system', content: 'Policy.' },
      { role: 'user', content: `Cancel it, ${task}.` },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'cancel', arguments: '{"id":"A-1"}' } }],
      },
      { role: 'tool', tool_call_id: 'c', name: 'cancel', content: 'Error: not yours' },
      { role: 'assistant', content: 'I cannot.' },
      { role: 'user', content: '###STOP###' },
    ],
    ...(trial === undefined ? {} : { trial }),
    ...more,
  }
}

async function imported(
  name: string,
  text: unknown,
  options: { as?: string; policy?: string; name?: string } = {},
) {
  const file = join(root, name)
  await writeFile(file, typeof text === 'string' ? text : JSON.stringify(text))
  const out = join(root, 'run')
  const made = await importRun(file, { out, ...options })
  const { manifest, states, issues } = await foldRun<AttemptRecord>(out)
  expect(issues).toEqual([])
  return { made, manifest, states, out }
}

describe('results of tau-bench', () => {
  test('orders, attempts, trajectories and verdicts, with the original rewards', async () => {
    const { made, manifest, states, out } = await imported('gpt.json', [
      result(10, 0, 1),
      result(2, 0, 0),
      result(2, 1, 1.0000001 - 0.0000001),
      result(10, 1, 0),
    ])
    expect(made).toMatchObject({
      format: 'tau-bench',
      policy: 'imported:gpt',
      orders: 4,
      tasks: 2,
      warnings: [],
    })
    expect(
      states.map(({ order, status, chosen }) => [
        order.id,
        status,
        chosen?.verdict?.reward,
        chosen?.verdict?.success,
      ]),
    ).toEqual([
      ['2#0', 'scored', 0, false],
      ['2#1', 'scored', 1, true],
      ['10#0', 'scored', 1, true],
      ['10#1', 'scored', 0, false],
    ])
    expect(manifest.rubric).toMatch(/^imported:tau-bench: .*\([0-9a-f]{12}\)$/)
    expect(manifest.environment).toMatchObject({ name: 'tau-bench', success: true, reference: 'imported' })
    const attempt = states[0]!.chosen!
    expect(attempt).toMatchObject({
      outcome: 'env_done',
      stop: 'customer_done',
      counts: { turns: 2, toolCalls: 1, toolErrors: { original_error: 1 } },
      costUsd: { agent: null, simulator: 0.01 },
    })
    const trajectory = await readTrajectory(out, attempt)
    expect(recordSchemas.trajectory.parse(trajectory)).toEqual(trajectory)
    expect(trajectory.nodes.map(({ sampled }) => sampled)).toEqual([false, false, true, false, true, false])
    expect(trajectory.calls.map(({ prompt, output, finish }) => [prompt, output, finish])).toEqual([
      [1, 2, 'tool_calls'],
      [3, 4, 'stop'],
    ])
    const verdict = await readVerdict(out, attempt)
    expect(recordSchemas.verdict.parse(verdict)).toEqual(verdict)
    expect(verdict?.components).toMatchObject({
      recorded: { value: 0 },
      r_actions: { kind: 'metric', value: 0 },
    })
    expect((await readPrivate(out, attempt))?.secret).toMatchObject({ instruction: canary })
  })

  test('gold and evidence are in the private records alone', async () => {
    const { out } = await imported('x.json', [result(0, 0, 1)])
    for (const file of await readdir(out)) {
      if (file === 'private') continue
      expect(await readFile(join(out, file), 'utf8'), file).not.toContain(canary)
    }
    expect(await readFile(join(out, runFiles.private), 'utf8')).toContain(canary)
  })

  test('an exception of the original is a fault and no zero; a conversation cut by the step limit is graded', async () => {
    const broken = { ...result(0, 0, 0), info: { error: 'timeout', traceback: '…' }, traj: [] }
    const cut = result(1, 0, 0)
    const { made, states } = await imported('x.json', [
      broken,
      { ...cut, info: { ...cut.info, reward_info: null, user_cost: null } },
    ])
    expect(states.map(({ status, chosen }) => [status, chosen?.outcome, chosen?.fault?.code])).toEqual([
      ['faulted', null, 'original_exception'],
      ['scored', 'turn_limit', undefined],
    ])
    expect(states[1]!.chosen?.costUsd).toEqual({ agent: null, simulator: null })
    expect(made.warnings.join()).toContain('exception')
  })

  test('a trial that a task lacks and others have is an order that ended in a fault', async () => {
    const { made, states } = await imported('x.json', [
      result(0, 0, 1),
      result(0, 1, 1),
      result(1, 0, 1),
      result(1, 1, 0),
      result(2, 1, 1),
    ])
    expect(
      states
        .filter(({ status }) => status === 'faulted')
        .map(({ order, chosen }) => [order.id, chosen?.fault?.code]),
    ).toEqual([['2#0', 'not_in_file']])
    expect(states).toHaveLength(6)
    expect(made.warnings.join()).toContain('trial 0 of task 2')
  })

  test('trial numbers that are no grid are taken as they are', async () => {
    const { states } = await imported('x.json', [result(0, 17, 1), result(1, 4711, 1), result(2, 5, 1)])
    expect(states.map(({ order }) => order.id)).toEqual(['0#17', '1#4711', '2#5'])
  })

  test('two files of the same tasks measure the same thing, and other gold another', async () => {
    const digestOf = async (name: string, results: unknown) => {
      const { manifest, out } = await imported(name, results)
      await rm(out, { recursive: true })
      return [manifest.environment.digest, manifest.rubric]
    }
    const one = await digestOf('a.json', [result(0, 0, 1), result(1, 0, 0)])
    expect(await digestOf('b.json', [result(1, 0, 1), result(0, 0, 1)])).toEqual(one)
    const other = result(0, 0, 1)
    other.info.task.instruction = 'another'
    expect((await digestOf('c.json', [other, result(1, 0, 0)]))[0]).not.toBe(one[0])
  })

  test.each<[string, unknown, RegExp]>([
    [
      'two of one trial',
      [result(3, 0, 1), result(4, 0, 1), result(3, 0, 0)],
      /conversation 1 and conversation 3 are both trial 0 of task "3"/,
    ],
    [
      'a reward that is missing',
      [result(3, 0, 1), result(3, 1, undefined)],
      /conversation 2 \(task 3, trial 1\) has no reward/,
    ],
    ['a reward that is a text', [result(3, 0, '1')], /conversation 1: its reward is "1"/],
    ['a reward out of range', [result(3, 0, 1.5)], /conversation 1: its reward is 1.5/],
    [
      'NaN, as Python writes it',
      `[${JSON.stringify(result(3, 0, 1)).replace('"reward":1', '"reward":NaN')}]`,
      /conversation 1: .*NaN/,
    ],
    ['a trial that is none', [result(3, -1, 1)], /conversation 1: its trial is -1/],
    [
      'a trial number that one lacks',
      [result(3, 0, 1), result(3, undefined, 1)],
      /conversation 2 has no trial number, and conversation 1 has one/,
    ],
    ['another shape', [result(3, 0, 1), { messages: [] }], /conversation 2: it names no task/],
    ['no task', [{ ...result(3, 0, 1), task_id: null }], /conversation 1: it names no task/],
    [
      'a message that is none',
      [{ ...result(3, 0, 1), traj: [{ role: 'x' }] }],
      /conversation 1: traj: message 1 has the role "x"/,
    ],
    ['no messages', [{ ...result(3, 0, 1), traj: [] }], /conversation 1 \(task 3, trial 0\) has no messages/],
    [
      'a file that was cut off',
      JSON.stringify([result(3, 0, 1), result(3, 1, 1)]).slice(0, -40),
      /the end: the file was cut off/,
    ],
    ['an empty array', '[]', /holds no conversation/],
    ['an empty file', '', /is empty/],
  ])('%s is an error that says where, and nothing is written', async (_, text, message) => {
    await expect(imported('x.json', text)).rejects.toMatchObject({
      code: 'import_invalid',
      message: expect.stringMatching(message),
    })
    expect(existsSync(join(root, 'run'))).toBe(false)
    expect(await readdir(root)).toEqual(['x.json'])
  })

  test('a null reward is unscored', async () => {
    const { states, made } = await imported('x.json', [result(0, 0, null)])
    expect(states[0]).toMatchObject({
      status: 'unscored',
      chosen: { verdict: { unscored: { reason: 'no_reward_in_file' } } },
    })
    expect(made.warnings.join()).toContain('unscored, not 0')
  })

  test('a folder that is there, and a format that is not', async () => {
    await imported('x.json', [result(0, 0, 1)])
    await expect(imported('x.json', [result(0, 0, 1)])).rejects.toMatchObject({ code: 'run_exists' })
    await expect(imported('y.json', [], { as: 'tau' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('tau-bench, chat'),
    })
  })
})

describe('chat lines', () => {
  const line = (facts: Record<string, unknown>, question = 'Hello?') =>
    `${JSON.stringify({
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: 'Hi.' },
      ],
      ...facts,
    })}\n`

  test('what a line says is kept: model, sampling, usage, times, and what nobody knows in private', async () => {
    const { made, manifest, states, out } = await imported(
      'chat.jsonl',
      line({
        task_id: 'greet',
        model: 'm-1',
        temperature: 0.5,
        usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
        cost_usd: 0.25,
        metadata: { reward: 0.5, customer: canary, created_at: '2026-01-01T00:00:00Z' },
        end: '2026-01-01T00:00:02Z',
        odd: canary,
        tags: ['vip'],
        tools: [
          {
            type: 'function',
            function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
          },
        ],
      }),
    )
    expect(made.policy).toBe('m-1')
    expect(manifest.seats['agent']).toMatchObject({ policy: 'm-1', sampling: { temperature: 0.5 } })
    // A reward between 0 and 1 does not say what success is.
    expect(manifest.environment.success).toBe(false)
    const { order, chosen } = states[0]!
    expect(order).toMatchObject({ id: 'greet#0', tags: ['vip'] })
    expect(chosen).toMatchObject({
      start: '2026-01-01T00:00:00.000Z',
      timing: { wallMs: 2000 },
      usage: { agent: { fresh: 6, cacheRead: 4, output: 3 } },
      costUsd: { agent: 0.25 },
      verdict: { reward: 0.5, success: null },
    })
    expect((await readTrajectory(out, chosen!)).seats['agent']?.tools).toHaveLength(1)
    const hidden = await readPrivate(out, chosen!)
    expect(hidden?.evidence).toMatchObject({ rest: { odd: canary, metadata: { customer: canary } } })
    for (const file of [runFiles.attempts, runFiles.trajectories, runFiles.orders, runFiles.verdicts]) {
      expect(await readFile(join(out, file), 'utf8')).not.toContain(canary)
    }
  })

  test('without ids, the same question is the same task, numbered as it comes; a bare list is a conversation', async () => {
    const { states } = await imported(
      'chat.jsonl',
      `\ufeff${line({ success: true })}${line({ success: false }, ' hello ')}${line({ success: true }, 'Bye')}`.replaceAll(
        '\n',
        '\r\n',
      ),
    )
    const ids = states.map(({ order }) => order.id)
    expect(ids[0]).toMatch(/^case-[0-9a-f]{8}#0$/)
    expect(ids[1]).toBe(ids[0]!.replace('#0', '#1'))
    expect(new Set(states.map(({ order }) => order.task)).size).toBe(2)
    expect(states.map(({ chosen }) => chosen?.verdict?.reward)).toEqual([1, 0, 1])
  })

  test('no rewards at all: unscored', async () => {
    const { states, manifest } = await imported('chat.json', [[{ role: 'user', content: 'x' }]], {
      policy: 'me',
      name: 'support',
    })
    expect(states.map(({ status }) => status)).toEqual(['unscored'])
    expect(manifest.environment).toMatchObject({ name: 'support', success: false })
    expect(manifest.seats['agent']?.policy).toBe('me')
  })

  test('a file that is one list of messages is one conversation', async () => {
    const { states } = await imported(
      'one.json',
      JSON.stringify(
        [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'y' },
        ],
        null,
        2,
      ),
    )
    expect(states).toHaveLength(1)
    expect(states[0]?.chosen?.counts.turns).toBe(1)
  })

  test('several models are told; some that say whether they succeeded, and some that do not', async () => {
    const { made, manifest } = await imported(
      'chat.jsonl',
      line({ model: 'a', success: true }) + line({ model: 'b', reward: 1 }),
    )
    expect(made.policy).toBe('a and b')
    expect(made.warnings.join('\n')).toMatch(
      /2 models[\s\S]*says nothing of success|says nothing of success[\s\S]*2 models/,
    )
    expect(manifest.environment.success).toBe(false)
  })

  test.each([
    ['a reward that is no number', line({ reward: 'good' }), /line 1: its reward is "good"/],
    ['a success that is none', line({ success: 'yes' }), /line 1: its success is "yes"/],
    [
      'two of one trial',
      line({ task: 'a', trial: 1 }) + line({ task: 'a', trial: 1 }),
      /line 1 and line 2 are both trial 1/,
    ],
    ['a torn last line', `${line({})}{"messages": [`, /line 2: the last line was cut off/],
  ])('%s is an error', async (_, text, message) => {
    await expect(imported('chat.jsonl', text)).rejects.toMatchObject({
      code: 'import_invalid',
      message: expect.stringMatching(message),
    })
    expect(await readdir(root)).toEqual(['chat.jsonl'])
  })
})
