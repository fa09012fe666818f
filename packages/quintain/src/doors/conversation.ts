import type { Fault, Message, Outcome, ToolSpec, Usage } from '../core/index.ts'

/** A recorded conversation, whatever wrote it. What its file does not say is absent: nothing here is guessed. */
export interface Conversation {
  /** Where it stands in its file, such as `line 3`. */
  place: string
  /** The task that it was an attempt at, when the file names one. */
  task?: string
  /** Which attempt at it, from 0, when the file says so. */
  trial?: number
  messages: Message[]
  /** Which of the messages a model produced, where the file says so; those of the assistant after a first question when absent. */
  sampled?: readonly boolean[]
  /** Tools that were on offer, when the file says so. */
  tools?: readonly ToolSpec[]
  /** The reward that the file holds; null when it says that there is none. */
  reward?: number | null
  success?: boolean
  /** Parts of the reward that count for nothing by themselves. */
  metrics?: Record<string, number | null>
  /** What was measured: the environment, or the task of a whole evaluation. */
  measured?: string
  /** Who played: a model's name. */
  policy?: string
  sampling?: Record<string, unknown>
  outcome: Outcome
  stop?: string
  /** Set when what the file holds is no attempt of the agent, such as an exception of the original's. */
  fault?: Fault
  usage?: Usage
  /** US dollars; null is unknown. */
  costUsd?: { agent?: number | null; simulator?: number | null }
  /** When it began and ended, ISO 8601. */
  start?: string
  end?: string
  split?: string
  tags?: readonly string[]
  /** Gold answers and whatever else the agent was not to see. */
  secret?: unknown
  /** All that the file holds beside; for the private records, since nobody knows what is in it. */
  rest?: Record<string, unknown>
  /** What was odd about it and kept all the same. */
  notes: string[]
  /** What is true of all conversations of its kind, and a reader of the figures must know. */
  caveats?: readonly string[]
}

/** A conversation, or what stands in its place and cannot be read. */
export type ReadConversation = Conversation | { place: string; problem: string }

/** A value of a file of recordings and where it stands, or why there is none. */
export type RecordedValue = { place: string } & ({ value: unknown } | { problem: string })

/** A format of recorded conversations. */
export interface ConversationFormat {
  name: string
  /** Whether a value looks like this format. */
  knows(value: unknown): boolean
  /** A value as a conversation, or what is wrong with it. */
  read(value: unknown): Omit<Conversation, 'place'> | string
  /** In the place of `read`, where one value may be several conversations. */
  readAll?(value: unknown): (Omit<Conversation, 'place'> | string)[]
  /** The values of a file, where they are not lines of JSON, nor the elements of an array. */
  values?(path: string): AsyncGenerator<RecordedValue, void, undefined>
  /** What a reward of this format says, for the rubric of an imported run. */
  rubric: string
  /** Whether a reward is a success; undefined where rewards do not say. */
  isSuccess?: (reward: number) => boolean
  metrics: readonly string[]
  /** True where every conversation must have a reward. */
  needsReward: boolean
}
