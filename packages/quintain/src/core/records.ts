import { z } from 'zod'
import { message } from './message.ts'

/**
 * The records of a run. These schemas are the source: the types are inferred from them, and `schemas/*.json` is
 * printed from them. A version only grows: new fields are optional, none is removed or given another meaning.
 */

export const outcomes = [
  'completed',
  'env_done',
  'turn_limit',
  'token_limit',
  'cost_limit',
  'wall_limit',
  'context_overflow',
  'truncated',
  'refused',
  'escalated',
  'agent_error',
  'cancelled',
] as const
/** How the agent ended. All but `cancelled` are graded on what was left behind. */
export const outcome = z.enum(outcomes)
export type Outcome = z.infer<typeof outcome>
/** An outcome that a policy which only says what was said cannot come to by itself. */
export type Cut = Exclude<Outcome, 'completed' | 'env_done' | 'cancelled'>

export const faultOwners = [
  'provider',
  'gateway',
  'sandbox',
  'world',
  'grader',
  'judge',
  'simulator',
  'platform',
] as const
export const faultOwner = z.enum(faultOwners)
export type FaultOwner = z.infer<typeof faultOwner>

/** Something that is nobody's score: whose it is, where it happened, and whether another try may help. */
export const fault = z.object({
  owner: faultOwner,
  /** The step in which it happened: `task`, `open`, `reply`, `tool`, `tools`, `model`, `finish`, `close`, `grade`, `group`, `worker`. */
  stage: z.string(),
  /** Stable machine-readable cause, such as `timeout`, `threw`, `rate_limited`, `reward_not_a_number`. */
  code: z.string(),
  /** One line for people, free of secrets. */
  message: z.string(),
  retryable: z.boolean(),
})
export type Fault = z.infer<typeof fault>

export const finish = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'refusal', 'other'])
export type Finish = z.infer<typeof finish>

/** Tokens of calls, each counted once: `fresh + cacheRead + cacheWrite` is all input, `reasoning` is a part of `output`. */
export const usage = z.object({
  fresh: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  output: z.number(),
  reasoning: z.number().optional(),
})
export type Usage = z.infer<typeof usage>

/** One failed try of a model call. */
export const retryEntry = z.object({
  code: z.string(),
  status: z.number().optional(),
  /** Milliseconds spent on the failed try, and waited after it. */
  tookMs: z.number(),
  waitedMs: z.number(),
})
export type RetryEntry = z.infer<typeof retryEntry>

export const limits = z.object({
  /** Model calls of a seat. */
  turns: z.number().optional(),
  /** Output tokens of a seat, all calls together. */
  tokens: z.number().optional(),
  /** US dollars of a seat. */
  costUsd: z.number().optional(),
  /** Milliseconds of agent time: model and tool time, not queueing or back-off. */
  wallMs: z.number().optional(),
  /** Milliseconds of one tool call or environment turn. */
  toolMs: z.number().optional(),
  /** Milliseconds of grading, all rewards together. */
  gradeMs: z.number().optional(),
})
export type ResolvedLimits = z.infer<typeof limits>

const base = <const Name extends string>(name: Name) => ({ schema: z.literal(name), v: z.literal(1) })

/** One planned rollout. Its id is `<task>#<repeat>`, so that a plan made again names the same orders. */
export const orderRecord = z.object({
  ...base('quintain.order'),
  id: z.string(),
  /** Position in the run's plan, from 0. */
  seq: z.number(),
  task: z.string(),
  /** Position of the task in its taskset, for quick access; the id is what counts. */
  index: z.number(),
  split: z.string(),
  repeat: z.number(),
  /** All repeats of a task in a run are one group. */
  group: z.string(),
  /** Seed of the policy's sampling in this rollout. */
  seed: z.number(),
  /** Digest of the task's public part (32 hex digits). A digest that covered the secret could be guessed back from it. */
  taskDigest: z.string(),
  /** Digest of the same without the task's id and split (16 hex digits), by which a renamed task is known. */
  contentDigest: z.string().optional(),
  tags: z.array(z.string()).optional(),
})
export type OrderRecord = z.infer<typeof orderRecord>

/** Where a part of an attempt lies: byte offset, byte length, CRC-32. */
export const extent = z.tuple([z.number(), z.number(), z.number()])
export type Extent = z.infer<typeof extent>

export const verdictSummary = z.object({
  reward: z.number().nullable(),
  success: z.boolean().nullable(),
  rewards: z.record(z.string(), z.number().nullable()),
  metrics: z.record(z.string(), z.number().nullable()),
  /** Rewards of other seats. */
  seats: z.record(z.string(), z.number().nullable()).optional(),
  /** Why there is no reward, when the graders ran and declined. */
  unscored: z.object({ component: z.string(), reason: z.string() }).optional(),
  /** Set while group rewards are still to come. */
  pending: z.literal('group').optional(),
})
export type VerdictSummary = z.infer<typeof verdictSummary>

