import { describe, expect, onTestFinished, test } from 'vitest'
import type { FakeOptions } from '../session/__fixtures__/fake-core.ts'
import { openServed } from './__fixtures__/serve.ts'

const serve = (options: FakeOptions) => openServed(onTestFinished, options)

describe('an episode of an environment that answers', () => {
  test('begins with the prompt in both places and ends with one reward', async () => {
    const client = (await serve({ kind: 'game' })).connect()
    const begun = await client.reset({ split: 'train', index: 1 })
    expect(begun.type).toBe('observation')
    expect(begun.data.reward).toBeNull()
    expect(begun.data.done).toBe(false)
    expect(begun.data.observation['prompt']).toBe('You are tested.\n\nQuestion train-1?')
    expect(begun.data.observation['metadata']).toMatchObject({
      prompt: 'You are tested.\n\nQuestion train-1?',
      task_id: 'train-1',
      split: 'train',
      index: 1,
    })
    expect(begun.data.observation['messages']).toEqual([
      { role: 'system', content: 'You are tested.' },
      { role: 'user', content: 'Question train-1?' },
    ])
    const first = await client.step({ message: 'wrong' })
    expect(first.data).toMatchObject({ reward: null, done: false, observation: { message: 'Not wrong.' } })
    const last = await client.step({ message: 'right' })
    expect(last.data).toMatchObject({ reward: 1, done: true, observation: { message: 'You won.' } })
    expect(last.data['metadata']).toMatchObject({ success: true, rewards: { solved: 1 }, stop: 'won' })
    const after = await client.step({ message: 'right' })
    expect(after.data).toMatchObject({ reward: null, done: true })
    expect(after.data.observation['error']).toMatchObject({ error_type: 'execution_error' })
  })

  test('a reset begins anew and is scored anew', async () => {
    const { connect, core } = await serve({ kind: 'game' })
    const client = connect()
    for (let turn = 0; turn < 3; turn++) {
      await client.reset({ task_id: 'test-2' })
      expect((await client.step({ message: 'right' })).data.reward).toBe(1)
    }
    await client.reset()
    expect(core.stats().open).toBe(1)
  })

  test('what a model wrote as JSON is what it says', async () => {
    const client = (await serve({ kind: 'game' })).connect()
    await client.reset()
    expect((await client.step({ message: 42 })).data.observation['message']).toBe('Not 42.')
    expect((await client.step({ guess: 'x', metadata: {} })).data.observation['message']).toBe(
      'Not {"guess":"x"}.',
    )
    await client.reset()
    expect((await client.step({ message: null })).data.observation['message']).toBe('Not null.')
    expect((await client.step({})).data.code).toBe('VALIDATION_ERROR')
    expect((await client.step({ metadata: {} })).data.code).toBe('VALIDATION_ERROR')
    expect((await client.step('right')).data.code).toBe('VALIDATION_ERROR')
  })

  test('a client that asked for tools is given one to speak by', async () => {
    const client = (await serve({ kind: 'game' })).connect()
    const listed = await client.step({ type: 'list_tools' })
    expect(listed.data.observation['tools']).toMatchObject([{ name: 'say' }])
    const begun = await client.reset()
    expect(begun.data.observation['prompt']).toContain('by calling the tool `say`')
    const said = await client.call('say', { message: 'right' })
    expect(said.data).toMatchObject({ reward: 1, done: true })
    expect(said.data.observation).toMatchObject({ tool_name: 'say', result: { data: 'You won.' } })
  })
})

describe('an episode with tools', () => {
  test('lists them before it begins, calls them, and is answered by one of them', async () => {
    const client = (await serve({ kind: 'tools' })).connect()
    const listed = await client.step({ type: 'list_tools' })
    expect(listed.data.observation['tools']).toMatchObject([
      {
        name: 'add',
        description: 'Adds to the counter.',
        input_schema: { type: 'object', required: ['by'] },
      },
      { name: 'read' },
      { name: 'submit_answer' },
    ])
    const begun = await client.reset()
    expect(begun.data.observation).not.toHaveProperty('tools')
    expect(begun.data.observation['prompt']).toContain('call the tool `submit_answer`')
    const added = await client.call('add', { by: 3 })
    expect(added.data).toMatchObject({ reward: null, done: false })
    expect(added.data.observation).toMatchObject({
      tool_name: 'add',
      error: null,
      result: { content: [{ type: 'text', text: 'now 3' }], data: 'now 3', is_error: false },
    })
    const unknown = await client.call('none')
    expect(unknown.data.observation).toMatchObject({ result: null, error: { error_type: 'tool_not_found' } })
    const wrong = await client.call('add', {})
    expect(wrong.data.observation).toMatchObject({ error: { error_type: 'invalid_args' } })
    const ended = await client.call('submit_answer', { answer: '3' })
    expect(ended.data).toMatchObject({ reward: 1, done: true })
    const after = await client.call('add', { by: 1 })
    expect(after.data).toMatchObject({
      reward: null,
      done: true,
      observation: { tool_name: 'add', result: null },
    })
  })

  test('a call may leave out its type, and its arguments where there are none', async () => {
    const client = (await serve({ kind: 'tools' })).connect()
    await client.reset()
    expect((await client.step({ tool_name: 'read' })).data.observation['result']).toMatchObject({ data: '0' })
    expect((await client.step({ type: 'call_tool' })).data.code).toBe('VALIDATION_ERROR')
    expect((await client.step({ foo: 1 })).data.code).toBe('VALIDATION_ERROR')
  })

  test('finish grades what is left behind', async () => {
    const client = (await serve({ kind: 'tools' })).connect()
    await client.reset()
    await client.call('add', { by: 3 })
    expect((await client.step({ type: 'finish' })).data).toMatchObject({ reward: 1, done: true })
    expect((await client.step({ type: 'finish' })).data).toMatchObject({ reward: null, done: true })
  })

  test('a step that is sent again under its name is carried out once', async () => {
    const client = (await serve({ kind: 'tools' })).connect()
    await client.reset()
    const step = { type: 'call_tool', tool_name: 'add', arguments: { by: 1 }, metadata: { call_id: 'a' } }
    const first = await client.step(step)
    expect(await client.step(step)).toEqual(first)
    expect((await client.call('read')).data.observation['result']).toMatchObject({ data: '1' })
  })
})

describe('what has no number', () => {
  const fault = {
    owner: 'judge',
    stage: 'grade',
    code: 'no_verdict',
    message: 'the key is hush',
    retryable: true,
  } as const

  test('a failed episode is an error, each time it is asked, and never a reward', async () => {
    const client = (await serve({ kind: 'game', settles: { kind: 'failed', fault } })).connect()
    await client.reset()
    const ended = await client.step({ message: 'right' })
    expect(ended).toMatchObject({
      type: 'error',
      data: {
        code: 'EXECUTION_ERROR',
        reason: 'infrastructure',
        fault: { owner: 'judge', code: 'no_verdict' },
      },
    })
    expect(JSON.stringify(ended)).not.toContain('hush')
    expect((await client.step({ message: 'right' })).type).toBe('error')
  })

  test('an unscored one is too, with its reason', async () => {
    const settles = { kind: 'unscored', reason: 'no_test_ran', outcome: 'completed', metrics: {} } as const
    const client = (await serve({ kind: 'answer', settles })).connect()
    await client.reset()
    const ended = await client.step({ message: '42' })
    expect(ended).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR', unscored: 'no_test_ran' } })
    expect(ended.data).not.toHaveProperty('reward')
  })
})
