import { loadavg } from 'node:os'
import { join } from 'node:path'
import { idleSessions } from './doors/idle-sessions.ts'
import type { Kind } from './doors/kinds.ts'
import {
  type DoorServer,
  load,
  type MeasuredLoad,
  serveBare,
  serveOurs,
  serveTheirs,
} from './doors/servers.ts'
import { type Bench, figure, type Measurement, medianOf } from './measurement.ts'
import { inTemporaryFolder } from './run-files.ts'

const sessions = 256
const idle = 2_000
const rounds = 3
const warmMs = 1_500
/** Of ours before the first round: servers run for hours, and what is measured is not how V8 compiles one. */
const firstWarmMs = 12_000
const ms = 3_000
const kinds: readonly Kind[] = ['wordle', 'counter']

/** Doors, and how many times as fast as their protocol's own server they are to be. */
const doors: Readonly<Record<string, number | undefined>> = {
  ors: 5,
  openenv: 5,
  'nemo-gym': 1,
  hud: 1,
  native: undefined,
}

const defaultWay = 'two workers'
const idleWays: Readonly<Record<string, readonly string[]>> = {
  [defaultWay]: [],
  'one worker': ['--workers', '1'],
  inline: ['--isolation', 'inline'],
}

export const bench: Bench = {
  title: 'Doors beside the servers of their protocols',
  about:
    `${sessions} sessions at a time play episodes from a process of their own: Wordle, which answers what is said, and a counter of one tool, 20 calls an episode. ` +
    "`quintain serve` with its defaults (two workers, isolation, every episode graded and recorded); beside it the same game in Python behind the protocol's own server (ors-sdk, OpenEnv, a resources server of nemo-gym, hud with FastMCP), written as its users write one, ungraded and unrecorded. The client is the same for both. Of OpenEnv also its quickest way: asynchronous methods, no MCP, an observation of one text. " +
    `Steps answered per second with openings and ends of episodes between them, ${ms / 1000} s a round after ${warmMs / 1000} s of warming up, ours after ${firstWarmMs / 1000} s before the first round; they take turns in ${rounds} rounds. Then the memory of a server whose ${idle} sessions of the orders desk are open and idle.`,
  async run(progress) {
    const before = loadavg()[0]!
    const measurements: Measurement[] = []
    const notes: string[] = []
    for (const door of Object.keys(doors)) {
      for (const kind of kinds) {
        const played = await playDoor(door, kind, progress)
        measurements.push(...played.measurements)
        notes.push(...played.notes)
      }
    }
    for (const [how, more] of Object.entries(idleWays)) {
      progress(`${idle} idle sessions, ${how}`)
      const { residentMib, ownMib, processes } = await inTemporaryFolder((folder) =>
        idleSessions(idle, { folder, more }),
      )
      const what = `with ${idle} idle sessions of orders, ${how}, ${processes} processes`
      const aim = how === defaultWay ? { aim: { below: 400 } } : {}
      measurements.push(
        { what: `memory ${what}, what they share counted once`, unit: 'MiB', value: ownMib, ...aim },
        {
          what: `resident memory ${what}, what they share counted for each`,
          unit: 'MiB',
          value: residentMib,
        },
      )
    }
    notes.push(
      `load of the machine before and after, of which the bench itself makes about two: ${figure(before)}, ${figure(loadavg()[0]!)}.`,
    )
    return { measurements, notes }
  },
}

async function playDoor(
  door: string,
  kind: Kind,
  progress: (text: string) => void,
): Promise<{ measurements: Measurement[]; notes: string[] }> {
  return inTemporaryFolder(async (folder) => {
    const theirs = await peerOf(door, kind, progress)
    const quickest = await serveTheirs(kind, door, { progress, quickest: true })
    const ours = await serveOurs(kind, { door, out: join(folder, 'run') })
    const inline = await serveOurs(kind, {
      door,
      out: join(folder, 'inline'),
      more: ['--isolation', 'inline'],
    })
    const bare = door === 'openenv' && kind === 'counter' ? await serveBare() : undefined
    const found: Found = { ours: [], inline: [], theirs: [], quickest: [], bare: [] }
    try {
      for (const server of [ours, inline])
        await load(server, { door, kind, sessions, warmMs: firstWarmMs, ms: 0 })
      for (let round = 0; round < rounds; round++) {
        if (!('unavailable' in theirs)) found.theirs.push(await play(theirs, door, kind))
        if (!('unavailable' in quickest)) found.quickest.push(await play(quickest, door, kind))
        found.ours.push(await play(ours, door, kind))
        found.inline.push(await play(inline, door, kind))
        if (bare !== undefined) found.bare.push(await play(bare, door, kind))
        const all = [found.ours, found.inline, found.theirs].map((loads) => told(loads[round]))
        progress(`${door}, ${kind}: ours ${all[0]}; inline ${all[1]}; theirs ${all[2]}`)
      }
    } finally {
      await Promise.all([ours.close(), inline.close(), bare?.close()])
      for (const peer of [theirs, quickest]) if (!('unavailable' in peer)) await peer.close()
    }
    const notes = 'unavailable' in theirs ? [`${door} has no peer here: ${theirs.unavailable}.`] : []
    return { measurements: figuresOf(door, kind, found), notes: kind === kinds[0] ? notes : [] }
  })
}

