import { type HttpAnswer, type HttpCall, HttpProblem } from '../../core/http-port.ts'
import type { SessionCore } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import { aggregateMetrics } from './aggregate-metrics.ts'
import { type Episode, Episodes } from './episodes.ts'
import { closeEnvironment, reset, step } from './gymnasium.ts'
import { identifier, type JsonObject, objectBody, onlyFields } from './json.ts'
import { livenessPaths, mcpPath, tokenHeader, withoutRollout } from './paths.ts'
import { refusal } from './refusal.ts'
import { readEpisode, readSeed } from './seed-request.ts'
import { shownText } from './shown-text.ts'
import { isStateless, verify } from './verify.ts'

/** One environment as a resources server of NeMo Gym. */
export class ResourcesServer {
  readonly core: SessionCore
  readonly episodes: Episodes
  private readonly cookieName: string
  private readonly mcp: boolean

  constructor(core: SessionCore, { mcp }: { mcp: boolean }) {
    this.core = core
    this.episodes = new Episodes(core)
    this.mcp = mcp
    // Names apart, since cookies of servers on one machine do not tell ports apart.
    this.cookieName = `quintain_${core.environment.slug}`
  }

  async handle(call: HttpCall): Promise<HttpAnswer | undefined> {
    const path = withoutRollout(call.path)
    if (path === mcpPath) return this.overMcp(call)
    const shown = call.cookie(this.cookieName)
    try {
      if (call.method === 'GET') return withCookie(this.get(path), this.cookieOf(shown))
      if (call.method !== 'POST') throw new HttpProblem(405, 'Not allowed.', { allow: 'GET, POST' })
      const { answer, cookie } = await this.post(path, call, shown)
      return withCookie(answer, this.cookieOf(cookie ?? shown))
    } catch (thrown) {
      const problem = thrown instanceof SessionError ? refusal(thrown) : thrown
      if (!(problem instanceof HttpProblem)) throw problem
      // Agents take the cookies of each answer for all that there are, of refusals too.
      throw new HttpProblem(problem.status, problem.message, {
        ...problem.headers,
        ...this.cookieOf(shown),
      })
    }
  }

  private get(path: string): HttpAnswer {
    if (livenessPaths.has(path)) return { json: { status: 'ok' } }
    if (path === '/reverify_mode')
      return { json: isStateless(this.core.environment) ? 'stateless' : 'unsupported' }
    throw new HttpProblem(404, 'Not found.')
  }

  private async post(
    path: string,
    call: HttpCall,
    shown: string | undefined,
  ): Promise<{ answer: HttpAnswer; cookie?: string }> {
    const episode = this.episodes.ofCookie(shown)
    switch (path) {
      case '/seed_session':
        return this.seed(objectBody(await call.json()), episode)
      case '/verify':
        return { answer: await verify(this, objectBody(await call.json()), { episode, cookie: shown, call }) }
      case '/aggregate_metrics':
        return { answer: { json: aggregateMetrics(objectBody(await call.json())) } }
      case '/close_session':
        return { answer: await this.closeSession(objectBody((await call.json()) ?? {}), episode) }
      case '/reset': {
        const body = objectBody(await call.json())
        const begun = await this.beginRow(body, episode)
        return { answer: { json: reset(begun) }, cookie: begun.session.handle }
      }
      case '/step':
        return { answer: { json: await step(objectBody(await call.json()), episode, this.core) } }
      case '/close':
        return { answer: { json: await closeEnvironment(episode) } }
      default:
        return { answer: await callTool(path, call, episode) }
    }
  }

