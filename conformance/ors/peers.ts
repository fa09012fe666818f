import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { CalledEpisode } from './record.ts'

/** What a check needs. */
export interface Bench {
  check(name: string, actual: unknown, expected: unknown): void
  /** Runs one of the Python scripts against a server, and gives what it printed. */
  ask<Told>(script: string, wish: { url: string } & Record<string, unknown>): Promise<Told>
}

export interface Step {
  blocks?: { type: string; text: string; detail: null }[]
  metadata: Record<string, unknown> | null
  reward: number | null
  finished: boolean
  /** Name of the exception that the client raised instead. */
  raised?: string
  message?: string
}

/** What `play.py` prints. */
export interface ClientTold {
  listings: {
    splits: string[]
    count: number
    listed: number | null
    first: Record<string, unknown>
    last: Record<string, unknown>[]
    tools: { name: string }[]
    providers: Record<string, number>
  }
  episodes: {
    steps: Step[]
    prompt: { type: string; text: string }[]
    tools: { name: string }[]
    messages?: { role: string; content: string }[]
    terminal?: { name: string; arg: string } | null
  }[]
}

/** What `trl_spec.py` prints. */
export interface TrlTold {
  splits: Record<string, { columns: string[]; rows: Record<string, unknown>[] }>
  episodes: {
    id: string
    prompt: string
    tools: Record<string, { parameters: string[]; doc: string }>
    texts: string[]
    rewards: (number | null)[]
    /** Of the reward function that TRL gives to its trainer. */
    reward: number | null
    finished: boolean
    metadata: (Record<string, unknown> | null)[]
  }[]
  torch: boolean
}

/** Runs the scripts beside this file with an interpreter, with the key of the server where it wants one. */
export function asker(interpreter: string, key?: string): Bench['ask'] {
  return <Told>(script: string, wish: { url: string } & Record<string, unknown>) =>
    new Promise<Told>((resolve, reject) => {
      const child = spawn(interpreter, [join(import.meta.dirname, script)], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: {
          PATH: process.env['PATH'],
          // One address for both halves of the vendor's service.
          OPENREWARD_API_URL: wish.url,
          OPENREWARD_SESSION_URL: wish.url,
          ...(key === undefined ? {} : { OPENREWARD_API_KEY: key, ORS_API_KEY: key }),
        },
      })
      let said = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      child.on('error', reject)
      child.on('close', (code) =>
        code === 0 ? resolve(JSON.parse(said) as Told) : reject(new Error(`${script} ended with ${code}`)),
      )
      child.stdin.end(JSON.stringify(wish))
    })
}

/** What clients are given to play: the calls, without what is expected of them. */
export function wished(episodes: readonly Pick<CalledEpisode, 'split' | 'index' | 'calls'>[]): unknown[] {
  return episodes.map(({ split, index, calls }) => {
    return { split, index, calls: calls.map(({ name, input }) => ({ name, input })) }
  })
}

/** The text of a step as the client read it. */
export function textOfStep({ blocks = [] }: Step): string {
  return blocks.map(({ text }) => text).join('')
}
