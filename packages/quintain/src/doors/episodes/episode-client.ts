import type { DoorName } from '../serve/door.ts'

/** A door, or the sessions beneath all of them without one. */
export type Way = DoorName | 'session'

/** What a client of a door reads of what came of a move. */
export interface ClientStep {
  text: string
  /** What the agent got wrong: its code, or true where the protocol says only that something was. */
  error?: string | true
  /** The protocol says whether the episode is over; undefined where it has no word for it. */
  done?: boolean
}

/** What a client is told of how an episode ended. */
export type ClientVerdict =
  /** `success` is undefined where the protocol has no word for it, null where the environment says nothing of it. */
  | { kind: 'scored'; reward: number; success?: boolean | null }
  | { kind: 'unscored' }
  | { kind: 'failed' }
  /** The protocol says that there is no number, and not whether that is a fault. */
  | { kind: 'no_number' }
  /** Nothing was said. */
  | { kind: 'none' }

/** What an agent behind a door begins with. */
export interface ClientOpening {
  /** All that it reads, in one. */
  text: string
  tools: readonly string[]
}

/** Of which reply of the model a call is, for protocols that can say it. */
export interface PartOfReply {
  /** The same for all calls of a reply that has several; undefined for one alone. */
  batch?: string
  /** What the model wrote beside its calls; with the first of them. */
  text?: string
}

/** One episode, spoken in a protocol's own words. Methods throw a `ClientRefused` for what the door refuses. */
export interface EpisodeClient {
  readonly opening: ClientOpening
  /** Calls a tool of the environment; `args` is what the model wrote. */
  call(name: string, args: string, reply: PartOfReply): Promise<ClientStep>
  /** Says something to the environment, or gives the answer where it answers nothing. */
  say(text: string): Promise<ClientStep>
  /** The client is done: how did it end? */
  end(): Promise<ClientVerdict>
  close(): Promise<void>
}

/** The task of an episode, and the tools that its recording names: doors show them in the same order. */
export interface PlayedTask {
  id: string
  split: string
  tools: readonly string[]
}

/** How episodes are played through one door. */
export interface Player {
  readonly way: Way
  /** Arguments that are no JSON object can be sent. */
  readonly anyArguments: boolean
  /** What the protocol has no word for, and so is not compared. */
  readonly unsaid: readonly string[]
  open(task: PlayedTask): Promise<EpisodeClient>
  close(): Promise<void>
}

/** A door refused something, or told of the end of an episode where it should have answered. */
export class ClientRefused extends Error {
  override readonly name = 'ClientRefused'
  /** What it says of the whole episode by that; undefined for a refusal that says nothing of it. */
  readonly verdict: ClientVerdict['kind'] | undefined

  constructor(message: string, verdict?: 'failed' | 'unscored' | 'no_number') {
    super(message)
    this.verdict = verdict
  }
}
