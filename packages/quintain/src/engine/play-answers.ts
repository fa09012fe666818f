import { z } from 'zod'
import {
  assistantMessage,
  content,
  finish,
  limits,
  type ModelResponse,
  message,
  outcome,
  type ToolBox,
  type Turn,
  toolMessage,
  toolRecord,
  usage,
} from '../core/index.ts'
import type { PlayStart } from './play.ts'

/*
 * What a worker says of a play, read as `from-worker.ts` reads the rest: unknown fields are left behind, so that nothing
 * reaches a harness that it was not to be told.
 */

const record = z.record(z.string(), z.unknown())
const endpoints = z.record(z.string(), z.string())

/** The fields of a task that are public. */
export const publicTask = z.object({
  id: z.string(),
  split: z.string(),
  prompt: z.union([z.string(), z.array(message)]).optional(),
  data: z.unknown().optional(),
  tags: z.array(z.string()).optional(),
  limits: record.optional(),
  source: z.string().optional(),
  licence: z.string().optional(),
  canary: z.string().optional(),
})

const start = z.object({
  seat: z.string(),
  attempt: z.string().max(200),
  task: publicTask,
  messages: z.array(message),
  tools: z.array(toolRecord),
  endpoints,
  limits,
  replies: z.boolean(),
  elapsedMs: z.number().nonnegative(),
})

const toolRun = z.object({
  messages: z.array(toolMessage),
  done: z.string().optional(),
  executed: z.number(),
  truncated: z.boolean(),
})

const turn = z.object({ content, done: z.string().optional(), next: z.string().optional() })

/** A reply of a script or a recording. */
const reply = z.object({
  message: assistantMessage,
  finish,
  usage: usage.optional(),
  costUsd: z.number().nullable().optional(),
  timing: z.object({ totalMs: z.number(), waitMs: z.number() }).optional(),
  flags: z.array(z.string()).optional(),
  ended: z.boolean().optional(),
  endedAs: outcome.exclude(['completed', 'env_done', 'cancelled']).optional(),
})

function read<T>(schema: z.ZodType, value: unknown): T | undefined {
  const parsed = schema.safeParse(value)
  return parsed.success ? (parsed.data as T) : undefined
}

export const readPlayStart = (value: unknown): PlayStart | undefined => read<PlayStart>(start, value)
export const readToolRun = (value: unknown): Awaited<ReturnType<ToolBox['run']>> | undefined =>
  read(toolRun, value)
export const readTurn = (value: unknown): Turn | undefined => read<Turn>(turn, value)
export const readReply = (value: unknown): ModelResponse | undefined => read<ModelResponse>(reply, value)
