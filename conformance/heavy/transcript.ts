import { readFileSync, writeFileSync } from 'node:fs'
import type { Exchange } from './exchange.ts'

/** A rollout as the trainer counted it. */
export interface Rollout {
  /** Steps of the optimiser before it. */
  step: number
  /** The task. */
  id: string
  /** Handle of the session that it was played in. */
  session: string
  /** Null: it has none, and has no part in its group's baseline. */
  reward: number | null
  finished: boolean
}

/** What the trainer logged of a step. */
export interface TrainerStep {
  loss: number | null
  grad_norm: number | null
  reward: number | null
  reward_std: number | null
}

/** What a transcript holds of one environment. */
export interface Scene {
  environment: string
  exchanges: Exchange[]
  rollouts: Rollout[]
  steps: TrainerStep[]
}

export interface Transcript {
  /** Day on which it was made, as YYYY-MM-DD. */
  date: string
  versions: Record<string, string>
  scenes: Scene[]
}

type Line =
  | { kind: 'made'; date: string; versions: Record<string, string> }
  | { kind: 'environment'; environment: string }
  | ({ kind: 'exchange' } & Exchange)
  | ({ kind: 'rollout' } & Rollout)
  | ({ kind: 'step' } & TrainerStep)

/** One JSON value a line: when and with what it was made, then each environment and what follows it. */
export function writeTranscript(path: string, { date, versions, scenes }: Transcript): void {
  const lines: Line[] = [{ kind: 'made', date, versions }]
  for (const { environment, exchanges, rollouts, steps } of scenes) {
    lines.push({ kind: 'environment', environment })
    for (const exchange of exchanges) lines.push({ kind: 'exchange', ...exchange })
    for (const rollout of rollouts) lines.push({ kind: 'rollout', ...rollout })
    for (const step of steps) lines.push({ kind: 'step', ...step })
  }
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** Reads what `writeTranscript` wrote. */
export function readTranscript(path: string): Transcript {
  const transcript: Transcript = { date: '', versions: {}, scenes: [] }
  for (const text of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const { kind, ...line } = JSON.parse(text) as Line
    if (kind === 'made') Object.assign(transcript, line)
    else if (kind === 'environment')
      transcript.scenes.push({ ...(line as { environment: string }), exchanges: [], rollouts: [], steps: [] })
    else {
      const scene = transcript.scenes.at(-1)!
      if (kind === 'exchange') scene.exchanges.push(line as Exchange)
      if (kind === 'rollout') scene.rollouts.push(line as Rollout)
      if (kind === 'step') scene.steps.push(line as TrainerStep)
    }
  }
  return transcript
}
