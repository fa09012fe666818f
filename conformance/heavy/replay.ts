// Plays the requests of TRL's trainer, as kept in `transcripts`, to servers of today: same statuses, same shapes, same
// rewards and ends, and for each rollout the reward that the trainer counted. Without Python and without the network.
// `node conformance/heavy/replay.ts`
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orsDoor } from '../../packages/quintain/src/doors/ors/door.ts'
import { openSessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { Tally } from '../tally.ts'
import { type Exchange, Handles } from './exchange.ts'
import { played } from './played.ts'
import { resultOf, settledOf } from './settled.ts'
import { shapeOf } from './shape.ts'
import { readTranscript, type Scene } from './transcript.ts'

const transcripts = join(import.meta.dirname, 'transcripts')
const tally = new Tally('heavy replay')

/** Sends what was recorded, one request after the other, with the ids of this server. */
async function askAgain(url: string, recorded: readonly Exchange[]): Promise<Exchange[]> {
  const handles = new Handles()
  const told: Exchange[] = []
  for (const { method, path, session, body } of recorded) {
    const live = session === undefined ? undefined : (handles.meant(session) as string)
    const text = body === undefined ? '' : JSON.stringify(handles.meant(body))
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        ...(text === '' ? {} : { 'content-type': 'application/json' }),
        ...(live === undefined ? {} : { 'x-session-id': live }),
      },
      ...(text === '' ? {} : { body: text }),
    })
    const type = response.headers.get('content-type') ?? ''
    const raw = { method, path, session: live, body: text, status: response.status, type }
    told.push(handles.stable({ ...raw, reply: await response.text() }))
  }
  return told
}

/** What of a reply a client depends on: words may be put better. */
function bone(exchange: Exchange): unknown {
  const { method, path, session, status, reply } = exchange
  const events = reply.form === 'events' ? reply.events.map(({ event }) => event) : []
  const result = resultOf(exchange)
  const end = result && [result.reward, result.finished, result.metadata?.error]
  return [method, path, session, status, events, shapeOf(reply), end]
}

async function replay({ environment, exchanges, rollouts }: Scene, dir: string): Promise<void> {
  const core = await openSessionCore({ env: played[environment]!, dir, workers: 1 })
  const door = await orsDoor.open([core], { host: '127.0.0.1', port: 0, log: console.log })
  try {
    const told = await askAgain(door.addresses[0]!.url, exchanges)
    for (const [at, exchange] of exchanges.entries())
      tally.check(`${environment} ${at} ${exchange.method} ${exchange.path}`, bone(told[at]!), bone(exchange))
    const settled = settledOf(told)
    tally.check(
      `${environment}: the rewards that the trainer counted`,
      rollouts.map(({ session }) => {
        const reward = settled.get(session)?.reward ?? null
        return [
          session,
          reward === null ? null : Math.fround(reward),
          settled.get(session)?.finished ?? false,
        ]
      }),
      rollouts.map(({ session, reward, finished }) => [session, reward, finished]),
    )
    tally.check(`${environment}: no session is left`, core.stats().open, 0)
  } finally {
    await door.close()
    await core.close()
  }
}

const files = readdirSync(transcripts).filter((name) => name.endsWith('.jsonl'))
const runs = mkdtempSync(join(tmpdir(), 'quintain-heavy-replay-'))
try {
  for (const file of files) {
    const { date, versions, scenes } = readTranscript(join(transcripts, file))
    console.log(`heavy replay: ${file} of ${date}, with ${JSON.stringify(versions)}`)
    for (const scene of scenes) await replay(scene, join(runs, `${file}-${scene.environment}`))
  }
} finally {
  rmSync(runs, { recursive: true, force: true })
}
tally.check('there is a transcript to play', files.length > 0, true)
console.log(`${tally.passed} passed, ${tally.failed} failed, 0 skipped`)
process.exit(tally.failed === 0 ? 0 : 1)
