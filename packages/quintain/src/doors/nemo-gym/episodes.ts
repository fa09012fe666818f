import { randomBytes } from 'node:crypto'
import { HttpProblem } from '../../core/http-port.ts'
import type { SessionTools } from '../../mcp/index.ts'
import type { Opening, Session, SessionCore, TaskChoice } from '../session/session.ts'
import { mcpOfSession } from '../session/session-mcp.ts'
import { reservedTools } from './paths.ts'

/** A session as this door's clients hold it: trainers by its cookie, agents by its token. */
export interface Episode {
  session: Session
  opening: Opening
  /** What MCP clients show. Another credential than the cookie: an agent must not be able to verify or close. */
  token: string
  /** Tools were called or something was said; a seed that is repeated now is no repetition. */
  played: boolean
  tools: SessionTools | undefined
  /** Rollout and attempt, where the caller named them. */
  episode: string | undefined
  /** The answer that it was verified with. */
  verified?: { answer: string | undefined }
}

interface Named {
  /** Rollout and attempt, as the caller calls them. */
  episode: string
  task: string
  opening: Promise<Episode> | undefined
  begun: Episode | undefined
  closed: boolean
}

/** Names of closed sessions that are remembered, so that a seed that comes late opens none of them again. */
const mostNames = 100_000

/** The sessions that clients of one resources server hold. */
export class Episodes {
  private readonly core: SessionCore
  private readonly byHandle = new Map<string, Episode>()
  private readonly byToken = new Map<string, Episode>()
  private readonly named = new Map<string, Named>()
  private sweepAt = 64

  constructor(core: SessionCore) {
    this.core = core
  }

  /** Begins an episode; resolves when its world is there. Throws a `SessionError`. */
  async begin(task: TaskChoice, name?: string): Promise<Episode> {
    const session = await this.core.create({
      task,
      // Agents of NeMo Gym end an episode by saying something, so where the environment answers they speak by a tool.
      answerTool: this.core.environment.needs.includes('turns'),
      reserved: reservedTools,
    })
    const opening = await session.opened()
    const token = randomBytes(24).toString('base64url')
    const episode: Episode = { session, opening, token, played: false, tools: undefined, episode: name }
    this.sweep()
    this.byHandle.set(session.handle, episode)
    this.byToken.set(token, episode)
    return episode
  }

  /**
   * Begins the episode that a caller names, or gives the one that it began before. Throws `HttpProblem` 409 for a name that
   * is another episode's or another task's, or was closed.
   */
  async beginNamed(name: string, { episode, task }: { episode: string; task: TaskChoice }): Promise<Episode> {
    const asked = JSON.stringify(task)
    const known = this.named.get(name)
    if (known?.closed === true) throw new HttpProblem(409, 'That session was closed.')
    if (known?.opening !== undefined) {
      if (known.episode !== episode || known.task !== asked)
        throw new HttpProblem(409, 'That session is of another episode or task.')
      if (known.begun?.session.state === 'closed') throw new HttpProblem(409, 'That session has expired.')
      return known.opening
    }
    const opening = this.begin(task, episode)
    const entry: Named = { episode, task: asked, opening, begun: undefined, closed: false }
    this.named.set(name, entry)
    let begun: Episode
    try {
      begun = await opening
    } catch (thrown) {
      // What did not begin can be tried again.
      if (!entry.closed && this.named.get(name) === entry) this.named.delete(name)
      throw thrown
    }
    // It was closed meanwhile, by a cleanup that did not wait.
    if (entry.closed) throw new HttpProblem(409, 'That session was closed.')
    entry.begun = begun
    return begun
  }

  /**
   * Closes the session of a name; so does every repetition, and so it is for a name that was never begun, which nobody can
   * begin after that. Throws `HttpProblem` 409 for a name that is another episode's.
   */
  async closeNamed(name: string, episode: string): Promise<void> {
    const known = this.named.get(name)
    if (known !== undefined && known.episode !== episode)
      throw new HttpProblem(409, 'That session is of another episode.')
    const entry: Named = known ?? {
      episode,
      task: '',
      opening: undefined,
      begun: undefined,
      closed: false,
    }
    const before = entry.closed
    entry.closed = true
    this.named.delete(name)
    this.named.set(name, entry)
    this.forgetNames()
    try {
      const begun = await entry.opening?.catch(() => undefined)
      await begun?.session.close()
      entry.opening = undefined
      entry.begun = undefined
    } catch (thrown) {
      // It is not closed, so the caller may ask again.
      entry.closed = before
      throw thrown
    }
  }

  /** The episode of a cookie, while somebody holds it. */
  ofCookie(handle: string | undefined): Episode | undefined {
    return alive(handle === undefined ? undefined : this.byHandle.get(handle))
  }

  ofToken(token: string): Episode | undefined {
    return alive(this.byToken.get(token))
  }

  /** The MCP endpoint of an episode. */
  toolsOf(episode: Episode): SessionTools {
    episode.tools ??= mcpOfSession(episode.session, episode.opening)
    return episode.tools
  }

  /** Ends what was opened for clients; the sessions themselves are the core's. */
  async close(): Promise<void> {
    await Promise.all([...this.byHandle.values()].map(({ tools }) => tools?.close()))
    this.byHandle.clear()
    this.byToken.clear()
  }

  /** Forgets sessions that have gone, once as many as were kept before have come. */
  private sweep(): void {
    if (this.byHandle.size < this.sweepAt) return
    for (const [handle, episode] of this.byHandle) {
      if (episode.session.state !== 'closed') continue
      this.byHandle.delete(handle)
      this.byToken.delete(episode.token)
      void episode.tools?.close()
    }
    this.sweepAt = Math.max(64, 2 * this.byHandle.size)
    this.forgetNames()
  }

  private forgetNames(): void {
    for (const [name, entry] of this.named) {
      if (this.named.size <= mostNames) return
      if (entry.closed || entry.begun?.session.state === 'closed') this.named.delete(name)
    }
  }
}

function alive(episode: Episode | undefined): Episode | undefined {
  return episode === undefined || episode.session.state === 'closed' ? undefined : episode
}
