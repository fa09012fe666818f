import { invalid } from './refusals.ts'

/** What a client asks for when it begins an episode. What it says null to, it does not ask for. */
export interface ResetRequest {
  episodeId: string | undefined
  taskId: string | undefined
  split: string | undefined
  index: number | undefined
  /** As it came; alone it picks a task, beside one it must be the server's. */
  seed: number | string | undefined
  /** Ours: by this the client can take the episode up again. Nobody else can guess it, as names of episodes can be. */
  resumeKey: string | undefined
  /** Ours: take up the episode of this `resume_key` whose socket was lost, instead of a new one. */
  resume: boolean
  /** Ours: offer a tool by which the agent speaks. */
  answerTool: boolean | undefined
  /** Names that mean nothing here. */
  unknown: string[]
}

/** Columns of rows that trainers hand over whole: they say what is known already. */
const columns: ReadonlySet<string> = new Set(['id', 'prompt', 'tags', 'data', 'env_name', 'environment'])
const known: ReadonlySet<string> = new Set([
  'episode_id',
  'task_id',
  'split',
  'index',
  'seed',
  'resume',
  'resume_key',
  'answer_tool',
])
const longest = 255
/** Characters of a key of 128 bits in hexadecimal digits, such as a UUID. */
const shortestKey = 32

/** Reads the data of a reset. Throws a `Refusal` for a value that cannot be meant. */
export function resetRequestOf(given: unknown): ResetRequest {
  if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given)))
    throw invalid('The data of a reset is a JSON object.')
  const fields = Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== null))
  const { seed, index } = fields
  if (index !== undefined && !(Number.isSafeInteger(index) && (index as number) >= 0))
    throw invalid('"index" is the place of a task within its split, a whole number from 0.')
  if (seed !== undefined && !(Number.isSafeInteger(seed) && (seed as number) >= 0) && !isName(seed))
    throw invalid('"seed" is a whole number from 0, or a text.')
  return {
    episodeId: nameIn(fields, 'episode_id'),
    taskId: nameIn(fields, 'task_id'),
    split: nameIn(fields, 'split'),
    index: index as number | undefined,
    seed: seed as number | string | undefined,
    resumeKey: keyIn(fields),
    resume: flagIn(fields, 'resume') ?? false,
    answerTool: flagIn(fields, 'answer_tool'),
    unknown: Object.keys(fields).filter((name) => !known.has(name) && !columns.has(name)),
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longest
}

function nameIn(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name]
  if (value !== undefined && !isName(value))
    throw invalid(`"${name}" is a text of 1 to ${longest} characters.`)
  return value
}

function keyIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  const key = nameIn(fields, 'resume_key')
  if (key !== undefined && key.length < shortestKey)
    throw invalid(`"resume_key" is a text of ${shortestKey} random characters or more, such as uuid4().hex.`)
  return key
}

function flagIn(fields: Readonly<Record<string, unknown>>, name: string): boolean | undefined {
  const value = fields[name]
  if (value !== undefined && typeof value !== 'boolean') throw invalid(`"${name}" is true or false.`)
  return value
}
