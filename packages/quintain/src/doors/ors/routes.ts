import { type HttpAnswer, type HttpCall, HttpProblem } from '../../core/http-port.ts'
import type { Opening, SessionCore } from '../session/session.ts'
import { sendEvents, streamCall } from './call-stream.ts'
import type { Episode } from './episode.ts'
import { Episodes } from './episodes.ts'
import { errorEvent, taskEvent } from './event-stream.ts'
import { reservedToolNames, type ShownTool, shownTool } from './parameter-names.ts'
import { asProblem } from './problem.ts'
import { promptBlocks, promptTurns } from './prompt.ts'
import {
  type Body,
  bodyOf,
  indexField,
  isObject,
  sessionName,
  sliceOf,
  taskChoice,
  textField,
} from './requests.ts'
import { taskSpec } from './task-spec.ts'

/** Tasks of one listing. Clients hold all of them at once. */
const mostTasks = 100_000
/** Milliseconds that `/create` waits for a world, so that one that fails does so before a rollout has begun. */
const createMs = 20_000

type Handler = (call: HttpCall) => HttpAnswer | undefined | Promise<HttpAnswer | undefined>

export interface OrsRoutes {
  handle(call: HttpCall): Promise<HttpAnswer | undefined>
  close(): void
}

export interface OrsRoutesOptions {
  /** What `/version` says. */
  version: string
  log(line: string): void
}

/**
 * The Open Reward Standard for one environment, which is the default one of its address and is found under its name too.
 * Shapes as `ors-sdk` 0.1.0 and `openreward` 0.1.167 ask for them.
 */
export function orsRoutes(core: SessionCore, { version, log }: OrsRoutesOptions): OrsRoutes {
  const { slug } = core.environment
  const episodes = new Episodes(core, log)
  const splits = core.splits.map(({ name, type }) => ({ name, type }))
  const tasksIn = (name: string) => core.splits.find((split) => split.name === name)
  let tools: Promise<HttpAnswer> | undefined

  /** Tools of the first task, since they are asked for before there is a task. */
  async function staticTools(): Promise<HttpAnswer> {
    const first = core.splits.find((split) => split.tasks > 0)
    if (first === undefined) throw new HttpProblem(404, 'This environment has no task.')
    const choice = { split: first.name, index: 0 }
    const opening = await core.preview(choice, { answerTool: true, reserved: reservedToolNames })
    return { json: toolList(opening, opening.tools.map(shownTool)) }
  }

  async function listTasks(split: string, from: number, to: number): Promise<HttpAnswer> {
    if (to - from > mostTasks)
      throw new HttpProblem(400, `These are ${to - from} tasks; ask /task_range for at most ${mostTasks}.`)
    const tasks = await core.tasks(split, from, to)
    return { json: { tasks: tasks.map(taskSpec), env_name: slug } }
  }

  async function opened(call: HttpCall): Promise<{ episode: Episode; opening: Opening }> {
    const episode = episodes.find(sessionName(call))
    return { episode, opening: await episode.session.opened() }
  }

  /** By method and path; `/{environment}` is taken off before. */
  const ofEnvironment: Record<string, Handler> = {
    'GET /splits': () => ({ json: splits }),
    'GET /tools': async () => {
      tools ??= staticTools()
      try {
        return await tools
      } catch (thrown) {
        tools = undefined
        throw thrown
      }
    },
    'POST /tasks': async (call) => {
      const split = textField(await bodyOf(call), 'split')
      return listTasks(split, 0, tasksIn(split)?.tasks ?? 0)
    },
    'POST /num_tasks': async (call) => {
      const name = textField(await bodyOf(call), 'split')
      const split = tasksIn(name)
      if (split === undefined) throw new HttpProblem(400, `There is no split "${name}".`)
      return { json: { num_tasks: split.tasks } }
    },
    'POST /task': async (call) => {
      const body = await bodyOf(call)
      const task = await core.task({ split: textField(body, 'split'), index: indexField(body) })
      return { json: { task: taskSpec(task), env_name: slug } }
    },
    'POST /task_range': async (call) => {
      const body = await bodyOf(call)
      const split = textField(body, 'split')
      const { from, to } = sliceOf(body, tasksIn(split)?.tasks ?? 0)
      return listTasks(split, from, to)
    },
    'GET /prompt': async (call) => ({ json: promptBlocks((await opened(call)).opening) }),
    'GET /messages': async (call) => ({ json: promptTurns((await opened(call)).opening) }),
    'GET /task_tools': async (call) => {
      const { episode, opening } = await opened(call)
      return { json: toolList(opening, episode.list(opening)) }
    },
    'POST /call': async (call) => {
      const episode = episodes.find(sessionName(call))
      const body = await bodyOf(call)
      const name = textField(body, 'name')
      const input = body['input'] ?? {}
      if (!isObject(input)) throw new HttpProblem(400, '"input" must be an object.')
      const id = body['task_id'] ?? undefined
      if (id === undefined) return streamed(streamCall(episode.call(name, input), call.response))
      const held = typeof id === 'string' ? episode.again(id, name, input) : undefined
      episode.session.touch()
      // Nothing is carried out, and clients do not try this again.
      if (held === undefined) return void sendEvents(call.response, errorEvent('unknown task_id'))
      return streamed(streamCall(held, call.response))
    },
  }

  const ofServer: Record<string, Handler> = {
    'GET /health': () => ({ json: { status: 'ok' } }),
    'GET /version': () => ({ json: { version, build_sha: null } }),
    'GET /list_environments': () => ({ json: [slug] }),
    'POST /create_session': async (call) => {
      const body = await bodyOf(call)
      if (isObject(body['env']) && Object.keys(body['env']).length > 0)
        throw new HttpProblem(400, 'Variables of the environment cannot be set by clients.')
      const again = body['task_id']
      const name = typeof again === 'string' && episodes.has(again) ? again : episodes.newName()
      sendEvents(call.response, `${taskEvent(name)}event: end\ndata: \n\n`)
      return undefined
    },
    'POST /create': async (call) => {
      const name = sessionName(call)
      const body = await bodyOf(call)
      checkCreate(body, slug)
      const episode = await episodes.create(name, { task: taskChoice(body), seed: body['seed'] })
      await atMost(episode.session.opened(), createMs)
      return { json: { sid: name } }
    },
    'POST /ping': (call) => {
      episodes.find(sessionName(call)).session.touch()
      return { json: { status: 'ok' } }
    },
    'POST /delete': async (call) => {
      const name = sessionName(call)
      await episodes.delete(name, false)
      return { json: { sid: name } }
    },
    'POST /delete_session': async (call) => {
      const name = sessionName(call)
      await episodes.delete(name, true)
      return { json: { sid: name } }
    },
  }

  const table = new Map<string, Handler>([
    ...Object.entries(ofServer),
    ...Object.entries(ofEnvironment),
    ...Object.entries(ofEnvironment).map(([route, handler]): [string, Handler] => {
      return [route.replace(' ', ` /${slug}`), handler]
    }),
  ])

  function handlerOf({ method, path }: HttpCall): Handler {
    const known = table.get(`${method} ${path}`)
    if (known !== undefined) return known
    // Names are not told apart by case, and clients of a single environment may call it what they like: TRL says `env`.
    const [first = '', ...rest] = path.slice(1).split('/')
    const bare = isEnvironment(first, slug) ? `/${rest.join('/')}` : path
    const handler = bare === path ? undefined : ofEnvironment[`${method} ${bare}`]
    if (handler !== undefined) return handler
    const other = ['GET', 'POST'].find((one) => one !== method && table.has(`${one} ${bare}`))
    if (other !== undefined) throw new HttpProblem(405, `${bare} is asked for by ${other}.`, { allow: other })
    if (bare === path && rest.length === 1 && `/${rest[0]}` in routesByPath)
      throw new HttpProblem(404, `There is no environment "${first}" here, but "${slug}".`)
    throw new HttpProblem(404, 'There is nothing here.')
  }

  const routesByPath = Object.fromEntries(Object.keys(ofEnvironment).map((key) => [key.split(' ')[1]!, true]))

  return {
    async handle(call) {
      try {
        return await handlerOf(call)(call)
      } catch (thrown) {
        throw asProblem(thrown)
      }
    },
    close: () => episodes.close(),
  }
}