/** The line of `attempts.jsonl`: all that a report needs of an attempt, and where its parts lie. */
export const attemptRecord = z.object({
  ...base('quintain.attempt'),
  id: z.string(),
  order: z.string(),
  /** Position of the order in the plan. */
  seq: z.number(),
  task: z.string(),
  repeat: z.number(),
  /** 1 for the first try of the order. */
  try: z.number(),
  /** True when the engine will not try this order again. */
  final: z.boolean(),
  start: z.string(),
  end: z.string(),
  outcome: outcome.nullable(),
  /** A harness's own word for the end, such as `too_many_tool_errors`. */
  stop: z.string().optional(),
  fault: fault.nullable(),
  verdict: verdictSummary.nullable(),
  usage: z.object({ agent: usage, simulator: usage.optional(), judge: usage.optional() }),
  /** US dollars by ledger; null is unknown, never zero. */
  costUsd: z.object({
    agent: z.number().nullable(),
    simulator: z.number().nullable().optional(),
    judge: z.number().nullable().optional(),
  }),
  counts: z.object({
    turns: z.number(),
    toolCalls: z.number(),
    /** In-band tool errors by code. */
    toolErrors: z.record(z.string(), z.number()).optional(),
    modelRetries: z.number(),
    flags: z.record(z.string(), z.number()).optional(),
  }),
  timing: z.object({
    /** Start to end of the attempt. */
    wallMs: z.number(),
    /** The agent's own clock: wall time less queueing and back-off. */
    agentMs: z.number(),
    modelMs: z.number(),
    waitMs: z.number(),
    gradeMs: z.number(),
  }),
  parts: z.object({
    trajectory: extent,
    verdict: extent.optional(),
    private: extent.optional(),
    tokens: extent.optional(),
  }),
})
export type AttemptRecord = z.infer<typeof attemptRecord>

/** A span of sampled output and the version of the weights that sampled it. */
export const policySpan = z.object({ start: z.number(), end: z.number(), version: z.string() })

/** Token arrays of a call, as element ranges inside the attempt's chunk of `tokens.bin`. */
export const tokenRefs = z.object({
  /** Prompt ids as a delta: the first `keep` ids of call `base` (its prompt, then its output), then those at `ids`. Int32, `[byte offset, count]`. */
  prompt: z
    .object({
      base: z.number().nullable(),
      keep: z.number(),
      ids: z.tuple([z.number(), z.number()]),
    })
    .optional(),
  /** Int32, `[byte offset, count]`. */
  output: z.tuple([z.number(), z.number()]).optional(),
  /** Float32, `[byte offset, count]`. */
  logprobs: z.tuple([z.number(), z.number()]).optional(),
})
export type TokenRefs = z.infer<typeof tokenRefs>

export const callRecord = z.object({
  seat: z.string(),
  /** Node that ends the prompt, and the node that the call made; -1 is none. */
  prompt: z.number(),
  output: z.number(),
  model: z.string(),
  /** Sampling settings as sent. */
  sampling: z.record(z.string(), z.unknown()).optional(),
  /** Which of the trajectory's `toolSets` the model was told of; those of the seat when absent. */
  tools: z.number().optional(),
  finish: finish.optional(),
  finishRaw: z.string().optional(),
  responseId: z.string().optional(),
  usage: usage.optional(),
  costUsd: z.number().nullable().optional(),
  /** Milliseconds from the attempt's start. */
  atMs: z.number(),
  latencyMs: z.number(),
  firstByteMs: z.number().optional(),
  waitMs: z.number(),
  retries: z.array(retryEntry).optional(),
  flags: z.array(z.string()).optional(),
  policySpans: z.array(policySpan).optional(),
  tokens: tokenRefs.optional(),
  fault: fault.optional(),
})
export type CallRecord = z.infer<typeof callRecord>

/** A message in the graph, stored once. `parent` is an earlier node, or -1 for the root of a branch. */
export const messageNode = z.object({
  parent: z.number(),
  seat: z.string(),
  message,
  /** True when a model produced it; the role cannot tell. */
  sampled: z.boolean(),
  /** Reward that the environment gave with this turn. */
  reward: z.number().optional(),
})
export type MessageNode = z.infer<typeof messageNode>

export const toolRecord = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  strict: z.boolean().optional(),
})
/** A tool as a model was told of it. */
export type ToolRecord = z.infer<typeof toolRecord>

export const seatRecord = z.object({
  policy: z.string(),
  harness: z.string(),
  tools: z.array(toolRecord).optional(),
})

