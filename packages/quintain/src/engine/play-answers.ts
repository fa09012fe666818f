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
  type ToolMessage,
  type Turn,
  toolMessage,
  toolRecord,
  usage,
} from '../core/index.ts'
import { turnOf } from './given.ts'
import type { PlayStart } from './play.ts'

type ToolRun = Awaited<ReturnType<ToolBox['run']>>

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
export const readToolRun = (value: unknown): ToolRun | undefined =>
  usualToolRun(value) ?? read(toolRun, value)
export const readTurn = (value: unknown): Turn | undefined => usualTurn(value) ?? read<Turn>(turn, value)
export const readReply = (value: unknown): ModelResponse | undefined => read<ModelResponse>(reply, value)

/*
 * Results and turns of text alone, which come thousands of times a second, by hand and with the same fields as by their
 * schemas; undefined for everything else, which the schemas look at.
 */

type Loose = Record<string, unknown>
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null
const isText = (value: unknown): value is string => typeof value === 'string'
const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || isText(value)

function usualToolRun(value: unknown): ToolRun | undefined {
  if (!isObject(value)) return undefined
  const { messages: given, done, executed, truncated } = value
  if (!Array.isArray(given) || !isTextOrAbsent(done)) return undefined
  if (!Number.isFinite(executed) || typeof truncated !== 'boolean') return undefined
  const messages: ToolMessage[] = []
  for (const one of given) {
    const message = usualResult(one)
    if (message === undefined) return undefined
    messages.push(message)
  }
  return { messages, ...(done === undefined ? {} : { done }), executed: executed as number, truncated }
}

function usualResult(value: unknown): ToolMessage | undefined {
  if (!isObject(value) || value['role'] !== 'tool') return undefined
  const { toolCallId, name, content, error } = value
  if (!isText(toolCallId) || !isText(content) || !isTextOrAbsent(name) || !isTextOrAbsent(error))
    return undefined
  return {
    role: 'tool',
    toolCallId,
    ...(name === undefined ? {} : { name }),
    content,
    ...(error === undefined ? {} : { error }),
  }
}

function usualTurn(value: unknown): Turn | undefined {
  if (!isObject(value)) return undefined
  const { content, done, next } = value
  if (!isText(content) || !isTextOrAbsent(done) || !isTextOrAbsent(next)) return undefined
  return turnOf(content, done, next)
}
