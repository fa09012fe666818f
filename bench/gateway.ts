import { execFileSync } from 'node:child_process'
import { longHistory } from './gateway/history.ts'
import { manyStreams } from './gateway/streams.ts'
import { type Round, versus } from './gateway/versus.ts'
import { type Bench, figure, type Measurement, medianOf } from './measurement.ts'

const repetitions = 3
const promptChars = 4_000
const streams = 2_000
const turns = 50
const historyBytes = 1_000_000

export const bench: Bench = {
  title: 'The gateway beside a plain reverse proxy',
  about:
    `A model server that answers at once (1,000 characters, or with a stream of 20 pieces, the first at once and the others 5 ms apart), before it our gateway (2,000 attempts, every call recorded), or the reverse proxy that one writes with node:http and undici; each in a process of its own, the load in this one, all on two cores. Prompts have ${promptChars} characters. Saturation: 64 calls or 384 streams at a time. Half of it: arrivals at random, the model server's own time taken off. ` +
    `Then ${streams} streams at once, a piece a second each; and a conversation of ${turns} turns and 1 MB.`,
  async run(progress) {
    const whole: Round[] = []
    const streamed: Round[] = []
    for (let run = 0; run < repetitions; run++) {
      for (const [rounds, stream] of [
        [whole, false],
        [streamed, true],
      ] as const) {
        const round = await versus({ stream, promptChars })
        rounds.push(round)
        progress(
          `run ${run + 1}, ${stream ? 'streams' : 'whole replies'}: proxy ${figure(round.saturation.proxy)}/s, ours ${figure(round.saturation.ours)}/s, ` +
            `added ${figure(round.addedTotal.ours)} ms, to the first byte ${figure(round.addedFirst.ours)} ms (proxy ${figure(round.addedTotal.proxy)}, ${figure(round.addedFirst.proxy)})`,
        )
      }
    }
    const history = await longHistory(turns, historyBytes)
    const memory = await memoryOfStreams()
    return {
      measurements: [
        medianOf(
          'added to a call at half of saturation, median',
          'ms',
          whole.map(({ addedTotal }) => addedTotal.ours),
          { below: 1 },
        ),
        medianOf(
          'added to the first byte of a stream at half of saturation, median',
          'ms',
          streamed.map(({ addedFirst }) => addedFirst.ours),
          { below: 0.5 },
        ),
        medianOf('calls per second at saturation over those of the proxy', '', whole.map(ratio), {
          atLeast: 0.5,
        }),
        medianOf('streams per second at saturation over those of the proxy', '', streamed.map(ratio), {
          atLeast: 0.5,
        }),
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
        medianOf(
          'calls per second at saturation',
          '/s',
          whole.map(({ saturation }) => saturation.ours),
        ),
        medianOf(
          'the same of the proxy',
          '/s',
          whole.map(({ saturation }) => saturation.proxy),
        ),
        medianOf(
          'streams per second at saturation',
          '/s',
          streamed.map(({ saturation }) => saturation.ours),
        ),
        medianOf(
          'the same of the proxy',
          '/s',
          streamed.map(({ saturation }) => saturation.proxy),
        ),
        medianOf(
          'processor time of a call',
          'ms',
          whole.map(({ cpuMs }) => cpuMs.ours),
        ),
        medianOf(
          'the same of the proxy',
          'ms',
          whole.map(({ cpuMs }) => cpuMs.proxy),
        ),
        medianOf(
          'processor time of a stream',
          'ms',
          streamed.map(({ cpuMs }) => cpuMs.ours),
        ),
        medianOf(
          'the same of the proxy',
          'ms',
          streamed.map(({ cpuMs }) => cpuMs.proxy),
        ),
        medianOf(
          'added to a call by the proxy, at the same rate',
          'ms',
          whole.map(({ addedTotal }) => addedTotal.proxy),
        ),
        medianOf(
          'added to the first byte of a stream by the proxy',
          'ms',
          streamed.map(({ addedFirst }) => addedFirst.proxy),
        ),
      ],
      notes: [
        `the program of the long conversation sent ${figure(history.sentBytes / 1e6)} MB in all.`,
        ...memory.notes,
      ],
    }
  },
}

function ratio({ saturation }: Round): number {
  return saturation.ours / saturation.proxy
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