export const trajectoryRecord = z.object({
  ...base('quintain.trajectory'),
  attempt: z.string(),
  order: z.string(),
  task: z.string(),
  seats: z.record(z.string(), seatRecord),
  nodes: z.array(messageNode),
  calls: z.array(callRecord),
  /**
   * The node that ends what was said in the world, by seat, where that is not the last node of the seat: an agent outside
   * has asked its model other things than it has said. Graders read the way from the root to it.
   */
  leaves: z.record(z.string(), z.number()).optional(),
  /** Tools that programs told their models of, where those are not the seat's: each set once. */
  toolSets: z.array(z.array(toolRecord)).optional(),
})
export type TrajectoryRecord = z.infer<typeof trajectoryRecord>

export const componentRecord = z.object({
  kind: z.enum(['reward', 'metric', 'group']),
  value: z.number().nullable(),
  weight: z.number(),
  /** The seat that it rewards, when that is not the agent's. */
  seat: z.string().optional(),
  /** Per-step values when the reward gave them; `value` is their sum. */
  steps: z.array(z.number()).optional(),
  /** A reason free of secrets: for `unscored`, why. */
  reason: z.string().optional(),
  checks: z.object({ expected: z.number(), run: z.number() }).optional(),
  ms: z.number().optional(),
})
export type ComponentRecord = z.infer<typeof componentRecord>

/** A verdict on an attempt by one rubric. Another rubric, or the group's rewards, add a later one; none is overwritten. */
export const verdictRecord = z.object({
  ...base('quintain.verdict'),
  attempt: z.string(),
  order: z.string(),
  rubric: z.string(),
  at: z.string(),
  reward: z.number().nullable(),
  success: z.boolean().nullable(),
  components: z.record(z.string(), componentRecord),
  unscored: z.object({ component: z.string(), reason: z.string() }).optional(),
  pending: z.literal('group').optional(),
})
export type VerdictRecord = z.infer<typeof verdictRecord>

/** The summary of a later verdict, appended to `attempts.jsonl`. */
export const verdictLine = z.object({
  ...base('quintain.verdict-summary'),
  attempt: z.string(),
  order: z.string(),
  seq: z.number(),
  verdict: verdictSummary.nullable(),
  /** A fault of the group's grader, when it gave none. */
  fault: fault.nullable().optional(),
  part: extent.optional(),
})
export type VerdictLine = z.infer<typeof verdictLine>

/** Says that an earlier attempt line no longer has its parts on disk and does not count. */
export const voidLine = z.object({
  ...base('quintain.void'),
  attempt: z.string(),
  order: z.string(),
  seq: z.number(),
  reason: z.string(),
})
export type VoidLine = z.infer<typeof voidLine>

/** What is never published: the secret, the final state, evidence that may quote gold, whole error texts. */
export const privateRecord = z.object({
  ...base('quintain.private'),
  attempt: z.string(),
  order: z.string(),
  task: z.string(),
  secret: z.unknown().optional(),
  /** Digest of the whole task, secret included. Low-entropy secrets can be guessed from it, so it stays here. */
  fullTaskDigest: z.string().optional(),
  state: z.unknown().optional(),
  evidence: z.record(z.string(), z.unknown()).optional(),
  errors: z.array(z.object({ stage: z.string(), text: z.string() })).optional(),
})
export type PrivateRecord = z.infer<typeof privateRecord>

/** Labels, reference log-probabilities or notes that somebody added to an attempt later. */
export const annotationRecord = z.object({
  ...base('quintain.annotation'),
  attempt: z.string(),
  kind: z.string(),
  by: z.string(),
  at: z.string(),
  value: z.unknown(),
})
export type AnnotationRecord = z.infer<typeof annotationRecord>

/** What was asked for: which tasks, how many times each. */
export const requestRecord = z.object({
  ...base('quintain.request'),
  split: z.string().optional(),
  tasks: z.array(z.string()).optional(),
  limit: z.number().optional(),
  repeats: z.number(),
})
export type RequestRecord = z.infer<typeof requestRecord>

/** `run.json`: what the run is, written once before anything is ordered. */
/** How a policy that knows nothing fared. */
export const floorRecord = z.object({
  policy: z.string(),
  /** Tasks that it was given, once each, and how many of them were scored. */
  tasks: z.number(),
  scored: z.number(),
  /** Of those that were scored; null when none was, or where nothing says what success is. */
  success: z.number().nullable(),
  reward: z.number().nullable(),
})
export type FloorRecord = z.infer<typeof floorRecord>

