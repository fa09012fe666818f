import type { Content, Fault, Message, Need, Outcome, PublicTask, ToolSpec } from '../../core/index.ts'

/*
 * The server-side episode under all doors. A door turns its protocol's requests into these calls and nothing else: what a
 * session is, when it ends, what it earns and what is refused is the same behind every one of them. A session is an
 * ordinary attempt of an ordinary run, whose agent is played by whoever holds the session.
 */

/** What an environment shows of itself to doors and their clients. Nothing in it is secret. */
export interface ServedEnvironment {
  /** Name and version of its package. */
  name: string
  version: string
  /** The name without scope, of lower-case letters, digits and underscores, as protocols put it into paths. */
  slug: string
  description: string
  digest: string
  needs: readonly Need[]
  /** Weights of its rewards; group rewards are left out where a door serves without them. */
  rewards: Readonly<Record<string, number>>
  metrics: readonly string[]
  /** It says of each rollout whether it succeeded. */
  success: boolean
}

export interface ServedSplit {
  name: string
  /** What trainers call it: a split is for training, validation or testing. */
  type: 'train' | 'validation' | 'test'
  tasks: number
}

/** A task as listings show it. */
export interface ListedTask {
  id: string
  split: string
  /** Place within its split. */
  index: number
  /** The public part, prompt included. */
  task: PublicTask
}

/** Which task a session plays. A seed alone picks one, the same one every time. */
export type TaskChoice = { id: string } | { split: string; index: number } | { split?: string; seed: string }

export interface CreateRequest {
  task: TaskChoice
  /** A name of the client's for the episode. The same name with the same task gives the same session again. */
  key?: string
  /** A handle that `SessionCore.newHandle` gave before; a fresh one when absent. */
  handle?: string
  /**
   * Only the seed of the server itself can be honoured beside a task that is named, since worlds are made from it. Another
   * is refused with `seed_refused`; null and undefined ask for nothing.
   */
  seed?: unknown
  /** Offer a tool by which a client that can only call tools speaks: `submit_answer`, or `say` where the environment answers. */
  answerTool?: boolean
  /** Names of tools that the protocol keeps for itself; a tool of that name is shown under another. */
  reserved?: ReadonlySet<string>
}

/** What an agent has to begin with. */
export interface Opening {
  /** System message, prompt and first observation. */
  messages: readonly Message[]
  /** Under names that are Python identifiers and not reserved; `Session.call` takes these. */
  tools: readonly ToolSpec[]
  /** The one among `tools` by which a client speaks; undefined where none was asked for. */
  answerTool: string | undefined
  /** The environment answers what the agent says; otherwise what it says ends the episode. */
  replies: boolean
}

/** What came of a step. */
export interface Step {
  content: Content
  /** Code of what the agent got wrong, such as `unknown_tool`; the episode goes on. */
  error?: string
  /** The episode is over, and this is why. `Session.settled` tells what it earned. */
  done?: string
}

export interface CallRequest {
  /** Name of the call. A repeated one gives the result that the first gave, and carries nothing out. */
  id?: string
  name: string
  /** An object, or JSON text. Nulls in the place of optional arguments are taken out. */
  arguments: unknown
  /** What the model said beside the call, for the transcript; of a batch, with its first call. */
  text?: string
  /** Calls in a row of the same batch were made in one reply of the model, and count as one turn; a call without one is a turn. */
  batch?: string
}

export interface ActRequest {
  id?: string
  /** What the agent says. */
  content: Content
}

/** How an episode ended. */
export type Settled =
  | {
      kind: 'scored'
      reward: number
      success: boolean | null
      rewards: Readonly<Record<string, number | null>>
      metrics: Readonly<Record<string, number | null>>
      outcome: Outcome
      stop?: string
    }
  /** There is no number, and that is nobody's fault: the reason is a public code. */
  | { kind: 'unscored'; reason: string; outcome: Outcome; metrics: Readonly<Record<string, number | null>> }
  /** Infrastructure failed, or the client left. Never a number. */
  | { kind: 'failed'; fault: Fault }

export type SessionState = 'opening' | 'open' | 'grading' | 'settled' | 'closed'

export interface Session {
  /** Unguessable; whoever has it holds the session. */
  readonly handle: string
  readonly task: ListedTask
  readonly state: SessionState
  /** Resolves when the world is there. Rejects with `infrastructure` when it does not come. */
  opened(): Promise<Opening>
  /**
   * Calls a tool; steps of a session are carried out one after the other, in the order in which they came. What the agent
   * got wrong is a step with `error`. Rejects with a `SessionError`: `episode_over`, `call_conflict`, `busy`,
   * `session_gone`, `infrastructure`.
   */
  call(request: CallRequest): Promise<Step>
  /** Says something; as `call`. */
  act(request: ActRequest): Promise<Step>
  /**
   * Ends the agent's part, saying `answer` first where it is given and was not said, and grades what is left behind. Asked
   * again it gives the same. Rejects with `session_gone` after `close`.
   */
  grade(request?: { answer?: Content }): Promise<Settled>
  /** What the episode came to, once it is over by itself or by `grade`. */
  settled(): Promise<Settled>
  /** The same, where it is known already. */
  readonly verdict: Settled | undefined
  /** The client is there: moves the session's expiry. Every other call does so too. */
  touch(): void
  /** Forgets the session. An episode that was not over is recorded as a fault, since nobody said what it was worth. Can be repeated. */
  close(): Promise<void>
}

export interface CoreStats {
  /** Sessions whose world is held. */
  open: number
  most: number
  draining: boolean
  created: number
  scored: number
  unscored: number
  /** Failed, by owner and code of the fault. */
  failed: Readonly<Record<string, number>>
  /** Steps that were carried out; how many took at most so many milliseconds, and all of them together. */
  steps: { count: number; totalMs: number; buckets: readonly { ms: number; count: number }[] }
  /** Refused, by code. */
  refused: Readonly<Record<string, number>>
}

/** One environment, served. */
export interface SessionCore {
  readonly environment: ServedEnvironment
  readonly splits: readonly ServedSplit[]
  /** Tasks of a split from one place to before another, as far as there are any. Throws `unknown_split`. */
  tasks(split: string, from: number, to: number): Promise<ListedTask[]>
  /** Throws `unknown_split`, `unknown_task`. */
  task(choice: TaskChoice): Promise<ListedTask>
  newHandle(): string
  /** What an agent would begin with: the task's world is opened, looked at and closed, and nothing is recorded. Throws as `create`. */
  preview(choice: TaskChoice, request?: Pick<CreateRequest, 'answerTool' | 'reserved'>): Promise<Opening>
  /**
   * A session, whose world opens meanwhile; or the one that the key names already. Throws a `SessionError`: `at_capacity`,
   * `draining`, `unknown_split`, `unknown_task`, `seed_refused`, `session_conflict`, `session_gone`.
   */
  create(request: CreateRequest): Promise<Session>
  /** Throws `session_unknown` and, for one that was closed or has expired, `session_gone`. */
  session(handle: string): Session
  stats(): CoreStats
  /** Takes no more sessions; resolves when those that are open have ended, or at `deadlineMs`. */
  drain(deadlineMs: number): Promise<void>
  /** Ends every session and the workers; what is recorded is whole. */
  close(): Promise<void>
}
