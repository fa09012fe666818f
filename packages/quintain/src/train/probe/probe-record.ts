import { z } from 'zod'
import { families } from './script.ts'

const share = z.number()

const ofScript = z.object({
  /**
   * `paid_without_success`: it fails and is paid. `success_without_the_task`: it succeeds on tasks whose right answer is another.
   * `paid_without_the_task`: the same of the reward, where nothing says what success is.
   */
  kind: z.enum(['paid_without_success', 'success_without_the_task', 'paid_without_the_task']),
  script: z.string(),
  family: z.enum(families),
  /** What it says, where that is one text, cut for showing. */
  text: z.string().nullable(),
  /** Tasks on which it was tried and scored that it was not chosen on, and on how many of them it holds. */
  tasks: z.int(),
  holds: z.int(),
  /** 95 %, Wilson, of the share of tasks. */
  interval: z.tuple([z.number(), z.number()]),
  /** Mean share of a full reward over those tasks. */
  pay: share,
  /** Rollouts to read, `TASK#REPEAT`. */
  read: z.array(z.string()),
})

const ofTraining = z.object({
  kind: z.literal('reward_rises_alone'),
  /** Share of a full reward, and success, in the first two and in the last third of the steps. */
  pay: z.tuple([share, share]),
  success: z.tuple([share, share]),
  beside: z.enum(['success', 'shadow']),
})

export const evidence = z.discriminatedUnion('kind', [ofScript, ofTraining])
export type Evidence = z.infer<typeof evidence>
export type ScriptEvidence = z.infer<typeof ofScript>

/** Something that the best-paid rollouts have more often than the others. */
export const trait = z.object({
  /** As it is read: `"confident"`, `at least 400 characters`, `one turn`. */
  what: z.string(),
  /** Share of the best, and of the others, that have it. */
  best: share,
  others: share,
})
export type Trait = z.infer<typeof trait>

/** A rollout of the tail. */
const read = z.object({
  /** Folder of the run in which it lies, from that of the probe; `.` is itself. */
  run: z.string(),
  order: z.string(),
  reward: z.number(),
  success: z.boolean().nullable(),
  /** What was done, cut for showing. */
  said: z.string(),
})
export type TailRead = z.infer<typeof read>

/** `probe.json`: what a probe found, and on what. */
export const probeRecord = z.object({
  schema: z.literal('quintain.probe'),
  v: z.literal(1),
  created: z.string(),
  quintain: z.string(),
  environment: z.object({
    name: z.string(),
    version: z.string(),
    digest: z.string(),
    options: z.record(z.string(), z.unknown()),
  }),
  seed: z.string(),
  verdict: z.enum(['clean', 'suspicious', 'inconclusive']),
  /** Why, in a sentence. */
  says: z.string(),
  evidence: z.array(evidence),
  /** What is no evidence, and should be known all the same. */
  notes: z.array(z.string()),
  /** What a reward is worth: the least that was seen, and a full one. Null where nothing was scored. */
  scale: z
    .object({ least: z.number(), full: z.number(), by: z.enum(['oracle', 'successes', 'assumed']) })
    .nullable(),
  oracle: z
    .object({ tasks: z.int(), success: z.number().nullable(), reward: z.number().nullable() })
    .nullable(),
  /** Of the policies that the environment itself says know nothing. */
  floor: z.number().nullable(),
  scripts: z.object({ tried: z.int(), left: z.int(), rollouts: z.int(), scored: z.int() }),
  tasks: z.object({ search: z.int(), test: z.int() }),
  training: z
    .object({
      /** `blind`: a policy that sees nothing of a task. */
      policy: z.enum(['blind', 'given']),
      steps: z.int(),
      rollouts: z.int(),
      end: z.string(),
      reward: z.tuple([z.number(), z.number()]).nullable(),
      success: z.tuple([z.number(), z.number()]).nullable(),
      shadow: z.tuple([z.number(), z.number()]).nullable(),
      /** What the watches of the training said. */
      alarms: z.array(z.string()),
    })
    .nullable(),
  /** What the best-paid rollouts share, and which to read. */
  tail: z.object({ traits: z.array(trait), read: z.array(read) }).nullable(),
  seconds: z.number(),
})
export type ProbeRecord = z.infer<typeof probeRecord>
