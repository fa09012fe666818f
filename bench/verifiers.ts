import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runPeer, setUpPeer } from '../conformance/verifiers/peer.ts'
import { forkFakeModel } from '../packages/quintain/src/models/fake-server.ts'
import { inFreshProcess, moduleBeside } from './fresh-process.ts'
import { type Bench, figure, medianOf } from './measurement.ts'
import { inTemporaryFolder } from './run-files.ts'
import { play } from './single-turn/play.ts'
import { promptText, replyText } from './single-turn/text.ts'

const rollouts = 10_000
/** The peer slows down as its results grow, so that fewer is in its favour; all of ours would take it minutes. */
const peerRollouts = 1_000
const inFlight = 1_000
const latencyMs = 20
const promptChars = 1_550
const replyChars = 1_550
const repetitions = 3

const playModule = moduleBeside('./single-turn/play', import.meta.url)

export const bench: Bench = {
  title: 'Rollouts beside verifiers 0.2.0',
  about:
    `Single-turn rollouts, ${inFlight} in flight, the same fake model (${latencyMs} ms, a process of its own), prompts and ` +
    `replies. Peer: SingleTurnEnv.generate() in one process, independent scoring, nothing saved, ${peerRollouts} rollouts; ` +
    `only the call is timed. Quintain: ${rollouts} rollouts, default isolation, journal on, timed from the first order started ` +
    'to the last record on disk. Both have the same two cores; they take turns.',
  async run(progress) {
    const peer = await setUpPeer(progress)
    if ('unavailable' in peer) return { measurements: [], skipped: peer.unavailable }
    const theirs: number[] = []
    const ours: number[] = []
    const whole: number[] = []
    const narrow: number[] = []
    const fake = await forkFakeModel({ latencyMs, text: replyText(replyChars) })
    try {
      await inTemporaryFolder(async (folder) => {
        const prompts = join(folder, 'prompts.jsonl')
        const lines = Array.from({ length: peerRollouts }, (_, i) =>
          JSON.stringify(promptText(i, promptChars)),
        )
        await writeFile(prompts, `${lines.join('\n')}\n`)
        const common = { url: fake.url, rollouts: peerRollouts, prompts }
        for (let run = 0; run < repetitions; run++) {
          const found = await runPeer(peer, { ...common, inFlight })
          theirs.push(found.rollouts / found.seconds)
          const played = await inFreshProcess(playModule, play, [
            { url: fake.url, dir: join(folder, `run-${run}`), rollouts, inFlight, promptChars },
          ])
          ours.push((rollouts * 1000) / played.rolloutsMs)
          whole.push((rollouts * 1000) / played.wholeMs)
          progress(`run ${run + 1}: verifiers ${figure(theirs[run]!)}/s, Quintain ${figure(ours[run]!)}/s`)
        }
        // A peer is to be seen at its best too, not only under our conditions.
        const found = await runPeer(peer, { ...common, inFlight: 64 })
        narrow.push(found.rollouts / found.seconds)
      })
    } finally {
      await fake.close()
    }
    return {
      measurements: [
        medianOf(
          'rollouts per second over those of verifiers',
          '',
          ours.map((rate, i) => rate / theirs[i]!),
          { atLeast: 10 },
        ),
        medianOf(
          'the same, with our start-up, planning and report counted',
          '',
          whole.map((rate, i) => rate / theirs[i]!),
        ),
        medianOf('Quintain', '/s', ours),
        medianOf('verifiers', '/s', theirs),
        medianOf('verifiers with 64 in flight', '/s', narrow),
      ],
      notes: [`verifiers ${peer.version}, Python ${peer.python}.`],
    }
  },
}
