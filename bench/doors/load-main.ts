/**
 * Plays episodes of one door from many sessions at once and sends how many steps were answered and how long they took:
 * `load-main DOOR URL KIND SPLIT SESSIONS WARM_MS MS TASK…`, a process of its own.
 */
import { hudPlayer } from '../../packages/quintain/src/doors/episodes/clients/hud.ts'
import { nativePlayer } from '../../packages/quintain/src/doors/episodes/clients/native.ts'
import { nemoGymPlayer } from '../../packages/quintain/src/doors/episodes/clients/nemo-gym.ts'
import { orsPlayer } from '../../packages/quintain/src/doors/episodes/clients/ors.ts'
import type { EpisodeClient, PlayedTask } from '../../packages/quintain/src/doors/episodes/episode-client.ts'
import { cpuTimes } from '../cpu-time.ts'
import { callsToGo, guesses, type Kind } from './kinds.ts'
import { openEnvLoad } from './openenv-load.ts'

/** What a load came to. */
export interface Load {
  steps: number
  seconds: number
  p50: number
  p99: number
  episodes: number
  /** Milliseconds of processor time that the load itself took for these steps. */
  cpuMs: number
}

const [door = '', url = '', kind = 'counter', split = '', sessions = '1', warm = '0', ms = '0', ...tasks] =
  process.argv.slice(2)
/** Told to whoever started the load, which looks at the server's processor time then. */
export type LoadMoment = 'from' | 'until'

const players: Record<string, () => { open(task: PlayedTask): Promise<EpisodeClient> }> = {
  ors: () => orsPlayer(url),
  openenv: () => openEnvLoad(url),
  'nemo-gym': () => nemoGymPlayer(async (id) => rowOf(id, kind as Kind), url),
  hud: () => hudPlayer(url),
  native: () => nativePlayer(url),
}
const player = players[door]!()
/** When steps begin to count, and when they no longer do: once every session has been opened, and has been warm for a while. */
let from = Number.POSITIVE_INFINITY
let until = Number.POSITIVE_INFINITY
let opened = 0
const took: number[] = []
let episodes = 0
let cpuMs = 0
await Promise.all(Array.from({ length: Number(sessions) }, (_, place) => play(place)))
took.sort((a, b) => a - b)
const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0
const load: Load = {
  steps: took.length,
  seconds: Number(ms) / 1000,
  p50: at(0.5),
  p99: at(0.99),
  episodes,
  cpuMs,
}
process.send?.(load, () => process.exit())

async function play(place: number): Promise<void> {
  for (let turn = place; performance.now() < until; turn += Number(sessions)) {
    const id = tasks[turn % tasks.length]!
    const recorded = kind === 'counter' ? ['add'] : []
    const client = await player.open({ id, split, tools: recorded })
    if (turn === place && ++opened === Number(sessions)) {
      from = performance.now() + Number(warm)
      until = from + Number(ms)
      setTimeout(() => tell('from'), Number(warm))
      setTimeout(() => tell('until'), Number(warm) + Number(ms))
    }
    for (const step of stepsOf(client)) {
      const sent = performance.now()
      const { done } = await step()
      const now = performance.now()
      if (sent >= from && now <= until) took.push(now - sent)
      if (done === true || now > until) break
    }
    if (performance.now() < until) {
      const verdict = await client.end()
      if (verdict.kind !== 'scored') throw new Error(`${door}: an episode ended with ${verdict.kind}`)
      episodes++
    }
    await client.close()
  }
}

function tell(moment: LoadMoment): void {
  const now = cpuTimes().ownMs
  cpuMs = moment === 'from' ? now : now - cpuMs
  process.send?.(moment)
}

function stepsOf(client: EpisodeClient): (() => Promise<{ done?: boolean }>)[] {
  if (kind === 'wordle') return guesses.map((word) => () => client.say(`[${word}]`))
  return Array.from({ length: callsToGo }, () => () => client.call('add', '{"by":1}', {}))
}

function rowOf(id: string, of: Kind): object {
  const tools = of === 'wordle' ? [{ name: 'say' }] : [{ name: 'add' }]
  return { task_id: id, responses_create_params: { input: [], tools } }
}
