import { HttpProblem } from '../../core/http-port.ts'
import type { CreateRequest, SessionCore } from '../session/session.ts'
import { Episode } from './episode.ts'
import { reservedToolNames } from './parameter-names.ts'

/** Names that were given out and not used yet. Clients take one for every listing and give it back. */
const mostNames = 65_536
/** Milliseconds after which a name that was not used is forgotten. */
const nameMs = 900_000
const sweepMs = 30_000

/** The episodes of one environment by the names of their sessions, which whoever has one holds. */
export class Episodes {
  private readonly core: SessionCore
  private readonly log: (line: string) => void
  /** When each was given out. */
  private readonly names = new Map<string, number>()
  private readonly known = new Map<string, Episode>()
  private readonly sweeper: NodeJS.Timeout

  constructor(core: SessionCore, log: (line: string) => void) {
    this.core = core
    this.log = log
    this.sweeper = setInterval(() => this.sweep(performance.now()), sweepMs)
    this.sweeper.unref()
  }

  /** A name for a session that may come; nothing is made for it. */
  newName(): string {
    const name = this.core.newHandle()
    if (this.names.size >= mostNames) this.names.delete(this.names.keys().next().value!)
    this.names.set(name, performance.now())
    return name
  }

  /** Whether a name was given out and is not used up. */
  has(name: string): boolean {
    return this.names.has(name) || this.known.has(name)
  }

  /** The episode of a name; the same one when it is asked for again with the same task. */
  async create(name: string, request: Pick<CreateRequest, 'task' | 'seed'>): Promise<Episode> {
    // A name that the client made up could be guessed by another.
    if (!this.has(name)) return this.find(name)
    const session = await this.core.create({
      ...request,
      key: name,
      handle: name,
      answerTool: true,
      reserved: reservedToolNames,
    })
    this.names.delete(name)
    const known = this.known.get(name)
    if (known?.session === session) return known
    const episode = new Episode(session, this.log)
    this.known.set(name, episode)
    return episode
  }

  /** Throws 404 for a name that has no episode, and `session_gone` for one that had one. */
  find(name: string): Episode {
    const episode = this.known.get(name)
    if (episode !== undefined && episode.session.state !== 'closed') return episode
    this.known.delete(name)
    if (this.names.has(name)) throw new HttpProblem(404, 'That session has no episode: POST /create first.')
    this.core.session(name)
    // Somebody's session behind another door is nobody's here.
    throw new HttpProblem(404, 'There is no such session.')
  }

  /** Ends an episode, where there is one, and forgets the name where `all` of it is over. */
  async delete(name: string, all: boolean): Promise<void> {
    if (all) this.names.delete(name)
    const episode = this.known.get(name)
    if (episode === undefined) return
    this.known.delete(name)
    await episode.session.close()
  }

  close(): void {
    clearInterval(this.sweeper)
  }

  private sweep(now: number): void {
    for (const [name, given] of this.names) {
      // They are in the order in which they were given out.
      if (now - given < nameMs) break
      this.names.delete(name)
    }
    for (const [name, episode] of this.known) {
      if (episode.session.state === 'closed') this.known.delete(name)
      else episode.forgetOld(now)
    }
  }
}
