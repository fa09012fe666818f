import { type HttpCall, HttpProblem } from '../../core/http-port.ts'
import { type Content, content } from '../../core/index.ts'
import type { ActRequest, CallRequest, CreateRequest, TaskChoice } from '../session/session.ts'

/*
 * What clients of the native door send. Fields that are not named here are refused: a client that asks for something gets
 * it or is told so.
 */

type Fields = Record<string, unknown>

export interface CreateBody extends CreateRequest {
  /** Slug of the environment; may be absent where one alone is served. */
  environment?: string
}

export async function createBody(call: HttpCall): Promise<CreateBody> {
  const given = await fieldsOf(call, ['environment', 'task', 'key', 'seed', 'answerTool'])
  const { seed, answerTool } = given
  const environment = nameOf(given, 'environment')
  const key = nameOf(given, 'key')
  if (answerTool !== undefined && typeof answerTool !== 'boolean') throw bad('"answerTool" is true or false')
  return {
    task: choiceOf(given['task']),
    ...(environment === undefined ? {} : { environment }),
    ...(key === undefined ? {} : { key }),
    ...(seed === undefined ? {} : { seed }),
    ...(answerTool === undefined ? {} : { answerTool }),
  }
}

export async function callBody(call: HttpCall): Promise<CallRequest> {
  const given = await fieldsOf(call, ['id', 'name', 'arguments', 'batch', 'text'])
  const { name, text } = given
  const batch = nameOf(given, 'batch')
  if (typeof name !== 'string') throw bad('"name" is the name of a tool')
  if (text !== undefined && text !== null && typeof text !== 'string')
    throw bad('"text" is what the model wrote beside the call')
  return {
    ...idOf(given),
    name,
    arguments: given['arguments'],
    ...(batch === undefined ? {} : { batch }),
    ...(typeof text === 'string' ? { text } : {}),
  }
}

export async function actBody(call: HttpCall): Promise<ActRequest> {
  const given = await fieldsOf(call, ['id', 'content'])
  return { ...idOf(given), content: contentOf(given['content'], 'content') }
}

export async function gradeBody(call: HttpCall): Promise<{ answer?: Content }> {
  const { answer } = await fieldsOf(call, ['answer'])
  return answer === undefined || answer === null ? {} : { answer: contentOf(answer, 'answer') }
}

export async function touchBody(call: HttpCall): Promise<string[]> {
  const { sessions } = await fieldsOf(call, ['sessions'])
  if (!Array.isArray(sessions) || !sessions.every((one) => typeof one === 'string'))
    throw bad('"sessions" is an array of handles')
  return sessions
}

const choiceForms = 'a task is { id }, { split, index } or { split?, seed }'

function choiceOf(given: unknown): TaskChoice {
  if (!isFields(given)) throw bad(choiceForms)
  const { id, split, index, seed } = given
  const form = Object.keys(given)
    .filter((name) => given[name] !== undefined)
    .sort()
    .join()
  if (form === 'id' && typeof id === 'string') return { id }
  if (
    form === 'index,split' &&
    typeof split === 'string' &&
    Number.isSafeInteger(index) &&
    Number(index) >= 0
  )
    return { split, index: Number(index) }
  if (form === 'seed' && typeof seed === 'string') return { seed }
  if (form === 'seed,split' && typeof split === 'string' && typeof seed === 'string') return { split, seed }
  throw bad(choiceForms)
}

async function fieldsOf(call: HttpCall, known: readonly string[]): Promise<Fields> {
  const given = (await call.json()) ?? {}
  if (!isFields(given)) throw bad('it is a JSON object')
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw bad(`it has ${known.join(', ')} and no "${unknown.slice(0, 100)}"`)
  return given
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function idOf(given: Fields): { id?: string } {
  const id = nameOf(given, 'id')
  return id === undefined ? {} : { id }
}

function nameOf(given: Fields, field: string): string | undefined {
  const name = given[field]
  if (name === undefined || name === null) return undefined
  if (typeof name !== 'string' || name === '' || name.length > 512)
    throw bad(`"${field}" is a text of 1 to 512 characters`)
  return name
}

function contentOf(given: unknown, field: string): Content {
  const read = content.safeParse(given)
  if (!read.success) throw bad(`"${field}" is a text, or an array of parts that are texts or images`)
  return read.data
}

function bad(what: string): HttpProblem {
  return new HttpProblem(400, `That body cannot be taken: ${what}.`)
}
