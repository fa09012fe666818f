import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EpisodeParity } from '../doors/episodes/index.ts'
import { exitCodes } from './exit-codes.ts'
import { runCli } from './run-cli.ts'

const wordle = fileURLToPath(new URL('../../../../environments/wordle', import.meta.url))
let cwd: string

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'quintain-door-parity-'))
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

async function cli(...argv: string[]) {
  const out: string[] = []
  const err: string[] = []
  const sink = (to: string[]) => ({ write: (text: string) => to.push(text) })
  const code = await runCli(argv, { stdout: sink(out), stderr: sink(err), env: process.env, cwd })
  return { code, out: out.join(''), err: err.join('') }
}

describe('quintain parity of an environment', () => {
  test('plays episodes again through the doors that are named, and those of a run', async () => {
    const made = await cli('eval', wordle, '--policy', 'script:noop', '-n', '2', '--out', 'run', '--quiet')
    expect(made.code).toBe(exitCodes.done)
    const { code, out } = await cli('parity', wordle, '--run', 'run', '--door', 'native', '--json')
    const { rows } = JSON.parse(out) as EpisodeParity
    expect(code).toBe(exitCodes.done)
    expect(rows).toMatchObject([
      {
        environment: '@quintain/wordle',
        player: 'script:noop',
        episodes: 2,
        cells: [
          { way: 'session', equal: 2 },
          { way: 'native', equal: 2 },
        ],
      },
    ])
    const fresh = await cli('parity', wordle, '--policy', 'script:noop', '-n', '1', '--door', 'ors')
    expect(fresh.out).toMatch(/script:noop +(= 1\/1) +lost: no score when ended early/)
    expect(fresh.out).toContain('An episode that the client ends before it is over has no score')
  }, 120_000)

  test.each([
    ['a door that there is not', ['--door', 'front']],
    ['a run with what it says itself', ['--run', '.', '--seed', '7']],
    ['saved outputs beside doors', ['rows.jsonl', '--door', 'ors']],
  ])('refuses %s', async (_, more) => {
    const { code, err } = await cli('parity', wordle, ...more)
    expect(code).toBe(exitCodes.usage)
    expect(err).toMatch(/^error usage: /)
  })
})
