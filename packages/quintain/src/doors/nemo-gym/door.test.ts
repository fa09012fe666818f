import { afterEach, describe, expect, test } from 'vitest'
import { type FakeOptions, fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { Settled } from '../session/session.ts'
import { functionCall, NemoClient, response, row, served } from './__fixtures__/client.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

async function client(options: FakeOptions = {}, extra: { token?: string; logged?: string[] } = {}) {
  const core = fakeCore(options)
  const { door, url } = await served(core, extra)
  opened.push(door, core)
  return { client: new NemoClient(url), core, url }
}

const faultOf = (owner: 'world' | 'judge' | 'sandbox', retryable: boolean): Settled => ({
  kind: 'failed',
  fault: { owner, stage: 'tool', code: 'timeout', message: 'it hung', retryable },
})

describe('an episode of a row', () => {
  test('is seeded, answered and verified; the row comes back with its reward', async () => {
    const { client: agent } = await client()
    const seeded = await agent.post('/seed_session', row())
    expect(seeded).toMatchObject({ status: 200, json: {} })
    expect(seeded.cookie).toMatch(/^quintain_fake=.{20,}/)
    const given = { ...row(), extra: { kept: true }, response: response('right') }
    const verified = await agent.post('/verify', given)
    expect(verified).toMatchObject({ status: 200, cookie: seeded.cookie })
    expect(verified.json).toEqual({
      ...given,
      reward: 1,
      reward_components: { solved: 1 },
      mask_sample: false,
      failure_kind: null,
      failure_reason: null,
      success: true,
      solved: 1,
      steps: 1,
      quintain_outcome: 'completed',
    })
  })

  test('asked again, verification says the same', async () => {
    const { client: agent } = await client()
    await agent.post('/seed_session', row())
    const first = await agent.post('/verify', { ...row(), response: response('right') })
    const again = await agent.post('/verify', { ...row(), response: response('right') })
    expect(again.json).toEqual(first.json)
  })

  test('another answer, or another task, has no part in its reward', async () => {
    const { client: agent } = await client()
    const seeded = await agent.post('/seed_session', row())
    const verify = (of: string, said: string) => {
      agent.cookie = seeded.cookie
      return agent.post('/verify', { ...row(of), response: response(said) })
    }
    expect((await verify('train-1', 'right')).status).toBe(409)
    expect((await verify('train-0', 'right')).json).toMatchObject({ reward: 1 })
    expect((await verify('train-0', 'wrong')).status).toBe(409)
    expect((await verify('train-1', 'right')).status).toBe(409)
    expect((await verify('train-0', 'right')).json).toMatchObject({ reward: 1 })
  })

  test('a response that failed and says nothing is masked', async () => {
    const { client: agent } = await client()
    await agent.post('/seed_session', row())
    const failed = { ...response(), status: 'failed' }
    const verified = await agent.post('/verify', { ...row(), response: failed })
    expect(verified.json).toMatchObject({
      mask_sample: true,
      failure_reason: expect.stringContaining('response_failed'),
    })
  })

  test('calls tools by POST, whose text is the output; every answer has the cookie', async () => {
    const { client: agent } = await client({ kind: 'tools' })
    const { cookie, json } = await agent.post('/seed_session', row())
    expect(json).toMatchObject({
      mcp: { server_name: 'fake', url_path: '/mcp', transport: 'http' },
    })
    expect(await agent.post('/add', { by: 2 })).toMatchObject({ status: 200, text: 'now 2', cookie })
    expect(await agent.post('/add', {})).toMatchObject({
      status: 400,
      text: 'by: a number is missing.',
      cookie,
    })
    expect(await agent.post('/divide', { by: 2 })).toMatchObject({
      status: 400,
      text: 'There is no tool "divide".',
      cookie,
    })
    expect(await agent.post('/add', { by: 1 })).toMatchObject({ text: 'now 3', cookie })
    const verified = await agent.post('/verify', {
      ...row(),
      response: response(functionCall('add', { by: 2 }), 'It is three.'),
    })
    expect(verified).toMatchObject({ status: 200, cookie, json: { reward: 1 } })
    expect(await agent.post('/add', { by: 1 })).toMatchObject({
      status: 409,
      text: 'Error: Not carried out: the episode is over.',
      cookie,
    })
  })

  test('where the environment answers, the agent speaks by a tool', async () => {
    const { client: agent } = await client({ kind: 'game' })
    await agent.post('/seed_session', row())
    expect(await agent.post('/say', { message: 'wrong' })).toMatchObject({ text: 'Not wrong.' })
    expect(await agent.post('/say', { message: 'right' })).toMatchObject({ text: 'You won.' })
    const verified = await agent.post('/verify', { ...row(), response: response('I won.') })
    expect(verified.json).toMatchObject({ reward: 1, quintain_stop: 'won', quintain_outcome: 'env_done' })
  })

  test('what stands before the last call is no answer', async () => {
    const { client: agent } = await client()
    await agent.post('/seed_session', row())
    const verified = await agent.post('/verify', {
      ...row(),
      response: response('right', functionCall('look', {})),
    })
    expect(verified.json).toMatchObject({ reward: 0, success: false })
  })

  test('requests may name their rollout in the path', async () => {
    const { client: agent } = await client()
    expect(await agent.post('/ng-rollout/3-1/seed_session', row())).toMatchObject({ status: 200 })
    const verified = await agent.post('/ng-rollout/3-1/verify', { ...row(), response: response('right') })
    expect(verified.json).toMatchObject({ reward: 1 })
  })

  test('a seed that is repeated before anything was done is the same session; after that it is refused', async () => {
    const { client: agent, core } = await client({ kind: 'tools' })
    const first = await agent.post('/seed_session', row())
    expect(await agent.post('/seed_session', row())).toMatchObject({ status: 200, cookie: first.cookie })
    expect(core.stats().created).toBe(1)
    expect(await agent.post('/seed_session', row('train-1'))).toMatchObject({ status: 409 })
    await agent.post('/add', { by: 1 })
    expect(await agent.post('/seed_session', row())).toMatchObject({ status: 409, cookie: first.cookie })
    await agent.post('/verify', { ...row(), response: response('done') })
    const next = await agent.post('/seed_session', row())
    expect(next.status).toBe(200)
    expect(next.cookie).not.toBe(first.cookie)
  })
})

describe('an episode without a number', () => {
  test.each([
    [faultOf('world', true), 'quintain:world_timeout', false],
    [faultOf('sandbox', false), 'provider_unavailable', true],
    [faultOf('judge', true), 'judge_failed', false],
  ])('is a masked sample that can be told from a zero: %j', async (settles, kind, terminal) => {
    const { client: agent } = await client({ settles })
    await agent.post('/seed_session', row())
    const verified = await agent.post('/verify', { ...row(), response: response('right') })
    expect(verified).toMatchObject({
      status: 200,
      json: {
        ...row(),
        reward: 0,
        reward_components: { solved: 0 },
        mask_sample: true,
        failure_kind: kind,
        _ng_failure_class: kind,
        _ng_failure_terminal: terminal,
        instance_config: { mask_sample: true },
      },
    })
    expect(verified.json?.['failure_reason']).toContain('it hung')
    expect(verified.json).not.toHaveProperty('success')
    expect(verified.json).not.toHaveProperty('solved')
  })

  test('that nobody could give one is masked, and nothing failed', async () => {
    const settles: Settled = { kind: 'unscored', reason: 'no_answer', outcome: 'completed', metrics: {} }
    const { client: agent } = await client({ settles })
    await agent.post('/seed_session', row())
    const { json } = await agent.post('/verify', { ...row(), response: response('right') })
    expect(json).toMatchObject({
      mask_sample: true,
      failure_kind: 'quintain:unscored',
      failure_reason: 'unscored: no_answer',
    })
    expect(json).not.toHaveProperty('_ng_failure_class')
  })

  test.each([
    [faultOf('world', true), 503],
    [faultOf('world', false), 500],
    [{ kind: 'unscored', reason: 'no_answer', outcome: 'completed', metrics: {} } as Settled, 422],
  ])('is a failed request to a client that knows no mask: %j', async (settles, status) => {
    const { client: agent } = await client({ settles })
    agent.headers = { 'X-Quintain-Unscored': 'error' }
    await agent.post('/seed_session', row())
    const { cookie, ...verified } = await agent.post('/verify', { ...row(), response: response('right') })
    expect(verified.status).toBe(status)
    expect(verified.json).not.toHaveProperty('reward')
    expect(cookie).toBeDefined()
  })
})

describe('steps', () => {
  const info = { supports_step_idempotency: true, supports_explicit_close: true }

  test('each turn of the model is sent, and the reward comes with the last', async () => {
    const { client: agent } = await client({ kind: 'game' })
    expect((await agent.post('/reset', row())).json).toMatchObject({ observation: null, info })
    const first = await agent.post('/step', { ...row(), response: response('wrong') })
    expect(first.json).toEqual({
      observation: 'Not wrong.',
      reward: 0,
      terminated: false,
      truncated: false,
      info: { tool_outputs: [] },
    })
    const last = await agent.post('/step', { ...row(), response: response('right') })
    expect(last.json).toMatchObject({
      observation: 'You won.',
      reward: 1,
      terminated: true,
      truncated: false,
      info: { reward_components: { solved: 1 }, success: true, quintain_stop: 'won' },
    })
    expect(await agent.post('/close', {})).toMatchObject({ status: 200 })
    expect(await agent.post('/close', {})).toMatchObject({ status: 200 })
    expect(await agent.post('/step', { ...row(), response: response('right') })).toMatchObject({
      status: 404,
    })
  })

  test('calls of one turn are carried out in order', async () => {
    const { client: agent } = await client({ kind: 'tools' })
    await agent.post('/reset', row())
    const stepped = await agent.post('/step', {
      ...row(),
      response: response(
        'I count.',
        functionCall('add', { by: 2 }, 'a'),
        functionCall('add', { by: 1 }, 'b'),
        functionCall('what', {}, 'c'),
      ),
    })
    expect(stepped.json).toMatchObject({
      observation: null,
      terminated: false,
      info: {
        tool_outputs: [
          { call_id: 'a', output: 'now 2' },
          { call_id: 'b', output: 'now 3' },
          { call_id: 'c', output: 'There is no tool "what".' },
        ],
      },
    })
    const last = await agent.post('/step', { ...row(), response: response('Three.') })
    expect(last.json).toMatchObject({ reward: 1, terminated: true })
  })

  test('a step that is repeated by its name carries nothing out again', async () => {
    const { client: agent } = await client({ kind: 'tools' })
    await agent.post('/reset', row())
    const body = {
      ...row(),
      _ng_step_request_id: 'one',
      response: response(functionCall('add', { by: 2 })),
    }
    const first = await agent.post('/step', body)
    expect((await agent.post('/step', body)).json).toEqual(first.json)
    const other = { ...body, response: response(functionCall('add', { by: 3 })) }
    expect(await agent.post('/step', other)).toMatchObject({ status: 409 })
    const read = await agent.post('/step', { ...row(), response: response(functionCall('read', {})) })
    expect(read.json).toMatchObject({ info: { tool_outputs: [{ output: '2' }] } })
  })

  test('the last step is asked for again: its reward is told again', async () => {
    const { client: agent } = await client()
    await agent.post('/reset', row())
    const body = { ...row(), response: response('right') }
    await agent.post('/step', body)
    expect((await agent.post('/step', body)).json).toMatchObject({ reward: 1, terminated: true })
  })

  test('a step without a number fails', async () => {
    const { client: agent } = await client({ settles: faultOf('world', true) })
    await agent.post('/reset', row())
    const failed = await agent.post('/step', { ...row(), response: response('right') })
    expect(failed.status).toBe(503)
    expect(failed.json).not.toHaveProperty('reward')
  })
})

describe('beside episodes', () => {
  test('says that it lives, and how it can verify again', async () => {
    const { client: agent } = await client()
    for (const path of ['/', '/health', '/healthz', '/livez', '/readyz'])
      expect(await agent.get(path)).toMatchObject({ status: 200, json: { status: 'ok' } })
    expect((await agent.get('/reverify_mode')).json).toBe('stateless')
    const { client: other } = await client({ kind: 'tools' })
    expect((await other.get('/reverify_mode')).json).toBe('unsupported')
  })

  test('an answer without a session is graded where the answer is all', async () => {
    const { client: agent } = await client()
    const verified = await agent.post('/verify', { ...row(), response: response('right') })
    expect(verified.json).toMatchObject({ reward: 1, mask_sample: false })
    const { client: other } = await client({ kind: 'tools' })
    const lost = await other.post('/verify', { ...row(), response: response('right') })
    expect(lost.json).toMatchObject({ mask_sample: true, failure_kind: 'session_lost' })
  })

  test('aggregates what it verified, and leaves masked samples out', async () => {
    const { client: agent } = await client()
    const aggregated = await agent.post('/aggregate_metrics', {
      verify_responses: [
        { _ng_task_index: 0, reward: 1, success: true },
        { _ng_task_index: 0, reward: 0, success: false },
        { _ng_task_index: 1, reward: 0, mask_sample: true },
      ],
    })
    expect(aggregated.json).toMatchObject({
      group_level_metrics: [{ _ng_task_index: 0, 'mean/reward': 0.5 }],
      agent_metrics: { 'mean/reward': 0.5, 'mean/success': 0.5, 'max/reward': 1 },
      key_metrics: {
        'mean/reward': 0.5,
        'coverage/measured_rollouts': 2,
        'coverage/masked_rollouts': 1,
        'coverage/fully_masked_tasks': 1,
      },
    })
    expect((await agent.post('/aggregate_metrics', { verify_responses: [] })).json).toEqual({
      group_level_metrics: [],
      agent_metrics: {},
      key_metrics: {},
    })
  })

  test('each environment has an address of its own', async () => {
    const one = fakeCore()
    const two = fakeCore({ slug: 'other' })
    const { nemoGymDoor } = await import('./door.ts')
    const door = await nemoGymDoor.open([one, two], { host: '127.0.0.1', port: 0, log: () => {} })
    opened.push(door, one, two)
    expect(door.addresses.map(({ environments }) => environments)).toEqual([['fake'], ['other']])
    expect(new Set(door.addresses.map(({ url }) => url)).size).toBe(2)
  })
})
