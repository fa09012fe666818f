import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { longHistory } from './gateway/history.ts'
import { manyStreams } from './gateway/streams.ts'
import { versus } from './gateway/versus.ts'
import { type Bench, figure, type Measurement, median, medianOf } from './measurement.ts'

const rounds = 7
const promptChars = 4_000
const streams = 2_000
const turns = 50
const historyBytes = 1_000_000

export const bench: Bench = {
  title: 'The gateway beside a plain reverse proxy',
  about:
    `A model server that answers at once (1,000 characters, or with a stream of 20 pieces, the first at once and the others 5 ms apart, each stream in its own time), before it our gateway (2,000 attempts at a time, of 20 calls each, every call recorded), or the reverse proxy that one writes with node:http and undici; each in a process of its own, the load in this one, all on two cores. Prompts have ${promptChars} characters. Saturation: 64 calls or 384 streams at a time. Half of it: arrivals at random, the model server's own time taken off. All take turns in ${rounds} short rounds; medians of rounds. ` +
    `Then ${streams} streams at once, a piece a second each; and a conversation of ${turns} turns and 1 MB.`,
  async run(progress) {
    const before = loadavg()[0]!
    const whole = await versus({ stream: false, promptChars, rounds })
    progress(`whole replies: ${told(whole)}`)
    const streamed = await versus({ stream: true, promptChars, rounds })
    progress(`streams: ${told(streamed)}`)
    const history = await longHistory(turns, historyBytes)
    const memory = await memoryOfStreams()
    return {
      measurements: [
        medianOf(
          'added to a call at half of saturation, median',
          'ms',
          whole.added.map(({ total }) => total.ours),
          { below: 1 },
        ),
        medianOf(
          'added to the first byte of a stream at half of saturation, median',
          'ms',
          streamed.added.map(({ first }) => first.ours),
          { below: 0.5 },
        ),
        medianOf(
          'calls per second at saturation over those of the proxy',
          '',
          whole.saturated.map(({ perSecond: { ours, proxy } }) => ours / proxy),
          { atLeast: 0.5 },
        ),
        medianOf(
          'streams per second at saturation over those of the proxy',
          '',
          streamed.saturated.map(({ perSecond: { ours, proxy } }) => ours / proxy),
          { atLeast: 0.5 },
        ),
        ...memory.measurements,
        {
          what: `bytes of the record over those of a history of ${turns} turns, ${figure(history.historyBytes)} bytes`,
          unit: '',
          value: history.recordBytes / history.historyBytes,
          aim: { below: 1.1 },
        },
        {
          what: 'the last turn of that conversation, with its history of 1 MB',
          unit: 'ms',
          value: history.lastMs,
        },
        ...explained('calls', whole),
        ...explained('streams', streamed),
      ],
      notes: [
        `the program of the long conversation sent ${figure(history.sentBytes / 1e6)} MB in all.`,
        `load of the machine before and after, of which the bench itself makes about two: ${figure(before)}, ${figure(loadavg()[0]!)}.`,
        ...memory.notes,
      ],
    }
  },
}

type Versus = Awaited<ReturnType<typeof versus>>

function told({ saturated, added }: Versus): string {
  const of = (values: number[]): string => figure(median(values))
  const { proxy, ours } = sides(saturated.map(({ perSecond }) => perSecond))
  const total = sides(added.map(({ total }) => total))
  const first = sides(added.map(({ first }) => first))
  return (
    `proxy ${of(proxy)}/s, ours ${of(ours)}/s, added ${of(total.ours)} ms, to the first byte ${of(first.ours)} ms ` +
    `(proxy ${of(total.proxy)}, ${of(first.proxy)})`
  )
}

/** Figures that explain those with an aim. */
function explained(what: 'calls' | 'streams', { saturated, added }: Versus): Measurement[] {
  const perSecond = sides(saturated.map(({ perSecond }) => perSecond))
  const cpuMs = sides(saturated.map(({ cpuMs }) => cpuMs))
  const waits = added.map(({ total, first }) => (what === 'calls' ? total : first))
  const byProxy =
    what === 'calls' ? 'added to a call by the proxy' : 'added to the first byte of a stream by the proxy'
  return [
    medianOf(`${what} per second at saturation`, '/s', perSecond.ours),
    medianOf('the same of the proxy', '/s', perSecond.proxy),
    medianOf(`processor time of one of the ${what}`, 'ms', cpuMs.ours),
    medianOf('the same of the proxy', 'ms', cpuMs.proxy),
    medianOf(
      `${byProxy}, at the same rate`,
      'ms',
      waits.map(({ proxy }) => proxy),
    ),
    medianOf(
      `${byProxy}, at half of its own saturation`,
      'ms',
      waits.map(({ proxyAtItsHalf }) => proxyAtItsHalf),
    ),
  ]
}

function sides(rounds: { proxy: number; ours: number }[]): { proxy: number[]; ours: number[] } {
  return { proxy: rounds.map(({ proxy }) => proxy), ours: rounds.map(({ ours }) => ours) }
}

async function memoryOfStreams(): Promise<{ measurements: Measurement[]; notes: string[] }> {
  const files = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }))
  if (process.platform !== 'linux')
    return { measurements: [], notes: ['memory is read from /proc, which only Linux has'] }
  if (files < 2 * streams + 200)
    return {
      measurements: [],
      notes: [`ulimit -n is ${files}; ${streams} streams need twice as many and some`],
    }
  const { idleMiB, mostMiB } = await manyStreams(streams)
  return {
    measurements: [
      {
        what: `resident memory of the gateway with ${streams} streams open, most`,
        unit: 'MiB',
        value: mostMiB,
        aim: { below: 300 },
      },
      { what: 'resident memory of the gateway, idle', unit: 'MiB', value: idleMiB },
    ],
    notes: [],
  }
}
