import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Clock } from './clock.ts'
import type { Duration } from './duration.ts'
import { QuintainError } from './errors.ts'
import { FaultError } from './fault-error.ts'
import type { AskJudge } from './judge.ts'
import type { Content, Message, ToolMessage } from './message.ts'
import type { Outcome } from './records.ts'
import type { Rng } from './rng.ts'
import type { Box, BoxLimits, BoxOptions, ExecResult } from './sandbox.ts'
import { refuseUnknown } from './suggest.ts'
import type { Tool } from './tool.ts'
import type { WireSettings } from './wire.ts'

/** The contract version that this package speaks; `package.json` of an environment names it under `quintain.contract`. */
export const contractVersion = 1

/** One of the parties of a rollout; `agent` unless an environment says otherwise. */
export type Seat = string

/** Budgets. A field that is absent is no limit, but for the defaults of `tool` (60 s) and `grade` (120 s). */
export interface Limits {
  /** Model calls of a seat. */
  turns?: number
  /** Output tokens of a seat over all its calls. */
  tokens?: number
  /** US dollars of a seat. */
  costUsd?: number
  /** Agent time of an attempt: model and tools, without queueing and back-off. */
  wall?: Duration
  /** One tool call, or one step of the world. */
  tool?: Duration
  /** All grading of an attempt. */
  grade?: Duration
}

/** A problem as an environment's author writes it. Fields that are not named here are refused. */
export interface TaskInput<Data = unknown, Secret = unknown> {
  /** Stable under edits of the rest. */
  id: string
  /** `test` when absent. */
  split?: string
  /** What the agent is told first: text of a user message, or messages. */
  prompt?: string | readonly Message[]
  /** The rest of the public part. */
  data?: Data
  /** Gold answers, hidden tests, the world's seed. Never reaches an agent, a model, a listing or a publishable record. */
  secret?: Secret
  limits?: Limits
  tags?: readonly string[]
  source?: string
  licence?: string
  canary?: string
}

/** A problem as worlds, rewards and oracles see it. */
export interface Task<Data = unknown, Secret = unknown> extends TaskInput<Data, Secret> {
  split: string
  data: Data
  secret: Secret
}

/** A problem as agents, models, harnesses and listings see it. */
export type PublicTask<Data = unknown> = Omit<Task<Data>, 'secret'>

/** Tasks that are made on demand. `rng` depends on the run's seed and the index alone. */
export interface IndexedTasks<Data, Secret> {
  readonly size: number
  at(index: number, context: { rng: Rng }): TaskInput<Data, Secret> | Promise<TaskInput<Data, Secret>>
}

export type TaskSource<Data, Secret> =
  | readonly TaskInput<Data, Secret>[]
  | Iterable<TaskInput<Data, Secret>>
  | AsyncIterable<TaskInput<Data, Secret>>
  | IndexedTasks<Data, Secret>

/** The environment's answer to a message: what is said next, whether the episode is over and why, a reward for the step, and whose turn it is. */
export interface Turn {
  content: Content
  /** Reason of the end, such as `won`. The rollout's outcome becomes `env_done`. */
  done?: string
  reward?: number
  /** The seat that reads `content`; the same seat when absent. */
  next?: Seat
}

/**
 * The state that an agent acts on. One fresh instance per attempt. Every method may be async; each runs under a
 * deadline, and one that throws or hangs is a fault of the world, never a score.
 */
export interface World<State> {
  /** First observation of a seat, called before its first turn. */
  open?(seat: Seat): Content | undefined | Promise<Content | undefined>
  /** The environment's turn after a message of a seat that called no tool. A world without it ends the rollout there. */
  reply?(message: Content, seat: Seat): Turn | Promise<Turn>
  tools?(seat: Seat): readonly Tool[] | Promise<readonly Tool[]>
  /** Environment variables for an agent that brings its own tools: addresses of its API, its database. */
  endpoints?(): Record<string, string> | Promise<Record<string, string>>
  /** Settle and collect. The last touch of the live world; plain data that survives JSON. */
  finish(): State | Promise<State>
  /** A copy of the world at this moment, plain data; kept in the private records. */
  snapshot?(): unknown
  restore?(snapshot: unknown): void | Promise<void>
  close?(): void | Promise<void>
}

