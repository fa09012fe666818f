import { readEpisodes } from '../../packages/quintain/src/doors/episodes/read-episodes.ts'
import type {
  RecordedEnd,
  RecordedEpisode,
} from '../../packages/quintain/src/doors/episodes/recorded-episode.ts'
import type { Opening, SessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { evaluate } from '../../packages/quintain/src/index.ts'

/** An episode as an agent of HUD plays it: calls, and the answer that it ends with. */
export interface HudEpisode {
  /** One among those of a job. */
  name: string
  slug: string
  task: string
  split: string
  calls: { name: string; input: Record<string, unknown>; text: string | undefined }[]
  answer: string | null
  /** What the agent read first, a text for each message. */
  opening: readonly string[]
  end: RecordedEnd
}

/** Lets scripts of an environment play some of its tasks in the engine, without any door. */
export async function record(
  core: SessionCore,
  { env, dir, tasks }: { env: string; dir: string; tasks: Record<string, number> },
): Promise<HudEpisode[]> {
  const answerTool = core.environment.needs.includes('turns')
  const all: HudEpisode[] = []
  for (const [policy, count] of Object.entries(tasks)) {
    const folder = `${dir}-${policy}`
    await evaluate(env, { dir: folder, policy: `script:${policy}`, tasks: count, workers: 1 })
    for (const recorded of (await readEpisodes(folder)).episodes) {
      const { task, split, opening, end } = recorded
      const moves = movesOf(recorded, await core.preview({ id: task }, { answerTool }))
      all.push({ name: `${task} ${policy}`, slug: task, task, split, opening, end, ...moves })
    }
  }
  return all
}

function movesOf(
  { moves }: RecordedEpisode,
  { answerTool, tools }: Opening,
): Pick<HudEpisode, 'calls' | 'answer'> {
  const speaking = tools.find(({ name }) => name === answerTool)
  const [parameter] = Object.keys((speaking?.parameters['properties'] ?? {}) as object)
  const calls: HudEpisode['calls'] = []
  let answer: string | null = null
  for (const move of moves) {
    if (move.kind === 'calls')
      for (const { name, arguments: given, result } of move.calls)
        calls.push({ name, input: JSON.parse(given) as Record<string, unknown>, text: result.text })
    else if (speaking === undefined) answer = move.text
    else calls.push({ name: speaking.name, input: { [parameter!]: move.text }, text: move.answer })
  }
  return { calls, answer }
}
