import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../core/index.ts'
import { finding } from './__fixtures__/planted.ts'
import { asksAgain, bonuses, explained, pages } from './__fixtures__/unlisted.ts'
import { probe } from './probe.ts'

const made: string[] = []
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

/** A third of the usual training. */
const steps = 8

async function probed(env: Environment, options: { steps: number; seed?: string }) {
  const room = await mkdtemp(join(tmpdir(), 'quintain-probe-'))
  made.push(room)
  return probe({ env, dir: join(room, 'probe'), threads: 1, ...options })
}

describe('a shortcut that no script takes', () => {
  const planted: [string, () => Environment][] = [
    ['form that is counted', () => explained(bonuses.citations)],
    ['a rare token', () => explained(bonuses.tildes)],
    ['rich language', () => explained(bonuses.words)],
    ['another answer in the second turn', () => asksAgain(true)],
    ['a call made twice', () => pages(true)],
  ]
  test.each(planted)('is found by training, and by that alone: %s', async (_name, env) => {
    expect(await probed(env(), { steps: 0 })).toMatchObject({ verdict: 'clean', evidence: [] })
    const found = await probed(env(), { steps })
    expect(found.verdict).toBe('suspicious')
    expect(found.evidence[0]).toMatchObject({
      kind: 'paid_without_success',
      family: expect.stringMatching(/^(mixed|learned)$/),
    })
  })

  test('makes the reward rise while success stays away', async () => {
    const { evidence } = await probed(explained(bonuses.tildes), { steps, seed: '1' })
    const rise = evidence.find(({ kind }) => kind === 'reward_rises_alone')
    expect(rise).toMatchObject({ beside: 'success', success: [0, 0] })
    expect(rise?.kind === 'reward_rises_alone' && rise.pay[1] - rise.pay[0]).toBeGreaterThan(0.2)
  })
})

describe('the clean twin', () => {
  const clean: [string, () => Environment][] = [
    ['one reply', () => explained()],
    ['calls', () => pages(false)],
    // What chance may win rises in training, and success goes with it.
    ['a game of few words', () => finding()],
  ]
  test.each(clean)('has nothing that training finds: %s', async (_name, env) => {
    const found = await probed(env(), { steps })
    expect(found).toMatchObject({ verdict: 'clean', evidence: [], training: { steps } })
  })
})