/** What a box of an environment starts with; image and further limits stand in its definition (`sandbox`). */
export interface EnvironmentBoxOptions
  extends Pick<BoxOptions, 'workdir' | 'files' | 'readOnlyFiles' | 'env' | 'limits'> {
  /** No network, or these ports of the host's loopback interface, which the environment must be permitted (`permissions.network`). */
  network?: 'none' | { sockets: readonly { box: { port: number }; host: { port: number } }[] }
}

/** Boxes for a world: where an agent's commands run, and services that the world plays. */
export interface Sandbox {
  /**
   * A fresh box. It is stopped when the attempt ends, whoever forgot to, and at the latest before grading begins. Waits
   * while the run has as many boxes open as it may; no deadline and no agent's clock runs meanwhile.
   *
   * Throws a fault of owner `sandbox` when no box came up, and `too_many_boxes` of owner `world` above
   * `sandbox.boxes`.
   */
  start(options?: EnvironmentBoxOptions): Promise<Box>
}

/** What was collected of the world's first box when the world had finished. */
export interface Artefacts {
  /** SHA-256 over paths, modes and contents. */
  readonly digest: string
  readonly entries: readonly { path: string; kind: 'file' | 'folder' | 'link'; size: number }[]
  /** What was declared and is not there, with why: the agent's doing, and for graders to judge. */
  readonly skipped: readonly { path: string; reason: string }[]
}

export interface GradingBoxOptions extends Omit<EnvironmentBoxOptions, 'network'> {
  /**
   * How the artefacts of the agent's box are put into this one, at their paths: as files that nothing in it can change
   * (the default), as files that it may change, or not at all. Links are kept only where they lead to an artefact.
   */
  artefacts?: 'read-only' | 'writable' | 'none'
  /**
   * Start a Python interpreter with the box, whose end `GradingBox.ended` tells. Boxes of the same options are kept ready, so
   * that interpreters have started and imported before they are wanted; each is given out once. Without artefacts only.
   */
  python?: GradingPython
}

/** An interpreter in a grading box: the one that whoever runs has named (`QUINTAIN_PYTHON`), else `python3` of the box. */
export interface GradingPython {
  /** After the name of the interpreter. Nothing of a task belongs here: such a box is for any. */
  arguments: readonly string[]
  /** Name to talk with it by. The variable `QUINTAIN_SITE` tells it folders of packages, with colons between. */
  talk: string
}

/** Boxes for graders. The agent's own boxes are gone by then, with every process in them. */
export interface GradingSandbox {
  /** Null where nothing was declared (`sandbox.artefacts`), or the world started no box. */
  readonly artefacts: Artefacts | null
  /** Wall clock of the whole grading, in milliseconds: limit `grade`. */
  readonly wallMs?: number
  /** A fresh box with the artefacts and what is given here; see `runChecks` of `quintain/scoring`. Stopped when the grading ends. */
  start(options?: GradingBoxOptions): Promise<GradingBox>
}

export interface GradingBox extends Box {
  /** How the artefacts are in it: drivers can keep only so many as files that nothing can change. */
  readonly artefacts?: 'read-only' | 'writable' | 'none'
  /** How the interpreter ended that was started with the box (`python`). The signal ends it. */
  ended?(options?: { signal?: AbortSignal }): Promise<ExecResult>
}

export interface WorldContext<Options> {
  options: Options
  /** Boxes, for an environment that declares `sandbox`. */
  sandbox: Sandbox
  /** Seeded by the task: every attempt of a task gets the same sequence. */
  rng: Rng
  clock: Clock
  /** Aborted when the attempt is over, for whatever the world started. */
  signal: AbortSignal
}

/** A tool call that an agent made, with what came of it. */
export interface CallView {
  name: string
  /** Parsed arguments; undefined when they could not be parsed. */
  arguments: unknown
  result: string
  error?: string
}

/** What graders see of an attempt. Reasoning is left out unless asked for. */
export interface Transcript {
  /** Messages of the agent's seat, in order, without reasoning. */
  readonly messages: readonly Message[]
  /** Text of the agent's last message; empty when it said nothing. */
  readonly answer: string
  /** The reasoning that providers returned apart, one text per model call that had any. */
  readonly reasoning: readonly string[]
  readonly toolCalls: readonly CallView[]
  readonly outcome: Outcome
  /** The environment's reason for the end (`Turn.done`), or the harness's own word. */
  readonly stop: string | undefined
  /** Model calls of the agent's seat. */
  readonly turns: number
  /** Rewards that came with the environment's turns, in order. */
  readonly turnRewards: readonly number[]
  /** Messages of another seat. */
  seat(name: Seat): readonly Message[]
}

