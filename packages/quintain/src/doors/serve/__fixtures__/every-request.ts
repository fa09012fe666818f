/*
 * Requests of all protocols, by whoever guesses: each is sent to every address, whatever it serves.
 */

export interface Guess {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: unknown
}

/** Ways to reset, grade, list tasks or see state, in the words of any protocol; and what servers often leave open. */
export function everyRequest(slug: string): Guess[] {
  const gets = [
    '/',
    '/health',
    '/healthz',
    '/readyz',
    '/metrics',
    '/version',
    '/list_environments',
    '/tools',
    '/splits',
    '/tasks',
    '/prompt',
    '/messages',
    '/task_tools',
    '/metadata',
    '/schema',
    '/openapi.json',
    '/docs',
    '/state',
    '/web',
    '/mcp',
    '/v1/environments',
    '/v1/tasks?split=train',
    '/v1/tasks?split=train&from=0&to=99',
    '/v1/sessions',
    '/private',
    '/%2e%2e/private',
    '/verdicts.jsonl',
    `/${slug}/splits`,
    `/${slug}/tools`,
    `/${slug}/private`,
  ].map((path): Guess => ({ method: 'GET', path }))
  const names = [
    '/tasks',
    '/num_tasks',
    '/task',
    '/task_range',
    '/create_session',
    '/create',
    '/call',
    '/ping',
    '/delete',
    '/delete_session',
    '/reset',
    '/step',
    '/state',
    '/seed_session',
    '/verify',
    '/close_session',
    '/aggregate_metrics',
    '/grade',
    '/evaluate',
    '/run',
    '/push',
    '/submit_answer',
    '/say',
    '/v1/sessions',
    '/v1/touch',
    `/${slug}/tasks`,
    `/${slug}/task`,
    `/${slug}/reset`,
  ]
  const bodies = [
    undefined,
    {},
    { split: 'train' },
    { split: 'train', index: 0, start: 0, stop: 99 },
    { task: { split: 'train', index: 0 } },
    { task_id: 'train-0' },
    { task: { id: 'train-0', secret: null }, action: { type: 'list_tools' } },
  ]
  const methods = [
    'initialize',
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'prompts/list',
    'tasks/list',
    'hello',
    'tasks.list',
    'tasks.start',
    'tasks.grade',
    'tasks.cancel',
    'reset',
    'grade',
    'openenv/session/create',
  ]
  return [
    ...gets,
    ...names.flatMap((path) =>
      bodies.map((body): Guess => ({ method: 'POST', path, ...(body === undefined ? {} : { body }) })),
    ),
    ...methods.map(
      (method, id): Guess => ({
        method: 'POST',
        path: '/mcp',
        body: { jsonrpc: '2.0', id, method, params: {} },
      }),
    ),
    { method: 'DELETE', path: '/mcp' },
    { method: 'DELETE', path: '/v1/sessions/x' },
  ]
}