function toolList({ answerTool, replies, tools }: Opening, shown: readonly ShownTool[]): unknown {
  // Where the environment does not answer, what a model says without a call is its answer: newer clients hand it over.
  const terminal = replies ? undefined : tools.find(({ name }) => name === answerTool)
  return {
    tools: shown.map(({ listed }) => listed),
    terminal_tool:
      terminal === undefined
        ? null
        : { name: terminal.name, arg: onlyParameter(terminal.parameters), description: terminal.description },
    supports_score_group: false,
    message_block_types: ['text', 'image', 'reasoning', 'tool_call', 'tool_result'],
  }
}

function onlyParameter(schema: Record<string, unknown>): string | null {
  return Object.keys((schema['properties'] ?? {}) as object)[0] ?? null
}

function checkCreate(body: Body, slug: string): void {
  const name = body['env_name'] ?? undefined
  if (name !== undefined && !(typeof name === 'string' && isEnvironment(name, slug)))
    throw new HttpProblem(404, `There is no such environment here, but "${slug}".`)
  if ((body['toolset_name'] ?? undefined) !== undefined)
    throw new HttpProblem(400, 'Toolsets of the OpenReward package are not offered here.')
}

function isEnvironment(name: string, slug: string): boolean {
  const plain = name.toLowerCase().replaceAll('-', '_')
  return plain === slug || plain === 'env'
}

async function streamed(stream: Promise<void>): Promise<undefined> {
  await stream
}

/** Resolves with what is waited for, or when the time is up; rejects as what is waited for does. */
function atMost(waited: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    waited.then(() => resolve(), reject).finally(() => clearTimeout(timer))
  })
}