const unscoredMarker = Symbol.for('quintain.unscored')

/** "There is no number here, and this is why." Made by `unscored()`. */
export interface Unscored {
  readonly [unscoredMarker]: true
  readonly reason: string
}

/**
 * A reward that cannot be given. The reason is a short public code such as `not_attempted`; do not quote gold in it.
 *
 * @example rewards: { exact: ({ transcript }) => transcript.answer === '' ? unscored('no_answer') : 1 }
 */
export function unscored(reason: string): Unscored {
  return { [unscoredMarker]: true, reason }
}

export function isUnscored(value: unknown): value is Unscored {
  return typeof value === 'object' && value !== null && unscoredMarker in value
}

/** A reward with its evidence. `explain` may quote gold: it is kept in the private records. */
export interface Graded {
  value: number | readonly number[]
  /** How many checks the grader was to run, and how many it ran. Fewer run than expected is a grader fault. */
  checks?: { expected: number; run: number }
  explain?: unknown
}

/** A number, numbers per step (their sum counts), a graded value, or `unscored(reason)`. */
export type RewardValue = number | readonly number[] | Graded | Unscored

export interface RewardContext<Options, Data, Secret, State> {
  task: Task<Data, Secret>
  transcript: Transcript
  /** What `finish()` returned. */
  state: State
  /** Fresh boxes with the artefacts of the agent's, for an environment that declares `sandbox`. */
  sandbox: GradingSandbox
  /** Asks a model that the environment names in `judges`. */
  judge: AskJudge
  options: Options
  /** Aborted at the end of the grading budget. */
  signal: AbortSignal
}

export type RewardFunction<Options, Data, Secret, State> = (
  context: RewardContext<Options, Data, Secret, State>,
) => RewardValue | Promise<RewardValue>

/**
 * A reward function, of weight 1 and for the agent unless said otherwise. With `seat` it is a reward of that seat, as
 * in self-play, and not a part of the agent's.
 */
export type Reward<Options, Data, Secret, State> =
  | RewardFunction<Options, Data, Secret, State>
  | { weight: number; seat?: Seat; reward: RewardFunction<Options, Data, Secret, State> }

export interface GroupMember<Data, Secret, State> {
  /** Attempt id: the key of what a group reward returns. */
  id: string
  task: Task<Data, Secret>
  transcript: Transcript
  state: State
  /** The member's own rewards by name. */
  rewards: Readonly<Record<string, number | null>>
}

/** A reward that needs all members of a group. Returns a value for each member, by id; a missing one is a grader fault. */
export interface GroupReward<Options, Data, Secret, State> {
  weight?: number
  /** Fewest members that make a group; 2 when absent. A smaller group is unscored with `group_too_small`. */
  atLeast?: number
  reward(context: {
    members: readonly GroupMember<Data, Secret, State>[]
    options: Options
    signal: AbortSignal
  }): Record<string, number | Unscored> | Promise<Record<string, number | Unscored>>
}

/** What a scripted policy does: says a text, calls tools, or both. */
export type Action =
  | string
  | ScriptedCall
  | readonly ScriptedCall[]
  | { text: string; calls?: readonly ScriptedCall[] }
export interface ScriptedCall {
  tool: string
  arguments?: Record<string, unknown>
}

/** What a scripted policy sees after an action, and before its first one. */
export interface Observation {
  /** Text of the new messages that are not its own, joined by line breaks. */
  text: string
  /** The whole conversation so far. */
  messages: readonly Message[]
  /** Results of the calls of its last action, in order. */
  results: readonly ToolMessage[]
}

/** A scripted policy. It ends the rollout's seat by returning; a returned text is said first. */
export type Script =
  | Generator<Action, Action | void, Observation>
  | AsyncGenerator<Action, Action | void, Observation>

export interface ScriptContext<Options, SeenTask> {
  task: SeenTask
  options: Options
  rng: Rng
  /** What the policy sees before its first action. */
  observation: Observation
  /** Names and parameters of the tools on offer. */
  tools: readonly { name: string; parameters: Record<string, unknown> }[]
}

