import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runRows, type TokenRow } from '../../packages/quintain/src/rows/index.ts'
import { writeCheckpoint } from '../../packages/quintain/src/train/checkpoint.ts'
import { createEmbedded } from '../../packages/quintain/src/train/embedded/index.ts'
import { chatRenderer, openPolicy } from '../../packages/quintain/src/train/index.ts'
import type { Tally } from '../tally.ts'
import { startServer } from './server.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const quintain = join(root, 'packages/quintain/bin/quintain.js')

/**
 * `quintain eval --server vllm` asks the server, and its records are held against the weights: every token that is recorded
 * as sampled has the log-probability that a pass over the recorded row gives it.
 */
export async function recordChecks(room: string, tally: Tally): Promise<void> {
  const vocabulary = join(root, 'environments/wordle/training/code-vocabulary.json')
  const renderer = chatRenderer(JSON.parse(readFileSync(vocabulary, 'utf8')))
  const shape = {
    layers: 2,
    width: 64,
    heads: 4,
    feedForward: 256,
    vocabulary: renderer.vocabulary,
    context: 96,
  }
  const learner = await createEmbedded({ shape, seed: 'records' })
  const checkpoint = join(room, 'wordle')
  await writeCheckpoint(checkpoint, { learner, renderer })
  await learner.close()
  const server = await startServer(checkpoint)
  const dir = join(room, 'run')
  const argv = [
    'eval',
    'environments/wordle',
    '--option',
    'game=code',
    '--split',
    'test',
    '-n',
    '20',
    '-r',
    '4',
  ]
  const model = ['-m', 'policy', '--base-url', server.url, '--server', 'vllm', '--temperature', '1']
  const rest = ['--max-tokens', '8', '--api-key-env', 'KEY', '--no-floor', '--out', dir, '--quiet']
  try {
    await run(process.execPath, [quintain, ...argv, ...model, ...rest], {
      cwd: root,
      env: { ...process.env, KEY: server.key },
    })
  } finally {
    await server.stop()
  }
  const rows: TokenRow[] = []
  const { breaks, refused, attempts } = await runRows(dir, {
    onRow: (row) => {
      if ('ids' in row) rows.push(row)
    },
  })
  tally.check(
    'every attempt of eval gives rows',
    { attempts, breaks, refused },
    {
      attempts: { withRows: 80, withoutRows: 0, leftOut: {} },
      breaks: {},
      refused: {},
    },
  )
  const policy = await openPolicy(checkpoint)
  const sampler = await policy.learner.sampler()
  const scored = await sampler.score(
    rows.map(({ ids }) => ({ input: ids.subarray(0, -1), target: ids.subarray(1) })),
  )
  let furthest = 0
  let sampled = 0
  for (const [at, { mask, logprobs }] of rows.entries()) {
    for (let token = 1; token < mask.length; token++) {
      if (mask[token] !== 1) continue
      sampled++
      furthest = Math.max(furthest, Math.abs(logprobs[token]! - scored[at]![token - 1]!))
    }
  }
  const versions = new Set(rows.flatMap(({ spans }) => spans.flatMap(({ version }) => version ?? [])))
  await policy.close()
  tally.check(
    'what is recorded has the log-probabilities that the weights give it',
    { many: sampled > 1_000, furthest: furthest < 1e-5 },
    { many: true, furthest: true },
  )
  tally.check('and the version of the weights', [...versions], ['0'])
}
