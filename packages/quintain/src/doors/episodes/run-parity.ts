import { unmetNeeds } from '../serve/check-door.ts'
import type { Door } from '../serve/door.ts'
import type { LossName } from '../serve/loss.ts'
import type { ServedEnvironment, SessionCore } from '../session/session.ts'
import { sessionPlayer } from './clients/session.ts'
import { compareEpisode, explained, lossesIn } from './compare-episode.ts'
import type { Player, Way } from './episode-client.ts'
import {
  countEpisode,
  type EpisodeParity,
  emptyCell,
  type ParityCell,
  type ParityColumn,
  type ParityRow,
} from './parity-report.ts'
import { type Played, playAgain } from './play-again.ts'
import { playerOf } from './players.ts'
import type { RecordedRun } from './read-episodes.ts'
import type { RecordedEpisode } from './recorded-episode.ts'
import { sharedLosses } from './shared-losses.ts'
import { markUnsteady } from './unsteady.ts'

export interface ParityOptions {
  /** Serves the environment as it was when the episodes were recorded. */
  core: SessionCore
  runs: readonly RecordedRun[]
  doors: readonly Door[]
  /** Plays the moves of a run in the engine once more, to know what the environment itself does not give twice. */
  again?(run: RecordedRun): Promise<RecordedRun>
  /** Episodes that are played at a time; 8 when absent. */
  concurrency?: number
  log(line: string): void
  signal?: AbortSignal
}

/**
 * Plays recorded episodes again on sessions themselves and through every door, each in its own protocol, and compares. Doors
 * listen on loopback while it lasts. Throws what a door throws that cannot be opened.
 */
export async function runParity(options: ParityOptions): Promise<EpisodeParity> {
  const { core, doors } = options
  const ways: PlayedWay[] = [await playWay(sessionPlayer(core), 'sessions', sharedLosses, options)]
  for (const door of doors) {
    const unmet = unmetNeeds(door, core.environment)
    ways.push(unmet.length > 0 ? notCarried(door, unmet) : await playDoor(door, options))
  }
  const rows: ParityRow[] = []
  const notes: string[] = []
  for (const [place, run] of options.runs.entries()) {
    const steady = await withoutUnsteady(
      run,
      ways.map(({ played }) => played[place]),
      options,
    )
    notes.push(...steady.notes)
    const { player, episodes } = steady.run
    const cells = ways.map((way) => cellOf(way, episodes, way.played[place]))
    rows.push({ ...emptyRow(core.environment, player, episodes), cells })
  }
  return { rows, columns: ways.map((way) => columnOf(way, rows)), notes }
}

/** All runs by one way. */
interface PlayedWay {
  way: Way
  title: string
  declared: Declared
  unsaid: readonly string[]
  /** Needs that it does not carry: nothing was played then. */
  unmet: readonly string[]
  /** By run. */
  played: Played[][]
}

async function playWay(
  player: Player,
  title: string,
  declared: Declared,
  options: ParityOptions,
): Promise<PlayedWay> {
  const played: Played[][] = []
  for (const { episodes } of options.runs) played.push(await playAll(player, episodes, options))
  const { way, unsaid } = player
  return { way, title, declared, unsaid, unmet: [], played }
}

async function playDoor(door: Door, options: ParityOptions): Promise<PlayedWay> {
  const { core, log } = options
  const open = await door.open([core], { host: '127.0.0.1', port: 0, log })
  const player = playerOf(door.name, { core, url: open.addresses[0]!.url })
  try {
    return await playWay(player, door.title, declaredLosses(door, core.environment), options)
  } finally {
    await player.close()
    await open.close()
  }
}

function notCarried({ name, title }: Door, unmet: readonly string[]): PlayedWay {
  return { way: name, title, declared: {}, unsaid: [], unmet, played: [] }
}

function cellOf(
  { way, declared, unmet }: PlayedWay,
  episodes: readonly RecordedEpisode[],
  played: readonly Played[] | undefined,
): ParityCell {
  if (played === undefined) return { ...emptyCell(way), notCarried: [...unmet] }
  return countAll(way, { episodes, played, declared })
}

type Declared = Readonly<Partial<Record<LossName, string>>>

/** A column with those of the declared losses that were met. */
function columnOf({ way, title, declared, unsaid }: PlayedWay, rows: readonly ParityRow[]): ParityColumn {
  const cells = rows.flatMap((row) => row.cells.filter((cell) => cell.way === way))
  const met = new Set(cells.flatMap(({ losses }) => Object.keys(losses)))
  const known = Object.fromEntries(Object.entries(declared).filter(([loss]) => met.has(loss)))
  return { way, title, declared: known, unsaid }
}

/** A run whose results are marked that the engine itself does not give twice. It plays again only where some way read another. */
async function withoutUnsteady(
  run: RecordedRun,
  ways: readonly (readonly Played[] | undefined)[],
  { again }: ParityOptions,
): Promise<{ run: RecordedRun; notes: string[] }> {
  const differs = (episode: RecordedEpisode, played: Played | undefined) =>
    played !== undefined && compareEpisode(episode, played).some(({ what }) => what === 'text')
  const isSteady = ways.every(
    (played) => !run.episodes.some((episode, place) => differs(episode, played?.[place])),
  )
  if (isSteady || again === undefined) return { run, notes: [] }
  const { episodes, unsteady } = markUnsteady(run.episodes, (await again(run)).episodes)
  if (unsteady === 0) return { run, notes: [] }
  const note = `${run.player}: not compared are ${unsteady} results that the engine itself does not give twice`
  return { run: { ...run, episodes }, notes: [note] }
}

/** Each loss that a door declares and episodes can be others for, in its own words, and those of all sessions. */
function declaredLosses(door: Door, environment: ServedEnvironment): Declared {
  const named = door
    .losses(environment)
    .flatMap(({ name, says }) => (name === undefined ? [] : [[name, says]]))
  return { ...sharedLosses, ...Object.fromEntries(named) }
}

async function playAll(
  player: Player,
  episodes: readonly RecordedEpisode[],
  { concurrency = 8, signal }: ParityOptions,
): Promise<Played[]> {
  const played = new Array<Played>(episodes.length)
  const waiting = episodes.entries()
  const work = async () => {
    for (const [place, episode] of waiting) {
      signal?.throwIfAborted()
      played[place] = await playAgain(player, episode)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, episodes.length) }, work))
  return played
}

/** Counts in the order of the plan, so that the first example is always the same one. */
function countAll(
  way: Way,
  {
    episodes,
    played,
    declared,
  }: { episodes: readonly RecordedEpisode[]; played: readonly Played[]; declared: Declared },
): ParityCell {
  const cell = emptyCell(way)
  const names = new Set(Object.keys(declared) as LossName[])
  for (const [place, episode] of episodes.entries()) {
    const one = played[place]!
    const differences = explained(compareEpisode(episode, one), lossesIn(episode, one), names)
    countEpisode(cell, episode.order, differences)
  }
  return cell
}

function emptyRow(
  { name }: ServedEnvironment,
  player: string,
  episodes: readonly RecordedEpisode[],
): ParityRow {
  const ended = (kind: RecordedEpisode['end']['kind']) =>
    episodes.filter(({ end }) => end.kind === kind).length
  return {
    environment: name,
    player,
    episodes: episodes.length,
    scored: ended('scored'),
    unscored: ended('unscored'),
    failed: ended('failed'),
    cells: [],
  }
}
