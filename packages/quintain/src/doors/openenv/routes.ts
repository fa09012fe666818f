import { type HttpAnswer, type HttpCall, HttpProblem } from '../../core/http-port.ts'
import { SessionError } from '../session/session-error.ts'
import { actionOf } from './actions.ts'
import { choiceOf } from './choice.ts'
import { reservedNames } from './instance.ts'
import type { Instances } from './instances.ts'
import { answerRpc, rpcParseError } from './mcp.ts'
import { frameOf, resetObservation, toolsObservation } from './observations.ts'
import { openApi } from './open-api.ts'
import { invalid, Refusal, refusalOf } from './refusals.ts'
import { resetRequestOf } from './reset-request.ts'
import { actionSchema, observationSchema, resetObservationSchema, stateSchema } from './schemas.ts'
import { taskAnswer } from './task-routes.ts'

type Handler = (call: HttpCall) => HttpAnswer | Promise<HttpAnswer>

/** What is asked by HTTP: about the environment, its tasks, its tools. Episodes are played by WebSocket alone. */
export function openEnvRoutes(instances: Instances, log: (line: string) => void) {
  const { core } = instances
  const { environment } = core
  const routes: Record<string, Partial<Record<string, Handler>>> = {
    '/health': { GET: () => ({ json: { status: 'healthy' } }) },
    '/metadata': {
      GET: () => ({
        json: {
          name: environment.slug,
          description: environment.description,
          readme_content: null,
          version: environment.version,
          author: null,
          documentation_url: null,
        },
      }),
    },
    '/schema': {
      GET: () => ({
        json: {
          action: actionSchema(environment),
          observation: observationSchema(environment),
          reset_observation: resetObservationSchema,
          state: stateSchema,
        },
      }),
    },
    '/openapi.json': { GET: () => ({ json: openApi(environment) }) },
    // As the reference: the state of an instance that is made for this answer and has begun nothing.
    '/state': { GET: () => ({ json: { episode_id: null, step_count: 0 } }) },
    '/reset': { POST: (call) => beginning(call, instances) },
    '/step': { POST: (call) => oneStep(call, instances) },
    '/mcp': { POST: (call) => rpc(call, instances, log) },
  }
  return async (call: HttpCall): Promise<HttpAnswer> => {
    const { method, path } = call
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    if (route === undefined) {
      const answer = await taskAnswer(call, core)
      if (answer === undefined) throw new HttpProblem(404, 'Not Found')
      return answer
    }
    const handler = route[method]
    if (handler === undefined)
      throw new HttpProblem(405, 'Method Not Allowed', { allow: Object.keys(route).join(', ') })
    try {
      return await handler(call)
    } catch (thrown) {
      throw thrown instanceof SessionError ? problemOf(refusalOf(thrown, core.stats())) : problemOf(thrown)
    }
  }
}

/** How an episode would begin. Nothing is left of it: who wants to go on connects to `/ws`. */
async function beginning(call: HttpCall, instances: Instances): Promise<HttpAnswer> {
  const { core } = instances
  const request = resetRequestOf(await call.json())
  const { choice, seed } = await choiceOf(request, instances)
  if (seed !== undefined)
    throw invalid(
      'A seed beside a task is checked where its world is made: reset by /ws, or leave the seed out.',
    )
  const answerTool = request.answerTool ?? core.environment.needs.includes('tools')
  const [task, opening] = await Promise.all([
    core.task(choice),
    core.preview(choice, { answerTool, reserved: reservedNames }),
  ])
  return { json: frameOf({ observation: resetObservation(opening, task), reward: null, done: false }) }
}

/** A list of tools can be had by itself. Any other step belongs to an episode, of which HTTP knows none. */
async function oneStep(call: HttpCall, instances: Instances): Promise<HttpAnswer> {
  const body = ((await call.json()) ?? {}) as Record<string, unknown>
  const { needs } = instances.core.environment
  const action = actionOf(body['action'], { speaks: !needs.includes('tools') })
  if (action.kind !== 'list_tools')
    throw new HttpProblem(
      409,
      'A step by HTTP would be one of an episode that nobody began and that ends with the answer: connect to /ws.',
    )
  const observation = toolsObservation(await instances.toolsBefore())
  return { json: frameOf({ observation, reward: null, done: false }) }
}

async function rpc(call: HttpCall, instances: Instances, log: (line: string) => void): Promise<HttpAnswer> {
  let given: unknown
  try {
    given = await call.json()
  } catch (thrown) {
    if (!(thrown instanceof HttpProblem) || thrown.status !== 400) throw thrown
    return { json: rpcParseError(thrown.message) }
  }
  if (given === undefined) return { json: rpcParseError('The body is empty.') }
  return { json: await answerRpc(given, { instances, own: undefined, log }) }
}

function problemOf(thrown: unknown): unknown {
  if (!(thrown instanceof Refusal)) return thrown
  const { code, message, more } = thrown
  if (code === 'VALIDATION_ERROR') return new HttpProblem(422, message)
  if (code === 'CAPACITY_REACHED') return new HttpProblem(503, message, { 'retry-after': '1' })
  const refused = more['reason'] === 'unknown_task' || more['reason'] === 'unknown_split'
  return new HttpProblem(refused || more['reason'] === 'seed_refused' ? 400 : 500, message)
}