export interface SeatDefinition<Options, Data, Secret> {
  system?: string | ((context: { task: Task<Data, Secret>; options: Options }) => string)
  /** Who plays this seat when nobody else is named: a script that knows the secret, such as a simulated user. */
  play?: (context: ScriptContext<Options, Task<Data, Secret>>) => Script
}

/** What the process of an environment may touch beside its own files. Everything is off unless it is declared here. */
export interface Permissions {
  /** Files and folders to read. */
  read?: readonly string[]
  /** Files and folders to write. */
  write?: readonly string[]
  network?: boolean
  subprocess?: boolean
  addons?: boolean
}

/** What an environment asks of the boxes that it runs in. With it the environment needs a sandbox. */
export interface SandboxDefinition {
  /** Names of the drivers that can run it, such as `['bwrap', 'docker']`; any when absent. */
  drivers?: readonly string[]
  /** The system in its boxes: an image reference for containers, a folder with a root file system for `bwrap`. */
  image?: string
  /** Of every box, unless it is started with limits of its own. */
  limits?: Partial<BoxLimits>
  /**
   * Absolute paths in the world's first box: when the world has finished they are collected, and restored read-only in
   * the boxes of graders. What is not declared, graders do not see.
   */
  artefacts?: readonly string[]
  /** Boxes that an attempt has open at once; 1 when absent. An attempt waits for all of its boxes together, so that none waits for another for ever. Grading may have two, in any case. */
  boxes?: number
}

/** JSON of any shape, or of a schema. */
export type OutputFormat = NonNullable<WireSettings['responseFormat']>

/** What an environment asks of a harness or a door. */
export type Need = 'turns' | 'tools' | 'seats' | 'images' | 'groupRewards' | 'sandbox'

/** The definition of an environment; see `environment()`. */
export interface Definition<
  OptionsSchema extends StandardSchemaV1,
  Data,
  Secret,
  State,
  Rewards extends string,
  Metrics extends string,
> {
  /** A schema of the options, with their defaults. Any Standard Schema. */
  options?: OptionsSchema
  /** The system message of the agent's seat. It belongs to the environment, so every door carries it. */
  system?: string | ((context: { options: StandardSchemaV1.InferOutput<OptionsSchema> }) => string)
  tasks:
    | TaskSource<Data, Secret>
    | ((context: {
        options: StandardSchemaV1.InferOutput<OptionsSchema>
      }) => TaskSource<Data, Secret> | Promise<TaskSource<Data, Secret>>)
  limits?: Limits | ((context: { options: StandardSchemaV1.InferOutput<OptionsSchema> }) => Limits)
  /** What it asks of harnesses and doors. When absent, the first task's world is opened once and looked at. */
  needs?: readonly Need[]
  permissions?:
    | Permissions
    | ((context: { options: StandardSchemaV1.InferOutput<OptionsSchema> }) => Permissions)
  /** It runs in boxes: of what kind, and what is kept of them for graders. */
  sandbox?:
    | SandboxDefinition
    | ((context: { options: StandardSchemaV1.InferOutput<OptionsSchema> }) => SandboxDefinition)
  /**
   * Names of models that its graders ask, such as the one that a hosted grader was written for. Whoever runs it says which
   * model each of them is (`--judge NAME=MODEL`); without that nothing is run, since judges cost money.
   */
  judges?:
    | readonly string[]
    | ((context: { options: StandardSchemaV1.InferOutput<OptionsSchema> }) => readonly string[])
  /** The form in which the agent's model is asked to answer, where its provider can be told so. Agents of one's own ask for it themselves. */
  output?:
    | OutputFormat
    | ((context: { options: StandardSchemaV1.InferOutput<OptionsSchema> }) => OutputFormat | undefined)
  /** Seats beside `agent`. */
  seats?: Record<Seat, SeatDefinition<StandardSchemaV1.InferOutput<OptionsSchema>, Data, Secret>>
  /** The seat that moves first; `agent` when absent. */
  first?:
    | Seat
    | ((context: { task: Task<Data, Secret>; options: StandardSchemaV1.InferOutput<OptionsSchema> }) => Seat)
  /** A fresh world for an attempt. An environment without one asks a single question and its state is null. */
  world?: (
    task: Task<Data, Secret>,
    context: WorldContext<StandardSchemaV1.InferOutput<OptionsSchema>>,
  ) => World<State> | Promise<World<State>>
  rewards: {
    [Name in Rewards]: Reward<StandardSchemaV1.InferOutput<OptionsSchema>, Data, Secret, State>
  }
  groupRewards?: Record<string, GroupReward<StandardSchemaV1.InferOutput<OptionsSchema>, Data, Secret, State>>
  metrics?: {
    [Name in Metrics]: (
      context: RewardContext<StandardSchemaV1.InferOutput<OptionsSchema>, Data, Secret, State>,
    ) => number | null | Promise<number | null>
  }
  /** Whether the rollout counts as solved, apart from shaping. Needs every reward; null when one is null. */
  success?: (context: {
    rewards: Readonly<Record<Rewards, number>>
    metrics: Readonly<Record<Metrics, number | null>>
    state: State
  }) => boolean
  /** Solves a task given its secret. */
  oracle?: (context: ScriptContext<StandardSchemaV1.InferOutput<OptionsSchema>, Task<Data, Secret>>) => Script
  /** Named policies that see what an agent sees. `random` is the one that makes legal moves at random. */
  policies?: Record<
    string,
    (context: ScriptContext<StandardSchemaV1.InferOutput<OptionsSchema>, PublicTask<Data>>) => Script
  >
  /**
   * Which of `policies` cannot play with these options, by name, and what they lack, in a sentence. Naming one of them is
   * refused before anything is ordered.
   */
  unplayable?: (context: {
    options: StandardSchemaV1.InferOutput<OptionsSchema>
  }) => Readonly<Record<string, string>>
  /**
   * Policies that know nothing of the task (`noop`, `random`, or ones of `policies`). `eval` plays them beside whoever
   * is measured, and the report says what they reached: the floor, which an agent has to leave to have shown anything.
   */
  floor?: readonly string[]
  /** What whoever runs it should know, such as that it plays on a sample; said before a run and in its report. */
  notes?: (context: { options: StandardSchemaV1.InferOutput<OptionsSchema> }) => readonly string[]
}

