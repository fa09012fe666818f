import { type HttpAnswer, type HttpCall, HttpProblem } from '../../core/http-port.ts'
import type { Opening, Session, SessionCore, Step } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import { actBody, callBody, createBody, gradeBody, touchBody } from './bodies.ts'
import { nativeProtocol } from './protocol.ts'
import { refusal } from './refusals.ts'

/** Most tasks of one page. */
const pageSize = 1_000

/** Seconds that a request waits for what takes long, before it is told to ask again: unless it says so, and at most. */
const wait = { usual: 20, most: 60 }

/**
 * Answers the requests of the native door. Nothing is answered late: what takes longer than a request waits is 202
 * `{ pending: true }`, and the same request, sent again, waits on. So a connection that breaks costs nothing, as long as
 * steps have an `id` and sessions a `key`, and a server that does not answer at all is known to be gone.
 */
export function nativeRoutes(cores: readonly SessionCore[]): (call: HttpCall) => Promise<HttpAnswer> {
  return async (call) => {
    try {
      return await route(cores, call)
    } catch (thrown) {
      if (thrown instanceof SessionError) return refusal(thrown)
      throw thrown
    }
  }
}

async function route(cores: readonly SessionCore[], call: HttpCall): Promise<HttpAnswer> {
  const { method, path } = call
  const named = `${method} ${path}`
  if (named === 'GET /health') return { json: { status: 'ok', protocol: nativeProtocol } }
  if (named === 'GET /v1/environments') return { json: environmentsOf(cores) }
  if (named === 'GET /v1/tasks') return { json: await tasksOf(cores, call.query) }
  if (named === 'POST /v1/sessions') return create(cores, call)
  if (named === 'POST /v1/touch') return touch(cores, call)
  const [, handle, step] = /^\/v1\/sessions\/([\w.~-]{1,200})(?:\/([a-z]+))?$/.exec(path) ?? []
  if (handle === undefined) throw new HttpProblem(404, 'There is nothing at that path.')
  if (step === undefined && method === 'DELETE') return close(cores, handle)
  if (method !== 'POST') throw new HttpProblem(405, 'Sessions are changed with POST and ended with DELETE.')
  const session = sessionOf(cores, handle)
  switch (step) {
    case 'call': {
      const wanted = await callBody(call)
      return stepped(call, wanted.id, () => session.call(wanted))
    }
    case 'act': {
      const wanted = await actBody(call)
      return stepped(call, wanted.id, () => session.act(wanted))
    }
    case 'grade': {
      const wanted = await gradeBody(call)
      const settled = await within(call, () => session.grade(wanted))
      return settled === undefined ? pending(session) : { json: settled }
    }
    default:
      throw new HttpProblem(404, 'Sessions take call, act and grade.')
  }
}

function environmentsOf(cores: readonly SessionCore[]): unknown {
  const environments = cores.map(({ environment, splits }) => ({ ...environment, splits }))
  return { protocol: nativeProtocol, environments }
}

async function tasksOf(cores: readonly SessionCore[], query: URLSearchParams): Promise<unknown> {
  const core = coreOf(cores, query.get('environment') ?? undefined)
  const split = query.get('split')
  if (split === null) throw new HttpProblem(400, 'Name the split: ?split=NAME.')
  const from = placeOf(query, 'from', 0)
  const to = Math.min(placeOf(query, 'to', from + pageSize), from + pageSize)
  return { tasks: await core.tasks(split, from, to) }
}

function placeOf(query: URLSearchParams, name: string, otherwise: number): number {
  const given = query.get(name)
  if (given === null) return otherwise
  if (!/^\d{1,12}$/.test(given)) throw new HttpProblem(400, `"${name}" is a whole number, 0 or more.`)
  return Number(given)
}

