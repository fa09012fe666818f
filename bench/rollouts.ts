import { join } from 'node:path'
import { forkFakeModel } from '../packages/quintain/src/models/fake-server.ts'
import { bareClient } from './bare-client.ts'
import { inFreshProcess, moduleBeside } from './fresh-process.ts'
import { type Bench, figure, medianOf } from './measurement.ts'
import { inTemporaryFolder } from './run-files.ts'
import { play } from './single-turn/play.ts'
import { replyText } from './single-turn/text.ts'

const rollouts = 10_000
const inFlight = 1_000
const latencyMs = 20
const promptChars = 1_550
const replyChars = 1_550
const repetitions = 3

const bareModule = moduleBeside('./bare-client', import.meta.url)
const playModule = moduleBeside('./single-turn/play', import.meta.url)

export const bench: Bench = {
  title: 'Rollouts beside a bare HTTP client',
  about:
    `${rollouts} single-turn rollouts, ${inFlight} in flight, fake model with ${latencyMs} ms in a process of its own; ` +
    'default isolation, journal on. The bare client is one process that builds, sends and parses the same requests. ' +
    'Each run in fresh processes; bare and engine alternate; the ratio is that of neighbours.',
  async run(progress) {
    const bare: number[] = []
    const http: number[] = []
    const fetched: number[] = []
    const ours: number[] = []
    const whole: number[] = []
    const ratios: number[] = []
    const wholeRatios: number[] = []
    const bareCpu: number[] = []
    const mainCpu: number[] = []
    const workersCpu: number[] = []
    let sizes = ''
    const fake = await forkFakeModel({ latencyMs, text: replyText(replyChars) })
    try {
      for (let run = 0; run < repetitions; run++) {
        const common = { url: fake.url, requests: rollouts, inFlight, promptChars }
        const perSecond = (ms: number): number => (rollouts * 1000) / ms
        const undici = await inFreshProcess(bareModule, bareClient, [{ ...common, client: 'undici' }])
        bare.push(perSecond(undici.ms))
        const played = await inTemporaryFolder((folder) =>
          inFreshProcess(playModule, play, [
            { url: fake.url, dir: join(folder, 'run'), rollouts, inFlight, promptChars },
          ]),
        )
        ours.push(perSecond(played.rolloutsMs))
        whole.push(perSecond(played.wholeMs))
        ratios.push(undici.ms / played.rolloutsMs)
        wholeRatios.push(undici.ms / played.wholeMs)
        http.push(
          perSecond((await inFreshProcess(bareModule, bareClient, [{ ...common, client: 'http' }])).ms),
        )
        fetched.push(
          perSecond((await inFreshProcess(bareModule, bareClient, [{ ...common, client: 'fetch' }])).ms),
        )
        bareCpu.push(undici.cpuMs)
        mainCpu.push(played.mainCpuMs)
        workersCpu.push(played.workersCpuMs)
        sizes =
          `a rollout's records take ${figure(played.recordBytes)} bytes, its trajectory ${figure(played.trajectoryBytes)}; ` +
          `most model calls open at once: ${played.mostOpen}`
        progress(`run ${run + 1}: bare ${figure(bare[run]!)}/s, engine ${figure(ours[run]!)}/s`)
      }
    } finally {
      await fake.close()
    }
    return {
      measurements: [
        medianOf('rollouts per second over requests per second of undici', '', ratios, { atLeast: 0.5 }),
        medianOf(
          'the same over requests per second of node:http',
          '',
          ours.map((rate, run) => rate / http[run]!),
          { atLeast: 0.5 },
        ),
        medianOf(
          'the same over requests per second of the global fetch()',
          '',
          ours.map((rate, run) => rate / fetched[run]!),
        ),
        medianOf('the same, with start-up, planning and report counted', '', wholeRatios),
        medianOf('rollouts', '/s', ours),
        medianOf('rollouts, with start-up, planning and report counted', '/s', whole),
        medianOf('bare undici request()', '/s', bare),
        medianOf('bare node:http', '/s', http),
        medianOf('bare global fetch()', '/s', fetched),
        medianOf('processor time of a bare request', 'ms', bareCpu),
        medianOf('processor time of a rollout, main process', 'ms', mainCpu),
        medianOf('processor time of a rollout, workers together', 'ms', workersCpu),
      ],
      notes: [sizes],
    }
  },
}