/** A definition with its types forgotten, as the engine uses it. */
export type ErasedDefinition = Definition<StandardSchemaV1, unknown, unknown, unknown, string, string>

const environmentMarker = Symbol.for('quintain.environment')

/** An environment, as a package exports it by default. */
export interface Environment<Options = unknown, Data = unknown, Secret = unknown, State = unknown> {
  readonly [environmentMarker]: typeof contractVersion
  readonly definition: ErasedDefinition
  /** For inference only; never set. */
  readonly types?: { options: Options; data: Data; secret: Secret; state: State }
}

const definitionKeys = [
  'options',
  'system',
  'tasks',
  'limits',
  'needs',
  'permissions',
  'sandbox',
  'judges',
  'output',
  'seats',
  'first',
  'world',
  'rewards',
  'groupRewards',
  'metrics',
  'success',
  'oracle',
  'policies',
  'unplayable',
  'floor',
  'notes',
] as const satisfies readonly (keyof ErasedDefinition)[]

/**
 * Defines an environment: tasks, the world, and the rewards that judge what was left behind.
 * Types flow: `task.secret`, `options` and `state` are known in every reward without annotation.
 *
 * Throws `definition_invalid` for unknown fields and missing parts.
 *
 * @example
 * export default environment({
 *   tasks: [{ id: 'sum', prompt: '2 + 2 = ?', secret: { answer: '4' } }],
 *   rewards: { exact: ({ task, transcript }) => Number(transcript.answer.trim() === task.secret.answer) },
 *   success: ({ rewards }) => rewards.exact === 1,
 *   *oracle({ task }) { yield task.secret.answer },
 * })
 */
export function environment<
  Data,
  Secret,
  State,
  Rewards extends string,
  Metrics extends string = never,
  OptionsSchema extends StandardSchemaV1 = StandardSchemaV1<unknown, Record<string, never>>,
