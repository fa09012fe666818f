import { type Message, textOf } from '../../packages/quintain/src/core/index.ts'
import { readEpisodes } from '../../packages/quintain/src/doors/episodes/read-episodes.ts'
import type { RecordedEpisode } from '../../packages/quintain/src/doors/episodes/recorded-episode.ts'
import type { Opening, SessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { evaluate } from '../../packages/quintain/src/index.ts'

/** An episode as clients of this protocol play it: every move is a call. */
export interface CalledEpisode {
  recorded: RecordedEpisode
  split: string
  index: number
  /** With the text that the engine gave for each, where its recording has it: not where it ended with the episode. */
  calls: { name: string; input: Record<string, unknown>; text?: string | undefined }[]
  /** Its agent stopped although the environment would have answered, which nobody can say on this wire. */
  stopped: boolean
}

export interface RecordOptions {
  /** The same environment, served. */
  core: SessionCore
  env: string
  /** Folder of the run; it must not be there yet. */
  dir: string
  policy: string
  tasks: number
}

/** Lets a script of the environment play some of its tasks in the engine, without any door. */
export async function record({ core, env, ...options }: RecordOptions): Promise<CalledEpisode[]> {
  await evaluate(env, { ...options, workers: 1 })
  const { episodes } = await readEpisodes(options.dir)
  return Promise.all(
    episodes.map(async (recorded) => {
      const { split, index } = await core.task({ id: recorded.task })
      const opening = await core.preview({ id: recorded.task }, { answerTool: true })
      const stopped = opening.replies && recorded.outcome === 'completed'
      return { recorded, split, index, calls: callsOf(recorded, opening), stopped }
    }),
  )
}

/** The calls that a recording comes to where the agent speaks by a tool. */
function callsOf({ moves }: RecordedEpisode, { answerTool, tools }: Opening): CalledEpisode['calls'] {
  const speaking = tools.find(({ name }) => name === answerTool)!
  const [parameter] = Object.keys(speaking.parameters['properties'] as object)
  return moves.flatMap((move): CalledEpisode['calls'] =>
    move.kind === 'say'
      ? [{ name: speaking.name, input: { [parameter!]: move.text }, text: move.answer }]
      : move.calls.map(({ name, arguments: given, result }) => {
          return { name, input: JSON.parse(given) as Record<string, unknown>, text: result.text }
        }),
  )
}

/** The words of an opening, a text for each message. */
export function wordsOf(messages: readonly Message[]): string[] {
  return messages.map(({ content }) => textOf(content))
}