export const manifestRecord = z.object({
  ...base('quintain.run'),
  id: z.string(),
  created: z.string(),
  quintain: z.string(),
  node: z.string(),
  environment: z.object({
    name: z.string(),
    version: z.string(),
    contract: z.number(),
    digest: z.string(),
    /** How to load it again: a package name or a path relative to the run folder's working directory. */
    reference: z.string(),
    options: z.record(z.string(), z.unknown()),
    rewards: z.record(z.string(), z.object({ kind: z.enum(['reward', 'group']), weight: z.number() })),
    metrics: z.array(z.string()),
    success: z.boolean(),
    /** What the environment says of itself with these options. */
    notes: z.array(z.string()).optional(),
  }),
  rubric: z.string(),
  /** What policies that know nothing reached on the first tasks of this run, measured before it began. */
  floor: z.array(floorRecord).optional(),
  /** Who plays each seat. */
  seats: z.record(
    z.string(),
    z.object({
      policy: z.string(),
      harness: z.string(),
      /** Where the model's calls go, without credentials; of replicas all of them, apart by spaces. */
      endpoint: z.string().optional(),
      /** The kind of server there, by whose extras it is asked what was sampled. */
      server: z.string().optional(),
      sampling: z.record(z.string(), z.unknown()).optional(),
      /** Of what an agent of the user's is made of, without keys: its file's text, its command line, or its function's source. */
      agentDigest: z.string().optional(),
    }),
  ),
  /** The models that stood for the judges of the environment, by the judge's name. */
  judges: z
    .record(
      z.string(),
      z.object({ policy: z.string(), endpoint: z.string().optional(), server: z.string().optional() }),
    )
    .optional(),
  seed: z.string(),
  /** The run's own limits with the defaults under them; the environment's and the tasks' stand between. */
  limits,
  /** The run's own limits as they were given. */
  limitsGiven: z.record(z.string(), z.unknown()).optional(),
  escalate: z.boolean().optional(),
  isolation: z.enum(['worker', 'inline']),
  /** What the boxes of an environment that has some run in. */
  sandbox: z
    .object({ driver: z.string(), isolation: z.enum(['none', 'memory', 'namespaces', 'container']) })
    .optional(),
  maxTries: z.number(),
  /** US dollars at which the run starts nothing more, over all its sittings. */
  maxCostUsd: z.number().optional(),
  request: requestRecord,
})
export type ManifestRecord = z.infer<typeof manifestRecord>

/** `panel.json`: runs of several players over one plan, which took turns. Each is a run in a folder beside it. */
export const panelRecord = z.object({
  ...base('quintain.panel'),
  id: z.string(),
  created: z.string(),
  quintain: z.string(),
  /** Names of the folders, in the order of the players; the first is what the others are compared with. */
  runs: z.array(z.string()),
  /** US dollars at which nothing more is started, over all runs and all their sittings. */
  maxCostUsd: z.number().optional(),
  /** It was stopped because two players could be told apart: what was known then, valid although it was looked at all the time. */
  decided: z
    .object({
      /** Error rate of the decision. */
      alpha: z.number(),
      /** Tasks that were compared until then. */
      tasks: z.number(),
      /** Of them, those with results that were missing, each of which counted at its worst; none when absent. */
      missing: z.number().optional(),
      /** Second less first; where results are missing, the middle of what it may be. */
      difference: z.number(),
      interval: z.tuple([z.number(), z.number()]),
      p: z.number(),
    })
    .optional(),
})
export type PanelRecord = z.infer<typeof panelRecord>

/** Every published record schema by file name. */
export const recordSchemas = {
  run: manifestRecord,
  request: requestRecord,
  order: orderRecord,
  attempt: attemptRecord,
  'verdict-summary': verdictLine,
  void: voidLine,
  trajectory: trajectoryRecord,
  verdict: verdictRecord,
  private: privateRecord,
  annotation: annotationRecord,
  panel: panelRecord,
} as const

/** No tokens. */
export const noUsage: Usage = { fresh: 0, cacheRead: 0, cacheWrite: 0, output: 0 }

/** A sum of counts that JSON can hold, and hold exactly: an endpoint may claim any number of tokens. */
function count(a: number, b: number): number {
  const sum = a + b
  return Number.isNaN(sum) ? 0 : Math.max(-Number.MAX_SAFE_INTEGER, Math.min(sum, Number.MAX_SAFE_INTEGER))
}

/** The sum of two usages; it stays within what JSON holds exactly. */
export function addUsage(a: Usage, b: Usage): Usage {
  const reasoning = count(a.reasoning ?? 0, b.reasoning ?? 0)
  return {
    fresh: count(a.fresh, b.fresh),
    cacheRead: count(a.cacheRead, b.cacheRead),
    cacheWrite: count(a.cacheWrite, b.cacheWrite),
    output: count(a.output, b.output),
    ...(a.reasoning === undefined && b.reasoning === undefined ? {} : { reasoning }),
  }
}

/** The sum of two prices; unknown plus anything is unknown, and so is a sum that is no finite number. */
export function addCost(a: number | null, b: number | null): number | null {
  const sum = a === null || b === null ? null : a + b
  return Number.isFinite(sum) ? sum : null
}
