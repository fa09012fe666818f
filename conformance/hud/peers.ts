import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HudEpisode } from './episodes.ts'

/** What HUD's runner made of a rollout. */
export interface RunTold {
  slug: string
  reward: number
  failed: boolean
  status: string | null
  error: string | null
  content: string | null
  info: Record<string, unknown>
  subscores: { name: string; weight: number; value: number }[] | null
  prompt?: { role: string; content: { type: string; text: string } }[]
  tools?: { name: string; schema: object }[]
  calls?: { text: string; error: boolean }[]
}

export interface JobTold {
  mean: number
  errors: number
  runs: RunTold[]
}

export interface ChannelTold {
  env: string
  tasks: { id: string; args: { properties: object } }[]
  refused: Record<string, number | null>
  heartbeat: boolean
  resumed: boolean
  score: number
  adopted: number
  cancelled: boolean
}

/** What `hud eval --json` prints. */
export interface EvalTold {
  mean_reward: number
  error_count: number
  run_count: number
  runs: { slug: string; reward: number; is_error: boolean; trace_error: string | null }[]
}

interface Ended {
  code: number | null
  out: string
  err: string
}

/** The client's own programs, in a home of their own, so that no account and no settings of this machine reach them. */
export class HudProgram {
  private readonly interpreter: string
  private readonly home = mkdtempSync(join(tmpdir(), 'quintain-hud-home-'))

  constructor(interpreter: string) {
    this.interpreter = interpreter
  }

  /** What `play.py` prints. */
  async play(wish: { jobs: object[]; channel: object }): Promise<{ jobs: JobTold[]; channel: ChannelTold }> {
    const program = [join(import.meta.dirname, 'play.py')]
    const { code, out, err } = await this.run(this.interpreter, program, JSON.stringify(wish))
    if (code !== 0) throw new Error(`play.py ended with ${code}:\n${err}`)
    return JSON.parse(out) as { jobs: JobTold[]; channel: ChannelTold }
  }

  /** The `hud` command. */
  hud(...args: string[]): Promise<Ended> {
    return this.run(join(dirname(this.interpreter), 'hud'), args)
  }

  close(): void {
    rmSync(this.home, { recursive: true, force: true })
  }

  private run(command: string, args: string[], input = ''): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        cwd: this.home,
        env: {
          PATH: process.env['PATH'],
          HOME: this.home,
          HUD_TELEMETRY_ENABLED: 'false',
          HUD_CLI_ANALYTICS_ENABLED: 'false',
          PYTHONUNBUFFERED: '1',
        },
      })
      const ended: Ended = { code: null, out: '', err: '' }
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        ended.out += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        ended.err += text
      })
      child.on('error', reject)
      child.on('close', (code) => resolve({ ...ended, code }))
      child.stdin.end(input)
    })
  }
}

/** What the scripted agent is given: the moves, without what is expected of them. */
export function wished(episodes: readonly HudEpisode[]): object[] {
  return episodes.map(({ name, slug, calls, answer }) => {
    return { name, slug, answer, calls: calls.map((call) => ({ name: call.name, input: call.input })) }
  })
}
