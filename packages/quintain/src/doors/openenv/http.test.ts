import { describe, expect, onTestFinished, test } from 'vitest'
import { openServed } from './__fixtures__/serve.ts'

const serve = (...[given, times]: [Parameters<typeof openServed>[1]?, Parameters<typeof openServed>[2]?]) =>
  openServed(onTestFinished, given, times)

const rpc = (method: string, params: unknown = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  method,
  params,
  id,
})

describe('what an environment says of itself', () => {
  test('health, metadata, schemas and the description of the API', async () => {
    const { get } = await serve({ kind: 'tools' })
    expect(await get('/health')).toEqual({ status: 200, json: { status: 'healthy' } })
    expect((await get('/metadata')).json).toMatchObject({
      name: 'fake',
      description: 'An environment for tests.',
      version: '1.0.0',
    })
    const { json } = await get('/schema')
    expect(json).toMatchObject({
      action: { title: 'CallToolAction', required: ['tool_name'] },
      observation: { type: 'object' },
      reset_observation: { required: ['prompt', 'messages'] },
      state: { type: 'object' },
    })
    const { json: api } = await get('/openapi.json')
    expect(api).toMatchObject({ info: { version: '1.0.0' } })
    expect(Object.keys(api['paths']!)).toEqual(expect.arrayContaining(['/reset', '/step', '/state']))
  })

  test('an action that is said has one required field', async () => {
    const { get } = await serve({ kind: 'game' })
    expect((await get('/schema')).json).toMatchObject({
      action: { title: 'MessageAction', required: ['message'] },
    })
  })
})

describe('tasks', () => {
  test('splits, counts, tasks and ranges, without secrets', async () => {
    const { get, post } = await serve()
    expect((await get('/list_environments')).json).toEqual(['fake'])
    expect((await get('/fake/splits')).json).toEqual([
      { name: 'train', type: 'train' },
      { name: 'test', type: 'test' },
    ])
    expect((await post('/FAKE/num_tasks', { split: 'test' })).json).toEqual({ num_tasks: 3 })
    expect((await post('/fake/task', { split: 'test', index: 1 })).json).toEqual({
      task: { id: 'test-1', split: 'test', index: 1, level: 1 },
      env_name: 'fake',
    })
    const all = await post('/fake/tasks', { split: 'train' })
    expect(all.json).toMatchObject({ env_name: 'fake', tasks: [{ index: 0 }, { index: 1 }, { index: 2 }] })
    const range = async (start?: number | null, stop?: number | null) => {
      const { json } = await post('/fake/task_range', { split: 'train', start, stop })
      return (json['tasks'] as unknown as { index: number }[]).map(({ index }) => index)
    }
    expect(await range()).toEqual([0, 1, 2])
    expect(await range(1)).toEqual([1, 2])
    expect(await range(-2, null)).toEqual([1, 2])
    expect(await range(0, -1)).toEqual([0, 1])
    expect(await range(2, 1)).toEqual([])
    expect(await range(0, 1_000_000)).toEqual([0, 1, 2])
  })

  test.each([
    ['/other/tasks', { split: 'train' }, 404],
    ['/fake/other', { split: 'train' }, 404],
    ['/fake/tasks/more', { split: 'train' }, 404],
    ['/fake/splits', {}, 405],
    ['/fake/tasks', { split: 'none' }, 400],
    ['/fake/tasks', {}, 422],
    ['/fake/tasks', [], 422],
    ['/fake/task', { split: 'train', index: 3 }, 400],
    ['/fake/task', { split: 'train', index: -1 }, 400],
    ['/fake/task', { split: 'train', index: 'a' }, 422],
    ['/fake/task_range', { split: 'train', start: 'a' }, 422],
  ])('%s %j is refused with %i', async (path, body, status) => {
    const { post } = await serve()
    const answer = await post(path, body)
    expect(answer.status).toBe(status)
    expect(answer.json['detail']).toBeTypeOf('string')
  })
})

describe('resets and steps by HTTP', () => {
  test('a reset shows how an episode would begin and leaves nothing', async () => {
    const { post, get, core } = await serve({ kind: 'tools' })
    const { status, json } = await post('/reset', { split: 'test', index: 1, episode_id: 'x' })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      reward: null,
      done: false,
      observation: { prompt: expect.stringContaining('Question test-1?'), metadata: { task_id: 'test-1' } },
    })
    expect((await post('/reset')).json).toMatchObject({ observation: { metadata: { split: 'train' } } })
    expect(core.stats()).toMatchObject({ open: 0, created: 0 })
    expect((await get('/state')).json).toEqual({ episode_id: null, step_count: 0 })
  })

  test('a step is refused, but for a list of the tools', async () => {
    const { post } = await serve({ kind: 'tools' })
    expect((await post('/step', { action: { type: 'list_tools' } })).json).toMatchObject({
      observation: { tools: [{ name: 'add' }, { name: 'read' }, { name: 'submit_answer' }] },
    })
    const refused = await post('/step', { action: { tool_name: 'read' } })
    expect(refused.status).toBe(409)
    expect(refused.json['detail']).toContain('/ws')
    expect((await post('/step', { action: {} })).status).toBe(422)
    expect((await post('/step', [])).status).toBe(422)
    expect((await post('/reset', { index: -1 })).status).toBe(422)
    expect((await post('/reset', { index: 9 })).status).toBe(400)
    expect((await post('/reset', { index: 0, seed: 0 })).status).toBe(422)
    expect((await fetch((await serve()).url)).status).toBe(404)
  })
})