>(
  definition: Definition<OptionsSchema, Data, Secret, State, Rewards, Metrics>,
): Environment<StandardSchemaV1.InferOutput<OptionsSchema>, Data, Secret, State> {
  if (typeof definition !== 'object' || definition === null)
    complain('give a definition with at least tasks and rewards.')
  refuseUnknown(definition, definitionKeys, 'definition_invalid', 'environment(): unknown field')
  if (definition.tasks === undefined)
    complain('"tasks" is missing; give an array, an iterable or { size, at }.')
  const rewards = Object.entries<unknown>(definition.rewards ?? {})
  if (rewards.length === 0)
    complain('"rewards" is missing or empty; a run without a reward measures nothing.')
  for (const [name, reward] of rewards) {
    const entry = reward as { weight?: unknown; reward?: unknown }
    const wellFormed =
      typeof reward === 'function' ||
      (typeof entry === 'object' && typeof entry?.reward === 'function' && Number.isFinite(entry.weight))
    if (!wellFormed) complain(`reward "${name}" is neither a function nor { weight, reward }.`)
    if (typeof reward === 'object') known(entry, ['weight', 'seat', 'reward'], `reward "${name}"`)
  }
  checkRest(definition as unknown as ErasedDefinition, rewards)
  // The one place where the types are forgotten: the engine handles environments of any options and state.
  return {
    [environmentMarker]: contractVersion,
    definition: definition as unknown as ErasedDefinition,
  }
}

function complain(what: string): never {
  throw new QuintainError('definition_invalid', `environment(): ${what}`)
}

function known(value: object, keys: readonly string[], where: string): void {
  refuseUnknown(value, keys, 'definition_invalid', `environment(): ${where} has an unknown field`)
}

const needNames = [
  'turns',
  'tools',
  'seats',
  'images',
  'groupRewards',
  'sandbox',
] as const satisfies readonly Need[]
const permissionKeys = [
  'read',
  'write',
  'network',
  'subprocess',
  'addons',
] as const satisfies readonly (keyof Permissions)[]

/** The entries of an optional map by name. */
function namedIn(
  definition: ErasedDefinition,
  field: 'groupRewards' | 'metrics' | 'policies' | 'seats',
): [string, unknown][] {
  const given: unknown = definition[field]
  if (given === undefined) return []
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    complain(`"${field}" is no object of entries by name.`)
  return Object.entries(given as object)
}

/** Names that `script:NAME` reads in a way of its own. */
const reservedPolicies = ['noop', 'oracle', 'play']

/** What types would have said to whoever writes without them: functions that are none, and slips in names. */
function checkRest(definition: ErasedDefinition, rewards: readonly [string, unknown][]): void {
  for (const field of ['world', 'success', 'oracle', 'unplayable', 'notes'] as const) {
    const value: unknown = definition[field]
    if (value !== undefined && typeof value !== 'function') complain(`"${field}" is no function.`)
  }
  for (const field of ['metrics', 'policies'] as const) {
    for (const [name, value] of namedIn(definition, field))
      if (typeof value !== 'function') complain(`"${field}" has "${name}", which is no function.`)
  }
  for (const [name] of namedIn(definition, 'policies'))
    if (reservedPolicies.includes(name))
      complain(`a policy is called "${name}", which script:${name} means something else by; rename it.`)
  for (const [name, value] of namedIn(definition, 'groupRewards')) {
    if (rewards.some(([other]) => other === name)) complain(`"${name}" names a reward and a group reward.`)
    const { weight, atLeast, reward } = (value ?? {}) as {
      weight?: unknown
      atLeast?: unknown
      reward?: unknown
    }
    if (typeof reward !== 'function') complain(`group reward "${name}" is no { reward } with a function.`)
    if (weight !== undefined && !Number.isFinite(weight))
      complain(`group reward "${name}" has a weight that is no finite number.`)
    if (atLeast !== undefined && !(Number.isInteger(atLeast) && (atLeast as number) >= 1))
      complain(`group reward "${name}" has an "atLeast" that is no whole number from 1.`)
    known(value as object, ['weight', 'atLeast', 'reward'], `group reward "${name}"`)
  }
  for (const [name, value] of namedIn(definition, 'seats')) {
    if (typeof value !== 'object' || value === null) complain(`seat "${name}" is no { system, play }.`)
    const { play } = value as { play?: unknown }
    if (play !== undefined && typeof play !== 'function')
      complain(`seat "${name}" has a "play" that is no function.`)
    known(value as object, ['system', 'play'], `seat "${name}"`)
  }
  const named = [
    ...rewards.map(([name]) => name),
    ...(['groupRewards', 'metrics', 'policies', 'seats'] as const).flatMap((field) =>
      namedIn(definition, field).map(([name]) => name),
    ),
  ]
  // Readers of JSON drop it, so its values would be lost.
  if (named.includes('__proto__')) complain('nothing can be called "__proto__".')
  const { needs, permissions } = definition as { needs?: unknown; permissions?: unknown }
  if (needs !== undefined) {
    if (!Array.isArray(needs)) complain('"needs" is no list.')
    const names = (needs as unknown[]).map((need) => [String(need), true])
    refuseUnknown(Object.fromEntries(names), needNames, 'definition_invalid', 'environment(): unknown need')
  }
  if (typeof permissions === 'object' && permissions !== null)
    known(permissions, permissionKeys, '"permissions"')
  for (const judge of judgesIn(definition.judges)) checkJudge(judge)
  const { sandbox } = definition as { sandbox?: unknown }
  if (sandbox !== undefined && typeof sandbox !== 'function') checkSandbox(sandbox)
  const { floor = [] } = definition as { floor?: unknown }
  if (!Array.isArray(floor)) complain('"floor" is no list of policies.')
  const playable = ['noop', 'random', ...namedIn(definition, 'policies').map(([name]) => name)]
  const names = (floor as unknown[]).map((name) => [String(name), true])
  refuseUnknown(
    Object.fromEntries(names),
    playable,
    'definition_invalid',
    'environment(): "floor" has an unknown policy',
  )
}

