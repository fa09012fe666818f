import {
  type AttemptRecord,
  conversationOf,
  foldRun,
  type ManifestRecord,
  type Message,
  type OrderRecord,
  readTrajectory,
  readVerdict,
  type ToolMessage,
  type TrajectoryRecord,
  textOf,
} from '../../core/index.ts'
import { totalReward } from '../../engine/index.ts'
import {
  type Move,
  notTold,
  type RecordedCall,
  type RecordedEnd,
  type RecordedEpisode,
} from './recorded-episode.ts'

/** The episodes of a run. */
export interface RecordedRun {
  /** Its folder. */
  dir: string
  manifest: ManifestRecord
  /** When its last episode ended, in milliseconds. */
  endedAt: number
  /** Who played the agent, as the run names it. */
  player: string
  episodes: RecordedEpisode[]
  /** Orders without an attempt that is over: they were cancelled, or are still to be played. */
  unplayed: number
}

/**
 * Reads the episodes of a run folder, in the order of its plan, at most so many. Nothing private is read. Throws as
 * `foldRun` and `readTrajectory`.
 */
export async function readEpisodes(dir: string, most = Number.POSITIVE_INFINITY): Promise<RecordedRun> {
  const { manifest, states } = await foldRun(dir)
  const episodes: RecordedEpisode[] = []
  let unplayed = 0
  let endedAt = 0
  for (const { order, chosen } of states) {
    if (episodes.length >= most) break
    if (chosen === undefined || chosen.outcome === 'cancelled') unplayed++
    else {
      endedAt = Math.max(endedAt, Date.parse(chosen.end))
      episodes.push(await readEpisode(dir, order, chosen))
    }
  }
  const { policy = 'unknown', harness } = manifest.seats['agent'] ?? {}
  return {
    dir,
    manifest,
    endedAt,
    player: policy === '' ? (harness ?? 'unknown') : policy,
    episodes,
    unplayed,
  }
}

async function readEpisode(
  dir: string,
  { id, task, split }: OrderRecord,
  attempt: AttemptRecord,
): Promise<RecordedEpisode> {
  const trajectory = await readTrajectory(dir, attempt)
  const messages = conversationOf(trajectory, 'agent').map((at) => trajectory.nodes[at]!.message)
  const first = messages.findIndex(({ role }) => role === 'assistant')
  const opening = first < 0 ? messages : messages.slice(0, first)
  return {
    order: id,
    task,
    split,
    opening: opening.map(({ content }) => textOf(content)),
    tools: (trajectory.seats['agent']?.tools ?? []).map(({ name }) => name),
    moves: first < 0 ? [] : movesOf(messages.slice(first)),
    outcome: attempt.outcome ?? undefined,
    end: await endOf(dir, attempt, trajectory),
  }
}

/** The agent's messages as moves, each with what came of it. */
export function movesOf(messages: readonly Message[]): Move[] {
  const moves: Move[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    const text = textOf(message.content)
    const { toolCalls = [] } = message
    const next = messages[at + 1]
    if (toolCalls.length > 0) {
      const results = resultsBehind(messages, at)
      moves.push({ kind: 'calls', text, calls: toolCalls.map((call) => recordedCall(call, results)) })
    } else
      moves.push({ kind: 'say', text, ...(next?.role === 'user' ? { answer: textOf(next.content) } : {}) })
  }
  return moves
}

/** By the id of the call; ids are unique within a reply only. */
function resultsBehind(messages: readonly Message[], at: number): Map<string, ToolMessage> {
  const results = new Map<string, ToolMessage>()
  for (const message of messages.slice(at + 1)) {
    if (message.role !== 'tool') break
    results.set(message.toolCallId, message)
  }
  return results
}

/** A call that nothing came of was not carried out: the attempt ended beneath it. */
function recordedCall(
  { id, name, arguments: given }: { id: string; name: string; arguments: string },
  results: ReadonlyMap<string, ToolMessage>,
): RecordedCall {
  const result = results.get(id)
  if (result === undefined) return { name, arguments: given, result: { text: '', error: notTold } }
  const { error } = result
  return {
    name,
    arguments: given,
    result: { text: textOf(result.content), ...(error === undefined ? {} : { error }) },
  }
}

async function endOf(
  dir: string,
  attempt: AttemptRecord,
  { attempt: id }: TrajectoryRecord,
): Promise<RecordedEnd> {
  const { fault, verdict } = attempt
  if (fault !== null) return { kind: 'failed', fault }
  if (verdict === null) {
    const message = `attempt ${id} has no verdict`
    return {
      kind: 'failed',
      fault: { owner: 'platform', stage: 'attempt', code: 'not_graded', message, retryable: false },
    }
  }
  const reward = verdict.unscored === undefined ? await ownReward(dir, attempt) : null
  if (reward === null) return { kind: 'unscored', reason: verdict.unscored?.reason ?? 'unscored' }
  return { kind: 'scored', reward, success: verdict.success }
}

/** The reward without those that need a whole group, which no session has. */
async function ownReward(dir: string, attempt: AttemptRecord): Promise<number | null> {
  const components = (await readVerdict(dir, attempt))?.components
  if (components === undefined) return attempt.verdict?.reward ?? null
  const own = Object.entries(components).filter(([, { kind }]) => kind !== 'group')
  return own.length === Object.keys(components).length
    ? (attempt.verdict?.reward ?? null)
    : totalReward(Object.fromEntries(own))
}