describe('JSON-RPC', () => {
  test.each([
    [undefined, -32700],
    [{}, -32600],
    [[], -32600],
    [{ ...rpc('tools/list'), params: 5 }, -32600],
    [rpc('initialize'), -32601],
    [rpc('tools/call', { name: 'read' }), -32602],
    [rpc('tools/call', {}), -32602],
    [rpc('tools/call', { name: 'read', session_id: 'none' }), -32000],
    [rpc('openenv/session/close'), -32602],
    [rpc('openenv/session/close', { session_id: 'none' }), -32602],
  ])('%j is answered with %i and status 200', async (body, code) => {
    const { post } = await serve({ kind: 'tools' })
    const { status, json } = await post('/mcp', body)
    expect(status).toBe(200)
    expect(json).toMatchObject({ jsonrpc: '2.0', error: { code } })
  })

  test('text that is no JSON is too', async () => {
    const { url } = await serve()
    const answer = await fetch(`${url}/mcp`, { method: 'POST', body: '{' })
    expect(await answer.json()).toMatchObject({ error: { code: -32700 } })
  })

  test('a session made by request shares its episode with a socket, which alone is told the reward', async () => {
    const { post, connect, core } = await serve({ kind: 'tools' })
    const made = await post('/mcp', rpc('openenv/session/create'))
    const { session_id: id } = made.json['result'] as unknown as { session_id: string }
    const client = connect(`/ws?session_id=${id}`)
    await client.reset({ task_id: 'test-0' })
    const listed = await post('/mcp', rpc('tools/list', { session_id: id }))
    expect(listed.json).toMatchObject({ result: { tools: [{ name: 'add', input_schema: {} }, {}, {}] } })
    const call = (name: string, given: unknown) =>
      post('/mcp', rpc('tools/call', { session_id: id, name, arguments: given }))
    expect((await call('add', { by: 3 })).json).toMatchObject({ result: { data: 'now 3', is_error: false } })
    expect((await call('none', {})).json).toMatchObject({ error: { code: -32602 } })
    const ended = await call('submit_answer', { answer: 'done' })
    expect(JSON.stringify(ended.json)).not.toContain('reward')
    expect((await call('read', {})).json).toMatchObject({
      error: { message: expect.stringContaining('over') },
    })
    expect((await client.call('read')).data).toMatchObject({ reward: 1, done: true })
    expect((await client.call('read')).data).toMatchObject({ reward: null, done: true })
    expect((await post('/mcp', rpc('openenv/session/close', { session_id: id }))).json).toMatchObject({
      result: { closed: false, closing: true },
    })
    client.send({ type: 'close' })
    await client.closed
    await until(async () => 'error' in (await post('/mcp', rpc('tools/list', { session_id: id }))).json)
    expect(core.stats().open).toBe(0)
  })

  test('a session made by request outlives its sockets, and waits for as long as it is told', async () => {
    const { post, connect, core } = await serve({ kind: 'tools' }, { idleMs: 1_500 })
    const made = await post('/mcp', rpc('openenv/session/create'))
    const { session_id: id } = made.json['result'] as unknown as { session_id: string }
    const first = connect(`/ws?session_id=${id}`)
    await first.reset()
    await first.call('add', { by: 1 })
    first.send({ type: 'close' })
    await first.closed
    const read = await post('/mcp', rpc('tools/call', { session_id: id, name: 'read' }))
    expect(read.json).toMatchObject({ result: { data: '1' } })
    await until(async () => core.stats().open === 0)
  })

  test('a call without a reset begins an episode', async () => {
    const { connect, core } = await serve({ kind: 'tools' })
    const client = connect('/mcp')
    expect(await client.ask(rpc('tools/call', { name: 'add', arguments: { by: 2 } }))).toMatchObject({
      id: 1,
      result: { data: 'now 2' },
    })
    expect(await client.ask('{')).toMatchObject({ error: { code: -32700 } })
    expect(await client.ask('[]')).toMatchObject({ error: { code: -32600 } })
    client.socket.terminate()
    await until(async () => core.stats().open === 0)
  })

  test('on the socket of an episode it is that episode', async () => {
    const client = (await serve({ kind: 'tools' })).connect()
    await client.reset()
    await client.call('add', { by: 2 })
    const answer = await client.ask({ type: 'mcp', data: rpc('tools/call', { name: 'read' }, 'x') })
    expect(answer).toMatchObject({ type: 'mcp', data: { id: 'x', result: { data: '2' } } })
    const own = await client.ask({ type: 'mcp', data: rpc('openenv/session/create') })
    const { session_id: id } = own.data['result'] as { session_id: string }
    const closed = await client.ask({ type: 'mcp', data: rpc('openenv/session/close', { session_id: id }) })
    expect(closed.data).toMatchObject({ error: { code: -32600 } })
  })

  test('sessions that nobody plays are not made without end', async () => {
    const { post } = await serve({ most: 1 })
    for (let n = 0; n < 66; n++) await post('/mcp', rpc('openenv/session/create'))
    expect((await post('/mcp', rpc('openenv/session/create'))).json).toMatchObject({
      error: { code: -32000, data: { code: 'CAPACITY_REACHED', active_sessions: 0, max_sessions: 1 } },
    })
  })
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10))
}
