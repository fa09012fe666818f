// Fireworks' remote rollouts with the kit that speaks them: `remote(url)` plays a server that is built on npm
// `eval-protocol`, tools of the world and all, with scripts in the place of a model. `node conformance/fireworks/peer.ts`
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { remote } from '../../packages/quintain/src/harness/index.ts'
import { environment, evaluate, tool } from '../../packages/quintain/src/index.ts'
import { installPeers } from '../npm/install-peers.ts'

/** Adds with a tool; the oracle does so in two calls of its model. */
const sums = environment({
  system: 'Add with the tool.',
  tasks: [1, 2, 3].map((n) => ({ id: `sum-${n}`, prompt: `${n} + ${n} = ?`, secret: { sum: 2 * n, n } })),
  needs: ['tools'],
  limits: { turns: 4 },
  world: () => {
    const added: number[] = []
    return {
      tools: () => [
        tool({
          name: 'add',
          description: 'Adds two numbers.',
          input: z.object({ a: z.number(), b: z.number() }),
          run: ({ a, b }) => {
            added.push(a + b)
            return String(a + b)
          },
        }),
      ],
      finish: () => ({ added }),
    }
  },
  rewards: {
    right: ({ task, transcript }) => Number(transcript.answer === String(task.secret.sum)),
    used: ({ task, state }) => Number(isDeepStrictEqual(state.added, [task.secret.sum])),
  },
  success: ({ rewards }) => rewards.right === 1 && rewards.used === 1,
  *oracle({ task }) {
    yield { tool: 'add', arguments: { a: task.secret.n, b: task.secret.n } }
    yield String(task.secret.sum)
  },
})

// The kit for servers of remote rollouts, and the client that its servers ask models with.
const installed = installPeers({
  name: 'fireworks-peers',
  versions: { 'eval-protocol': '0.1.13', '@vercel/functions': '1.6.0', openai: '4.104.0' },
  // The kit has hosts and a compiler among its peers; what it needs of them is above.
  options: ['--legacy-peer-deps'],
})
if (installed.folder === undefined) {
  process.stdout.write(`fireworks: skipped: ${installed.missing}\n0 passed, 0 failed, 1 skipped\n`)
  process.exit(0)
}
const file = join(installed.folder, 'agent-server.mjs')
copyFileSync(join(import.meta.dirname, 'agent-server.mjs'), file)
const server = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'], env: {} })
const runs = mkdtempSync(join(tmpdir(), 'quintain-fireworks-'))
let passed = 0
let failed = 0

function check(name: string, actual: unknown, expected: unknown): void {
  const same = isDeepStrictEqual(actual, expected)
  if (same) passed++
  else failed++
  process.stdout.write(
    `fireworks: ${name} ${same ? 'pass' : `fail: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`}\n`,
  )
}

try {
  const ended = once(server, 'exit').then(() => {
    throw new Error('the server ended before it said its port')
  })
  ended.catch(() => {})
  const [port] = (await Promise.race([once(server.stdout, 'data'), ended])) as [Buffer]
  const agent = remote(`http://127.0.0.1:${Number(port)}`)
  const play = (policy: string, name: string) =>
    evaluate(sums, { agent, policy, repeats: 4, dir: join(runs, name) })

  const solved = await play('script:oracle', 'solved')
  check('every rollout of the oracle succeeds', solved.success.value, 1)
  check('each took two model calls', solved.summary.turns.mean, 2)
  check('each called the tool once', solved.summary.toolCalls, 12)

  const limited = await evaluate(sums, {
    agent,
    policy: 'script:oracle',
    limits: { turns: 1 },
    dir: join(runs, 'limited'),
  })
  check('a limit reaches the server as a refusal', limited.summary.outcomes, { turn_limit: 3 })
} finally {
  server.kill()
  rmSync(runs, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`)
process.exit(failed === 0 ? 0 : 1)