async function create(cores: readonly SessionCore[], call: HttpCall): Promise<HttpAnswer> {
  const { environment, ...wanted } = await createBody(call)
  secondsOf(call)
  patienceOf(call)
  const session = await coreOf(cores, environment).create(wanted)
  const opening =
    wanted.key === undefined ? await session.opened() : await within(call, () => session.opened())
  return opening === undefined ? pending(session) : { json: created(session, opening) }
}

function created(session: Session, opening: Opening): unknown {
  const { messages, tools, answerTool, replies } = opening
  const shown = { messages, tools, answerTool: answerTool ?? null, replies }
  return { session: session.handle, task: session.task, opening: shown }
}

/** A step without an id cannot be asked for again, so it is waited for. */
async function stepped(
  call: HttpCall,
  id: string | undefined,
  begin: () => Promise<Step>,
): Promise<HttpAnswer> {
  const step = id === undefined ? await begin() : await within(call, begin)
  if (step === undefined) return { status: 202, json: { pending: true } }
  const { content, error, done } = step
  return { json: { content, error: error ?? null, done: done ?? null } }
}

function pending(session: Session): HttpAnswer {
  return { status: 202, json: { pending: true, session: session.handle } }
}

/** Seconds for which a request waits. Throws 400 for what is no number. */
function patienceOf({ query }: HttpCall): number {
  const asked = query.get('wait')
  const seconds = asked === null ? wait.usual : Number(asked)
  if (!(seconds >= 0)) throw new HttpProblem(400, '"wait" is a number of seconds.')
  return Math.min(seconds, wait.most)
}

/**
 * What comes of something, unless it takes longer than the request waits; it goes on by itself then. Nothing is begun for
 * a request that does not say well how long it waits.
 */
async function within<T>(call: HttpCall, begin: () => Promise<T>): Promise<T | undefined> {
  const seconds = secondsOf(call)
  const running = begin()
  // Whoever asks again hears of it; until then it must not count as nobody's.
  running.catch(() => {})
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, seconds * 1_000, undefined)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

function secondsOf({ query }: HttpCall): number {
  const asked = query.get('wait')
  const seconds = asked === null ? wait.usual : Number(asked)
  if (seconds >= 0) return Math.min(seconds, wait.most)
  throw new HttpProblem(400, '"wait" is a number of seconds.')
}

async function close(cores: readonly SessionCore[], handle: string): Promise<HttpAnswer> {
  try {
    await sessionOf(cores, handle).close()
  } catch (thrown) {
    // It is what was asked for.
    if (!(thrown instanceof SessionError && thrown.code === 'session_gone')) throw thrown
  }
  return { json: { closed: true } }
}

async function touch(cores: readonly SessionCore[], call: HttpCall): Promise<HttpAnswer> {
  const gone: string[] = []
  for (const handle of await touchBody(call)) {
    try {
      sessionOf(cores, handle).touch()
    } catch (thrown) {
      if (!(thrown instanceof SessionError)) throw thrown
      gone.push(handle)
    }
  }
  return { json: { gone } }
}

function coreOf(cores: readonly SessionCore[], slug: string | undefined): SessionCore {
  const known = cores.map(({ environment }) => environment.slug)
  if (slug === undefined && cores.length === 1) return cores[0]!
  const found = cores.find(({ environment }) => environment.slug === slug)
  if (found !== undefined) return found
  const which =
    slug === undefined
      ? 'This server has several environments; name one ("environment")'
      : 'That environment is not served here'
  throw new HttpProblem(slug === undefined ? 400 : 404, `${which}: ${known.join(', ')}.`)
}

/** Handles are unguessable, so no two cores have the same. */
function sessionOf(cores: readonly SessionCore[], handle: string): Session {
  let unknown: unknown
  for (const core of cores) {
    try {
      return core.session(handle)
    } catch (thrown) {
      if (!(thrown instanceof SessionError && thrown.code === 'session_unknown')) throw thrown
      unknown = thrown
    }
  }
  throw unknown
}
