import { z } from 'zod'
import {
  type AttemptRecord,
  attemptRecord,
  type ErrorCode,
  fault,
  type Need,
  type OrderRecord,
  retryEntry,
  verdictRecord,
  verdictSummary,
} from '../core/index.ts'
import { isAttempt } from '../core/line-shape.ts'
import type { AttemptOutput } from './attempt.ts'
import { publicTask } from './play-answers.ts'
import type { FromWorker, GroupVerdict } from './protocol.ts'

/*
 * The environment's code shares its process with the code that speaks for it, so nothing that comes over the channel
 * is taken for what it says it is: what does not have the shape of a message never reaches the run.
 */

const id = z.number()
const anyRecord = z.record(z.string(), z.unknown())
const wireError = z.object({
  code: z.string().transform((code) => code as ErrorCode),
  message: z.string(),
  facts: anyRecord,
})
const texts = z.array(z.string())
const permissions = z.looseObject({
  read: texts.optional(),
  write: texts.optional(),
  network: z.boolean().optional(),
  subprocess: z.boolean().optional(),
  addons: z.boolean().optional(),
})
const sandbox = z.looseObject({
  drivers: texts.optional(),
  image: z.string().optional(),
  limits: z.record(z.string(), z.number().optional()).optional(),
  artefacts: texts.optional(),
  boxes: z.number().optional(),
})
const description = z.looseObject({
  options: anyRecord,
  rewards: z.record(z.string(), z.object({ kind: z.enum(['reward', 'group']), weight: z.number() })),
  metrics: texts,
  success: z.boolean(),
  seats: texts,
  scripted: texts,
  oracle: z.boolean(),
  policies: texts,
  unplayable: z.record(z.string(), z.string()),
  floor: texts,
  notes: texts,
  needs: texts,
  limits: anyRecord,
  permissions,
  judges: texts,
  sandbox: sandbox.optional(),
})
const summary = z.object({
  id: z.string(),
  index: z.number(),
  split: z.string(),
  digest: z.string(),
  content: z.string(),
  tags: texts.optional(),
  open: publicTask.optional(),
})

const shapes: Record<FromWorker['t'], z.ZodType> = {
  opened: z.looseObject({ description }),
  failed: z.looseObject({ error: wireError }),
  answer: z.looseObject({ id, error: wireError.optional(), fault: fault.optional() }),
  tasks: z.looseObject({ id, tasks: z.array(summary), done: z.boolean(), error: wireError.optional() }),
  // What is in the output is looked at by `wholeOutput`, beside the order that it is for.
  done: z.looseObject({ output: z.looseObject({ attempt: z.looseObject({ order: z.string() }) }) }),
  call: z.looseObject({
    call: id,
    model: z.string(),
    request: z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })) }),
    seat: z.string(),
    attempt: z.string(),
    task: z.string(),
    repeat: z.number(),
  }),
  abort: z.looseObject({ call: id }),
  // What is asked is looked at where the boxes are.
  box: z.looseObject({ call: id, owner: z.string() }),
  'box-abort': z.looseObject({ call: id }),
  // What begins and what is answered is looked at where the harnesses are.
  play: z.looseObject({ play: id, owner: z.string() }),
  'play-answer': z.looseObject({
    ask: id,
    failure: z.looseObject({ fault, retries: z.array(retryEntry) }).optional(),
    over: z.boolean().optional(),
  }),
  'play-abort': z.looseObject({ play: id }),
  pong: z.looseObject({ n: z.number() }),
}

type Loose = Record<string, unknown>
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null

const isFlag = (value: unknown) => value === undefined || typeof value === 'boolean'

/** The messages that come thousands of times a second, checked by hand: what is not one of them is left to its schema. */
function isUsual(message: unknown): boolean {
  if (!isObject(message)) return false
  if (message['t'] === 'done') {
    const { output } = message
    return isObject(output) && isObject(output['attempt']) && typeof output['attempt']['order'] === 'string'
  }
  if (message['t'] === 'play-answer')
    return typeof message['ask'] === 'number' && message['failure'] === undefined && isFlag(message['over'])
  if (message['t'] !== 'call') return false
  const { request } = message
  return (
    typeof message['call'] === 'number' &&
    typeof message['model'] === 'string' &&
    typeof message['seat'] === 'string' &&
    typeof message['attempt'] === 'string' &&
    typeof message['task'] === 'string' &&
    typeof message['repeat'] === 'number' &&
    isObject(request) &&
    Array.isArray(request['messages']) &&
    request['messages'].every((one: unknown) => isObject(one) && typeof one['role'] === 'string')
  )
}

/** The messages of a batch as they came; `refuse` is told of everything that is none. Never throws. */
export function readBatch(batch: unknown, refuse: (what: string) => void): FromWorker[] {
  if (!Array.isArray(batch)) {
    refuse('something that is no batch of messages')
    return []
  }
  return batch.filter((message: unknown): message is FromWorker => {
    const t: unknown = typeof message === 'object' && message !== null ? (message as { t?: unknown }).t : null
    if (isUsual(message)) return true
    const known = typeof t === 'string' && Object.hasOwn(shapes, t)
    const whole = known && shapes[t as FromWorker['t']].safeParse(message).success
    if (!whole) refuse(known ? `a message "${t}" that is not whole` : 'something that is no message')
    return whole
  })
}

const part = z.object({ bytes: z.instanceof(Uint8Array), crc: z.number() })
const output = z.looseObject({
  attempt: attemptRecord.omit({ parts: true, final: true }),
  trajectory: part,
  verdict: part.optional(),
  private: part.optional(),
  tokens: part.optional(),
})

function isPart(value: unknown): boolean {
  return isObject(value) && value['bytes'] instanceof Uint8Array && typeof value['crc'] === 'number'
}

const nowhere: AttemptRecord['parts'] = { trajectory: [0, 0, 0] }

/** Whether an output has what its line's readers will take from it, and parts that can be written. */
function looksWhole({ attempt, trajectory, verdict, private: hidden, tokens }: AttemptOutput): boolean {
  return (
    isPart(trajectory) &&
    [verdict, hidden, tokens].every((one) => one === undefined || isPart(one)) &&
    isAttempt({ ...attempt, final: true, parts: nowhere })
  )
}

/** What keeps an output from being the one of a try of an order: the place in it, or undefined when nothing does. */
export function outputProblem(
  given: AttemptOutput,
  order: OrderRecord,
  tryNumber: number,
): string | undefined {
  // The schema is asked only when the quick look finds something: it says what, at ten times the time.
  const issue = looksWhole(given) ? undefined : output.safeParse(given).error?.issues[0]
  if (issue !== undefined) return `${issue.path.join('.')}: ${issue.message}`
  const { attempt } = given
  const same =
    attempt.seq === order.seq &&
    attempt.task === order.task &&
    attempt.repeat === order.repeat &&
    attempt.try === tryNumber
  return same ? undefined : 'it is for another order'
}

/** Needs as a worker answered them; undefined for anything else. */
export function needsIn(value: unknown): Need[] | undefined {
  return texts.safeParse(value).success ? (value as Need[]) : undefined
}

const verdicts = z.array(
  z.object({ attempt: z.string(), order: z.string(), record: verdictRecord, summary: verdictSummary }),
)

/** A group's verdicts as a worker answered them; undefined for anything else. */
export function verdictsIn(value: unknown): GroupVerdict[] | undefined {
  return verdicts.safeParse(value).success ? (value as GroupVerdict[]) : undefined
}
