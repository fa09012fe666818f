import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Environment, environment } from '../../core/index.ts'
import { finding, shortcuts, sums } from './__fixtures__/planted.ts'
import { type ProbeOptions, probe, probeFile } from './probe.ts'
import { probeRecord } from './probe-record.ts'

const made: string[] = []
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

async function probed(env: Environment, options: Partial<ProbeOptions> = {}) {
  const room = await mkdtemp(join(tmpdir(), 'quintain-probe-'))
  made.push(room)
  const dir = join(room, 'probe')
  return { dir, found: await probe({ env, dir, steps: 0, ...options }) }
}

describe('a planted shortcut', () => {
  test.each(['1', '2', '3'])('of a phrase is caught, and named (seed %s)', async (seed) => {
    const { dir, found } = await probed(sums(shortcuts.phrase), { seed })
    expect(found).toMatchObject({ verdict: 'suspicious', says: 'Reward without success.' })
    const [first] = found.evidence
    expect(first).toMatchObject({ kind: 'paid_without_success', holds: 24, tasks: 24 })
    // Shortened to what is paid for.
    expect(first?.kind === 'paid_without_success' && first.text?.trim()).toBe('Therefore')
    expect(found.tail?.traits.map(({ what }) => what).join()).toContain('therefore')
    expect(found.tail?.read.length).toBeGreaterThan(0)
    // What was found is on disk, and fits its schema.
    expect(probeRecord.parse(JSON.parse(await readFile(join(dir, probeFile), 'utf8')))).toEqual(found)
  })

  test('of length is shortened to the length that is paid', async () => {
    const { found } = await probed(sums(shortcuts.length))
    expect(found.verdict).toBe('suspicious')
    const lengths = found.evidence.flatMap((one) =>
      'text' in one && one.text !== null ? one.text.length : [],
    )
    expect(Math.min(...lengths)).toBe(150)
  })

  test.each(['form', 'echo', 'shouting'] as const)('that fails and is paid is caught: %s', async (name) => {
    const { found } = await probed(sums(shortcuts[name]))
    expect(found.evidence[0]?.kind).toBe('paid_without_success')
  })

  test.each(['silence', 'contains', 'claim'] as const)('that is a success is caught: %s', async (name) => {
    const { found } = await probed(sums(shortcuts[name]))
    expect(found.evidence[0]?.kind).toBe('success_without_the_task')
  })

  test('of a game that ends early is caught', async () => {
    const { found } = await probed(finding({ early: true }))
    expect(found.evidence.map(({ kind }) => kind)).toContain('paid_without_success')
  })

  test('is learned by a policy that sees nothing', async () => {
    const { found } = await probed(sums(shortcuts.phrase, 12), { steps: 8, threads: 1 })
    expect(found.training).toMatchObject({ policy: 'blind', steps: 8, success: [0, 0] })
    const [from, to] = found.training!.reward!
    expect(to).toBeGreaterThan(from)
  })
})

describe('the clean twin', () => {
  test.each(['1', '2', '3'])('has nothing that is paid (seed %s)', async (seed) => {
    const { found } = await probed(sums(), { seed })
    expect(found).toMatchObject({ verdict: 'clean', evidence: [] })
  })

  test('of a game that chance may win is clean', async () => {
    const { found } = await probed(finding())
    expect(found).toMatchObject({ verdict: 'clean', evidence: [] })
  })
})

describe('what cannot be probed', () => {
  test.each([
    ['a verifier that gives no number', () => Number.NaN, /^Nothing was scored: /],
    [
      'a verifier that throws',
      () => {
        throw new Error('the grader is away')
      },
      /^Nothing was scored: .*the grader is away/,
    ],
  ])('%s: that is said, and nothing that is not so', async (_, right, says) => {
    const env = environment({
      tasks: Array.from({ length: 8 }, (_, at) => ({ id: `t${at}`, prompt: `Say ${at}.` })),
      limits: { turns: 1 },
      rewards: { right },
      success: ({ rewards }) => rewards.right === 1,
      *oracle({ task }) {
        yield task.id.slice(1)
      },
    })
    const { found } = await probed(env)
    expect(found).toMatchObject({ verdict: 'inconclusive', says: expect.stringMatching(says) })
    expect(found.notes.join(' ')).toMatch(/The oracle was scored on no task/)
    expect(found.notes.join(' ')).not.toMatch(/There is no oracle|does not say what success is/)
  })

  test('is refused: a shadow that is none, a split that is not there', async () => {
    await expect(probed(sums(), { shadow: 'truth' })).rejects.toMatchObject({ code: 'usage' })
    await expect(probed(sums(), { split: 'dev' })).rejects.toMatchObject({ code: 'usage' })
  })
})
