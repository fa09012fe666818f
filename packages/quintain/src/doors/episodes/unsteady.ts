import type { Move, RecordedEpisode } from './recorded-episode.ts'

/**
 * The episodes of a recording, in which each result is marked that was another one when the engine itself played the same
 * moves again: it tells the time, or a number that nobody chose, and says nothing of doors. Gives how many there are.
 */
export function markUnsteady(
  episodes: readonly RecordedEpisode[],
  again: readonly RecordedEpisode[],
): { episodes: RecordedEpisode[]; unsteady: number } {
  const others = new Map(again.map((episode) => [episode.order, episode]))
  let unsteady = 0
  const marked = episodes.map((episode) => {
    const other = others.get(episode.order)
    if (other === undefined) return episode
    const moves = episode.moves.map((move, place) => markMove(move, other.moves[place], () => unsteady++))
    return { ...episode, moves }
  })
  return { episodes: marked, unsteady }
}

function markMove(move: Move, other: Move | undefined, count: () => void): Move {
  if (move.kind === 'say') {
    if (other?.kind !== 'say' || other.text !== move.text || other.answer === move.answer) return move
    count()
    return { ...move, unsteady: true }
  }
  if (other?.kind !== 'calls') return move
  const calls = move.calls.map((call, place) => {
    const same = other.calls[place]
    const isSameCall = same?.name === call.name && same.arguments === call.arguments
    if (!isSameCall || same.result.text === call.result.text) return call
    count()
    return { ...call, result: { ...call.result, unsteady: true as const } }
  })
  return { ...move, calls }
}
