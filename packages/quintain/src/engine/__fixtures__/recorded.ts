import { rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AttemptRecord,
  foldRun,
  type Message,
  type Model,
  type ModelContext,
  type ModelRequest,
  type ModelResponse,
  type OrderState,
  type PrivateRecord,
  readPrivate,
  readTrajectory,
  recordsOf,
  runFiles,
  type TrajectoryRecord,
} from '../../core/index.ts'
import type { Player } from '../policy.ts'
import { type RunEnd, resumeRun, startRun } from '../run.ts'
import type { ResumeOptions, RunOptions } from '../run-options.ts'

/** A run as its folder tells of it. */
export interface Recorded {
  dir: string
  end: RunEnd
  states: OrderState<AttemptRecord>[]
  /** Every attempt line in the order in which it was written. */
  attempts: AttemptRecord[]
  /** The attempt that counts, of a run of one order. */
  only: AttemptRecord
  trajectory(attempt?: AttemptRecord): Promise<TrajectoryRecord>
  hidden(attempt?: AttemptRecord): Promise<PrivateRecord | undefined>
}

const made: string[] = []
process.on('exit', () => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

/** A folder that is removed with this process. */
export async function temporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'quintain-engine-'))
  made.push(dir)
  return dir
}

/** Runs to the end in a folder of its own and reads the folder. */
export async function recorded(
  env: RunOptions['env'] | object,
  player: Player,
  options: Partial<RunOptions> = {},
): Promise<Recorded> {
  const { seats, ...rest } = options
  const end = await startRun({
    env: env as RunOptions['env'],
    seats: { agent: player, ...seats },
    dir: join(await temporaryFolder(), 'run'),
    ...rest,
  })
  return readRecorded(end)
}

/** Takes a recorded run up again and reads it. */
export async function resumed(run: Recorded, options: Omit<ResumeOptions, 'dir'>): Promise<Recorded> {
  return readRecorded(await resumeRun({ ...options, dir: run.dir }))
}

async function readRecorded(end: RunEnd): Promise<Recorded> {
  const { dir } = end
  const { states } = await foldRun(dir)
  const attempts: AttemptRecord[] = []
  for await (const { value } of recordsOf(join(dir, runFiles.attempts))) {
    if ((value as AttemptRecord).schema === 'quintain.attempt') attempts.push(value as AttemptRecord)
  }
  const only = states[0]?.chosen as AttemptRecord
  return {
    dir,
    end,
    states,
    attempts,
    only,
    trajectory: (attempt = only) => readTrajectory(dir, attempt),
    hidden: (attempt = only) => readPrivate(dir, attempt),
  }
}

/** Path and text of every file of a run; what lies in `private/` only when asked for. */
export async function filesOf(dir: string, which: 'publishable' | 'private'): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const hidden = path.slice(dir.length).split(/[/\\]/).includes('private')
    if (hidden === (which === 'private'))
      files.set(path.slice(dir.length + 1), await readFile(path, 'latin1'))
  }
  return files
}

/** A model that answers what `reply` says, text or more of a response; free of cost unless said otherwise. */
export function modelThat(
  reply: (
    request: ModelRequest,
    context: ModelContext,
    call: number,
  ) => string | Partial<ModelResponse> | Promise<string | Partial<ModelResponse>>,
  id = 'fake',
): Model {
  let calls = 0
  return {
    id,
    async generate(request, context) {
      const given = await reply(request, context, calls++)
      const partial = typeof given === 'string' ? { message: say(given) } : given
      const message = partial.message ?? say('')
      const finish = message.toolCalls?.length ? 'tool_calls' : 'stop'
      return { finish, costUsd: 0, ...partial, message }
    },
  }
}

/** What an assistant says. */
export function say(content: string): Extract<Message, { role: 'assistant' }> {
  return { role: 'assistant', content }
}

/** An assistant's message that calls tools. */
export function calling(
  ...calls: [name: string, args?: object | string][]
): Extract<Message, { role: 'assistant' }> {
  return {
    role: 'assistant',
    content: '',
    toolCalls: calls.map(([name, args = {}], at) => ({
      id: `call_${at}`,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    })),
  }
}

/** Never settles. */
export function never(): Promise<never> {
  return new Promise(() => {})
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
