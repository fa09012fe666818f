import type { ServedEnvironment } from '../session/session.ts'

/**
 * The description that `openenv validate --url` reads: a version of the API, and the routes by which it tells a server for
 * simulation from one for production. Of our own routes no more is said than that they are there.
 */
export function openApi({ slug, description }: ServedEnvironment): Record<string, unknown> {
  const answer = { responses: { '200': { description: 'Successful Response' } } }
  const get = { get: answer }
  const post = { post: answer }
  const forTasks = Object.fromEntries(
    ['tasks', 'num_tasks', 'task', 'task_range'].map((route) => [`/${slug}/${route}`, post]),
  )
  return {
    openapi: '3.1.0',
    // The version of the protocol's API, not of the environment: clients take 1.x for what they know.
    info: { title: slug, description, version: '1.0.0' },
    paths: {
      '/reset': post,
      '/step': post,
      '/state': get,
      '/metadata': get,
      '/health': get,
      '/schema': get,
      '/mcp': post,
      '/list_environments': get,
      [`/${slug}/splits`]: get,
      ...forTasks,
    },
  }
}
