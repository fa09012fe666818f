import {
  type ClientOpening,
  ClientRefused,
  type ClientStep,
  type ClientVerdict,
  type EpisodeClient,
  type Player,
} from './episode-client.ts'
import { objectIn } from './object-text.ts'
import { type Move, notTold, type RecordedCall, type RecordedEpisode } from './recorded-episode.ts'

/** A step as it was played again: which move of the recording it was, and which call of it. */
export interface PlayedStep extends ClientStep {
  move: number
  /** Place among the calls of the recording's move; undefined for something said. */
  call?: number
}

/** An episode as it went through a door. */
export interface Played {
  /** Undefined where it could not be begun. */
  opening: ClientOpening | undefined
  steps: PlayedStep[]
  /** Calls whose arguments the protocol cannot carry. */
  unsent: number
  verdict: ClientVerdict
  /** What the door refused, which ended the playing: at the opening, a move of the recording, or the end. */
  refused?: { at: 'opening' | 'end' | { move: number; call?: number }; message: string }
}

/**
 * Plays the moves of a recording through a door, in their order, until they are done or the episode is over, and asks what
 * it earned. Never rejects for what a door answers.
 */
export async function playAgain(player: Player, episode: RecordedEpisode): Promise<Played> {
  const played: Played = { opening: undefined, steps: [], unsent: 0, verdict: { kind: 'none' } }
  let at: NonNullable<Played['refused']>['at'] = 'opening'
  let client: EpisodeClient | undefined
  try {
    const { task: id, split, tools } = episode
    client = await player.open({ id, split, tools })
    played.opening = client.opening
    for (const [move, what] of episode.moves.entries()) {
      for (const [call, run] of runsOf(what, move, { episode, player, client, played })) {
        at = { move, ...(call === undefined ? {} : { call }) }
        const step = await run()
        played.steps.push({ ...step, ...at })
        if (step.done === true) break
      }
      if (played.steps.at(-1)?.done === true) break
    }
    at = 'end'
    played.verdict = await client.end()
  } catch (thrown) {
    if (!(thrown instanceof ClientRefused)) throw thrown
    if (thrown.verdict !== undefined) played.verdict = { kind: thrown.verdict } as ClientVerdict
    else played.refused = { at, message: thrown.message }
  } finally {
    await client?.close().catch(() => {})
  }
  return played
}

type Run = [call: number | undefined, run: () => Promise<ClientStep>]

/** What is to be sent for a move, one after the other. */
function* runsOf(
  move: Move,
  place: number,
  {
    episode,
    player,
    client,
    played,
  }: { episode: RecordedEpisode; player: Player; client: EpisodeClient; played: Played },
): Generator<Run> {
  if (move.kind === 'say') {
    yield [undefined, () => client.say(move.text)]
    return
  }
  for (const [call, recorded] of move.calls.entries()) {
    if (!wasCarriedOut(recorded, episode)) continue
    const { name, arguments: args } = recorded
    if (!player.anyArguments && objectIn(args) === undefined) played.unsent++
    else {
      const several = move.calls.length > 1 ? { batch: `move-${place}` } : {}
      const beside = call === 0 && move.text !== '' ? { text: move.text } : {}
      yield [call, () => client.call(name, args, { ...several, ...beside })]
    }
  }
}

/** Calls after the end of an episode were not carried out, nor those of a reply that was cut, nor an agent's escalation. */
export function wasCarriedOut({ result }: RecordedCall, { outcome }: RecordedEpisode): boolean {
  switch (result.error) {
    case 'episode_over':
    case 'truncated':
      return false
    case notTold:
      return outcome === undefined || outcome === 'wall_limit'
    default:
      return true
  }
}