/** What every round found. */
interface Found {
  ours: MeasuredLoad[]
  /** The same with the environment in the server's own process, as the peers have theirs. */
  inline: MeasuredLoad[]
  theirs: MeasuredLoad[]
  /** The protocol's own server in its quickest way, where that is another. */
  quickest: MeasuredLoad[]
  /** A server that does nothing but answer, where there is one: nobody could be faster. */
  bare: MeasuredLoad[]
}

/** Servers of our own protocol, and of those that cannot be installed, are nobody's peers. */
async function peerOf(door: string, kind: Kind, progress: (text: string) => void) {
  if (door === 'hud' && kind === 'wordle') return { unavailable: 'an agent of HUD is not answered' }
  return serveTheirs(kind, door, { progress })
}

function play(server: DoorServer, door: string, kind: Kind): Promise<MeasuredLoad> {
  return load(server, { door, kind, sessions, warmMs, ms })
}

function figuresOf(door: string, kind: Kind, { ours, inline, theirs, quickest, bare }: Found): Measurement[] {
  const rate = ({ steps, seconds }: MeasuredLoad) => steps / seconds
  const over = (loads: readonly MeasuredLoad[], peers = theirs) =>
    loads.map((one, round) => rate(one) / rate(peers[round]!))
  const of = (whose: string, loads: readonly MeasuredLoad[]): Measurement[] => [
    medianOf(`${door}, ${kind}: steps per second${whose}`, '/s', loads.map(rate)),
    medianOf(
      `${door}, ${kind}: a step${whose}, median`,
      'ms',
      loads.map(({ p50 }) => p50),
    ),
    medianOf(
      `${door}, ${kind}: a step${whose}, 99 of 100`,
      'ms',
      loads.map(({ p99 }) => p99),
    ),
    ...processorTimes(`${door}, ${kind}: processor time of a step${whose}`, loads),
  ]
  const ceiling = bare.length === 0 ? [] : of(' of a server that only answers', bare)
  const alone = [...of('', ours), ...of(', inline', inline), ...ceiling]
  if (theirs.length === 0) return alone
  const aim = doors[door]
  const ratio = `${door}, ${kind}: steps per second over those of the protocol's own server`
  return [
    medianOf(ratio, '', over(ours), aim === undefined ? undefined : { atLeast: aim }),
    medianOf(`${ratio}, inline`, '', over(inline)),
    ...(quickest.length === 0
      ? []
      : [
          medianOf(`${ratio} in its quickest way`, '', over(ours, quickest)),
          ...of(" of the protocol's own server in its quickest way", quickest),
        ]),
    ...alone,
    ...of(" of the protocol's own server", theirs),
  ]
}

/** What a step takes of each process, which says more than rates on a machine that does other work. */
function processorTimes(what: string, loads: readonly MeasuredLoad[]): Measurement[] {
  const per = (of: (load: MeasuredLoad) => number) => loads.map((load) => of(load) / load.steps)
  return [
    medianOf(
      `${what}, main process`,
      'ms',
      per(({ mainMs }) => mainMs),
    ),
    medianOf(
      `${what}, workers`,
      'ms',
      per(({ workersMs }) => workersMs),
    ),
    medianOf(
      `${what}, load`,
      'ms',
      per(({ cpuMs }) => cpuMs),
    ),
  ]
}

function told(load: MeasuredLoad | undefined): string {
  if (load === undefined) return 'none'
  const { steps, seconds, p50, p99, episodes } = load
  return `${figure(steps / seconds)}/s, ${figure(p50)} ms and ${figure(p99)} ms, ${episodes} episodes`
}