  private async seed(
    body: JsonObject,
    held: Episode | undefined,
  ): Promise<{ answer: HttpAnswer; cookie: string }> {
    const request = readSeed(body, this.core.environment)
    if (request.kind === 'row') {
      const begun = await this.beginRow(body, held)
      const mcp = this.accessOf(begun)
      return {
        answer: { json: mcp === undefined ? {} : { mcp } },
        cookie: begun.session.handle,
      }
    }
    const { sessionId = `resources-session-${request.episode}`, episode, task } = request
    const begun = await this.episodes.beginNamed(sessionId, { episode, task })
    const access = this.accessOf(begun)
    return {
      answer: {
        json: {
          resources_session_id: sessionId,
          ...(access === undefined ? {} : { resources_tools: access }),
        },
      },
      cookie: begun.session.handle,
    }
  }

  /**
   * An episode of a row. Asked again by who holds it, before anything was done in it, it is the same one: its answer was
   * lost. Nobody is given another while theirs goes on, since nobody would say what that one was worth.
   */
  private async beginRow(body: JsonObject, held: Episode | undefined): Promise<Episode> {
    const request = readSeed(body, this.core.environment)
    if (held !== undefined && held.session.verdict === undefined) {
      const wanted = await this.core.task(request.task)
      if (wanted.id === held.session.task.id && !held.played) return held
      throw new HttpProblem(
        409,
        'The cookie is of an episode that is not over. Verify or close it, or send no cookie.',
      )
    }
    return this.episodes.begin(request.task)
  }

  private async closeSession(body: JsonObject, held: Episode | undefined): Promise<HttpAnswer> {
    if (!('resources_session_id' in body) && !('episode_id' in body)) {
      await held?.session.close()
      return { json: {} }
    }
    onlyFields(body, ['resources_session_id', 'episode_id'])
    const name = identifier(body, 'resources_session_id')
    await this.episodes.closeNamed(name, readEpisode(body['episode_id']))
    return { json: { resources_session_id: name } }
  }

  private accessOf({ token, opening }: Episode): JsonObject | undefined {
    if (!this.mcp || opening.tools.length === 0) return undefined
    return {
      server_name: this.core.environment.slug,
      url_path: mcpPath,
      transport: 'http',
      headers: { [tokenHeader]: token },
    }
  }

  private async overMcp(call: HttpCall): Promise<HttpAnswer | undefined> {
    if (!this.mcp) throw new HttpProblem(404, 'Tools are not served over MCP here.')
    const token = call.header(tokenHeader.toLowerCase())
    if (token === undefined) throw new HttpProblem(401, `Show the session's token: ${tokenHeader}.`)
    const episode = this.episodes.ofToken(token)
    if (episode === undefined) throw new HttpProblem(404, 'That session is not known here, or has gone.')
    if (call.method === 'POST') episode.played = true
    episode.session.touch()
    await this.episodes.toolsOf(episode).handle(call.request, call.response)
    return undefined
  }

  /** The cookie goes with every answer, also where it is of no session any more: another would be a new client's. */
  private cookieOf(handle: string | undefined): Record<string, string> {
    if (handle === undefined || !/^[A-Za-z0-9_-]{1,128}$/.test(handle)) return {}
    return { 'set-cookie': `${this.cookieName}=${handle}; Path=/; HttpOnly; SameSite=Lax` }
  }
}

function withCookie(answer: HttpAnswer, cookie: Record<string, string>): HttpAnswer {
  return { ...answer, headers: { ...answer.headers, ...cookie } }
}

/** Calls a tool. Whatever comes of it is text for the model; the status says whether it was what the model had wanted. */
async function callTool(path: string, call: HttpCall, episode: Episode | undefined): Promise<HttpAnswer> {
  const name = path.slice(1)
  if (!/^[A-Za-z0-9_.%-]{1,128}$/.test(name)) throw new HttpProblem(404, 'Not found.')
  const given = await call.json()
  if (episode === undefined)
    return { status: 404, text: 'Error: this session is not known here, has expired or was closed.' }
  episode.played = true
  try {
    const { content, error } = await episode.session.call({ name, arguments: given ?? {} })
    return { status: error === undefined ? 200 : 400, text: shownText(content) }
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown
    const { status, message } = refusal(thrown)
    return { status, text: `Error: ${message}` }
  }
}