const sandboxKeys = [
  'drivers',
  'image',
  'limits',
  'artefacts',
  'boxes',
] as const satisfies readonly (keyof SandboxDefinition)[]
const boxLimitKeys = ['wallMs', 'cpuMs', 'memoryMb', 'pids', 'diskMb', 'outputBytes'] as const

/** What an environment says of its boxes, checked. Throws `definition_invalid`. */
export function checkSandbox(given: unknown): SandboxDefinition {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) complain('"sandbox" is no object.')
  known(given as object, sandboxKeys, '"sandbox"')
  const { drivers, image, limits, artefacts, boxes } = given as Record<string, unknown>
  const texts = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '')
  if (drivers !== undefined && !(texts(drivers) && drivers.length > 0))
    complain('"sandbox.drivers" is no list of names of drivers.')
  if (image !== undefined && (typeof image !== 'string' || image === ''))
    complain('"sandbox.image" is no text.')
  if (artefacts !== undefined && !(texts(artefacts) && artefacts.every((path) => path.startsWith('/'))))
    complain('"sandbox.artefacts" is no list of absolute paths, such as ["/box/report.txt"].')
  if (boxes !== undefined && !(Number.isInteger(boxes) && (boxes as number) >= 1))
    complain('"sandbox.boxes" is no whole number from 1.')
  if (limits !== undefined) {
    if (typeof limits !== 'object' || limits === null) complain('"sandbox.limits" is no object.')
    known(limits as object, boxLimitKeys, '"sandbox.limits"')
    for (const [name, value] of Object.entries(limits as object))
      if (value !== undefined && !(Number.isFinite(value) && (value as number) > 0))
        complain(`"sandbox.limits.${name}" is no number above zero.`)
  }
  return given as SandboxDefinition
}

/** True for the result of `environment()` of any copy of this package. */
export function isEnvironment(value: unknown): value is Environment {
  return typeof value === 'object' && value !== null && environmentMarker in value
}

/** Contract version of an environment. */
export function contractOf(env: Environment): number {
  return env[environmentMarker]
}

function withoutSandbox(): Promise<never> {
  return Promise.reject(
    new FaultError({
      owner: 'world',
      code: 'sandbox_undeclared',
      message:
        'the environment asks for a box and does not declare that it needs one; add `sandbox: {}` to it',
      retryable: false,
    }),
  )
}

/** The judges of an environment that names them without its options. */
function judgesIn(judges: unknown): readonly unknown[] {
  if (judges === undefined || typeof judges === 'function') return []
  if (!Array.isArray(judges)) complain('"judges" is no list of names.')
  return judges as unknown[]
}

/** Refuses, as `definition_invalid`, what is no name of a judge. */
export function checkJudge(judge: unknown): string {
  if (typeof judge === 'string' && /^[^\s=*]{1,200}$/.test(judge)) return judge
  complain(
    `a judge is called ${JSON.stringify(judge)}; name it by 1 to 200 characters without space, "=" and "*".`,
  )
}

/** The boxes of an environment that declares none: starting one is a fault of the world that asks. */
export const noSandbox: Sandbox & GradingSandbox = Object.freeze({
  artefacts: null,
  start: withoutSandbox,
})
