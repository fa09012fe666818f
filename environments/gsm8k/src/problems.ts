import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseJsonl, QuintainError } from 'quintain'
import { z } from 'zod'
import { sample } from './sample.ts'

/** Public part of a problem. */
export interface ProblemData {
  /** Line of its file, from zero. */
  index: number
  /** Which data: a known file by name, any other by the start of its digest, so that other data makes other tasks. */
  dataset: string
}

export interface Problem {
  id: string
  split: string
  prompt: string
  data: ProblemData
  /** The gold answer as the data writes it, such as `1,550`. */
  secret: { answer: string }
}

const row = z.object({ question: z.string().min(1), answer: z.string() })
const splits = ['test', 'train'] as const
const known: Record<string, string> = {
  '3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14': 'gsm8k-test-3101c7d',
}
const longestDownload = 64 * 1024 * 1024
const downloadMs = 60_000

/** What the environment's process must be allowed to touch for the data to be read. */
export function permissionsFor(paths: readonly (string | undefined)[]): {
  read: string[]
  network?: boolean
} {
  const given = paths.filter((path) => path !== undefined)
  const read = given.filter((path) => !isUrl(path)).map((path) => resolve(path))
  return given.some(isUrl) ? { read, network: true } : { read }
}

function isUrl(path: string): boolean {
  return /^https?:\/\//i.test(path)
}

/**
 * The problems of a file of JSON lines `{ question, answer }` whose answers end in `#### NUMBER`, of a folder with
 * `test.jsonl` and `train.jsonl`, or of a URL; the sample of this package when nothing is given.
 *
 * Reads when the first problem is asked for: the process that asks what the environment may touch may not touch it
 * yet. Throws `tasks_invalid` with what to do.
 */
export async function* problems(data: string | undefined): AsyncGenerator<Problem, void, undefined> {
  if (data === undefined) {
    for (const [index, { question, answer }] of sample.entries()) {
      yield {
        id: `sample-${index}`,
        split: 'test',
        prompt: question,
        data: { index, dataset: 'sample' },
        secret: { answer },
      }
    }
    return
  }
  if (isUrl(data)) {
    yield* parse(await download(data), { name: basename(new URL(data).pathname), place: data })
    return
  }
  for (const file of filesOf(data)) {
    let bytes: Buffer
    try {
      bytes = readFileSync(file)
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
      throw invalid(`${file} cannot be read (${code}).`, cause)
    }
    yield* parse(bytes, { name: basename(file), place: file })
  }
}

function filesOf(data: string): string[] {
  const path = resolve(data)
  const advice =
    'Give --option data=FILE, where FILE is test.jsonl of the public repository openai/grade-school-math or the folder ' +
    'that holds it; leave the option away to run the sample of this package.'
  if (!existsSync(path)) throw invalid(`There is no GSM8K data at ${path}. ${advice}`)
  if (!statSync(path).isDirectory()) return [path]
  const files = splits.map((split) => join(path, `${split}.jsonl`)).filter((file) => existsSync(file))
  if (files.length === 0) throw invalid(`${path} has neither test.jsonl nor train.jsonl. ${advice}`)
  return files
}

async function download(url: string): Promise<Buffer> {
  const advice = 'Fetch the file yourself and give its path with --option data=FILE.'
  let response: Response
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(downloadMs) })
  } catch (cause) {
    throw invalid(`${url} was not reached. ${advice}`, cause)
  }
  if (!response.ok || response.body === null) throw invalid(`${url} answered ${response.status}. ${advice}`)
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body) {
    size += part.byteLength
    if (size > longestDownload) throw invalid(`${url} is larger than ${longestDownload} bytes. ${advice}`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function* parse(
  bytes: Buffer,
  { name, place }: { name: string; place: string },
): Generator<Problem, void, undefined> {
  const digest = createHash('sha256').update(bytes).digest('hex')
  const dataset = known[digest] ?? digest.slice(0, 12)
  const split = /train/.test(name) ? 'train' : 'test'
  const { records, issues, tail } = parseJsonl(bytes)
  const bad = issues.find(({ kind }) => kind !== 'nul_padding')
  if (bad !== undefined || tail === 'torn') {
    throw invalid(
      `${place}, line ${(bad?.line ?? records.length) + 1}: not a whole line of JSON. Fetch the file again.`,
    )
  }
  if (records.length === 0) throw invalid(`${place} holds no problem.`)
  for (const [index, { value }] of records.entries()) {
    const parsed = row.safeParse(value)
    const answer = parsed.success ? parsed.data.answer.split('####').at(-1)!.trim() : ''
    if (!parsed.success || !parsed.data.answer.includes('####') || !/^-?[\d,]+(?:\.\d+)?$/.test(answer)) {
      throw invalid(
        `${place}, line ${index + 1}: expected { "question": text, "answer": text that ends in "#### NUMBER" }.`,
      )
    }
    yield {
      id: `${split}-${String(index).padStart(4, '0')}`,
      split,
      prompt: parsed.data.question,
      data: { index, dataset },
      secret: { answer },
    }
  }
}

function invalid(message: string, cause?: unknown): QuintainError {
  return new QuintainError('tasks_invalid', message, cause === undefined ? {} : { cause })
}
