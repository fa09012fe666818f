import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  entry,
  laterVerdict,
  manifest,
  order,
  request,
  summary,
  temporaryFolder,
  writeRun,
} from './__fixtures__/run.ts'
import { Journal, linePart } from './journal.ts'
import { jsonLine } from './jsonl.ts'
import { type AttemptRecord, type Outcome, outcomes, type VerdictSummary } from './records.ts'
import {
  chooseAttempt,
  type Folded,
  foldRun,
  listRuns,
  planOf,
  readTrajectory,
  runFiles,
} from './run-folder.ts'

/** The line of `attempts.jsonl` for an entry whose parts are nowhere checked. */
function line(seq: number, id: string, change: Partial<AttemptRecord>): string {
  const none = [0, 0, 0] as [number, number, number]
  return jsonLine({ ...entry(seq, { id }).attempt, ...change, parts: { trajectory: none } })
}

/** A run of so many orders with these attempt lines and nothing else. */
async function runOf(orders: number, lines: string): Promise<string> {
  const dir = temporaryFolder()
  const journal = await Journal.create(dir, manifest())
  await journal.appendOrders([request, ...Array.from({ length: orders }, (_, seq) => order(seq))])
  await journal.close()
  writeFileSync(join(dir, runFiles.attempts), lines)
  return dir
}

const fault = { owner: 'provider', stage: 'model', code: 'http_500', message: 'm', retryable: true } as const

/** All kinds of attempts that the engine can write. */
const folded: fc.Arbitrary<Folded> = fc.oneof(
  fc.record({
    verdict: fc.constantFrom<VerdictSummary>(summary(1), summary(0), summary(null), summary(null, true)),
    fault: fc.constant(null),
    outcome: fc.constantFrom<Outcome>(...outcomes.filter((outcome) => outcome !== 'cancelled')),
  }),
  fc.record({
    verdict: fc.constant(null),
    fault: fc.constant(fault),
    outcome: fc.constantFrom<Outcome | null>(null, 'completed'),
  }),
  fc.constant({ verdict: null, fault: null, outcome: 'cancelled' } as const),
)

const kindOf = ({ verdict, fault: broken, outcome }: Folded): string => {
  if (outcome === 'cancelled') return 'cancelled'
  if (broken !== null) return 'fault'
  return verdict?.reward === null ? 'no reward' : 'reward'
}

describe('the attempt that counts', () => {
  test('a reward beats a verdict without one, that a fault, that a cancelled try; the latest of equals', () => {
    const ranks = ['reward', 'no reward', 'fault', 'cancelled']
    fc.assert(
      fc.property(fc.array(folded, { minLength: 1, maxLength: 8 }), (attempts) => {
        const chosen = chooseAttempt(attempts)!
        const best = Math.min(...attempts.map((attempt) => ranks.indexOf(kindOf(attempt))))
        expect(kindOf(chosen)).toBe(ranks[best])
        expect(attempts.lastIndexOf(chosen)).toBe(
          attempts.findLastIndex((one) => kindOf(one) === ranks[best]),
        )
      }),
    )
  })

  test('does not depend on the order among attempts of unequal kinds', () => {
    fc.assert(
      fc.property(fc.array(folded, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (attempts, random) => {
        const different = attempts.filter(
          (one, at) => attempts.findIndex((other) => kindOf(other) === kindOf(one)) === at,
        )
        const shuffled = different
          .map((attempt) => ({ attempt, by: random.next().value as number }))
          .sort((a, b) => a.by - b.by)
          .map(({ attempt }) => attempt)
        expect(chooseAttempt(shuffled)).toBe(chooseAttempt(different))
      }),
    )
  })

  test('of none is none', () => {
    expect(chooseAttempt([])).toBeUndefined()
  })
})

describe('the fold', () => {
  const orders = 4
  type Step =
    | { kind: 'attempt'; seq: number; id: string; final: boolean; value: Folded }
    | { kind: 'verdict'; seq: number; id: string; reward: number | null; broken: boolean }
    | { kind: 'void'; seq: number; id: string }
    | { kind: 'noise'; text: string }
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const place = fc.integer({ min: 0, max: orders })
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      arbitrary: fc.record({
        kind: fc.constant('attempt' as const),
        seq: place,
        id,
        final: fc.boolean(),
        value: folded,
      }),
      weight: 5,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant('verdict' as const),
        seq: place,
        id,
        reward: fc.constantFrom(0.5, null),
        broken: fc.boolean(),
      }),
      weight: 3,
    },
    { arbitrary: fc.record({ kind: fc.constant('void' as const), seq: place, id }), weight: 1 },
    {
      arbitrary: fc.record({
        kind: fc.constant('noise' as const),
        text: fc.constantFrom(
          '',
          '{}',
          '[1]',
          'null',
          '{"schema":"quintain.attempt","v":1,"seq":0}',
          '{"seq":1',
          '\0\0',
        ),
      }),
      weight: 1,
    },
  )
  const textOf = (one: Step): string => {
    switch (one.kind) {
      case 'attempt':
        return line(one.seq, one.id, { ...one.value, final: one.final })
      case 'verdict':
        return jsonLine({
          ...laterVerdict(one.seq, one.reward, one.id).line,
          ...(one.broken ? { verdict: null, fault } : {}),
        })
      case 'void':
        return jsonLine({
          schema: 'quintain.void',
          v: 1,
          attempt: one.id,
          order: order(one.seq).id,
          seq: one.seq,
          reason: 'r',
        })
      case 'noise':
        return `${one.text}\n`
    }
  }

  test('of any sequence of lines gives every order one status, and counts no attempt twice', async () => {
    const dir = await runOf(orders, '')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        writeFileSync(join(dir, runFiles.attempts), steps.map(textOf).join(''))
        const projected: string[] = []
        const { states } = await foldRun(dir, (attempt) => {
          projected.push(`${attempt.seq}/${attempt.id}`)
          return { ...attempt }
        })
        expect(states.map(({ order: one }) => one.seq)).toEqual([0, 1, 2, 3])
        const counts = { scored: 0, unscored: 0, faulted: 0, cancelled: 0, pending: 0 }
        for (const { status } of states) counts[status]++
        expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(orders)
        expect(Object.keys(counts)).toHaveLength(5)
        expect(new Set(projected).size).toBe(projected.length)
        expect(states.reduce((sum, { tries }) => sum + tries, 0)).toBe(projected.length)
        const voided = new Set(steps.flatMap((one) => (one.kind === 'void' ? [one.id] : [])))
        for (const { status, chosen, tries } of states) {
          expect(chosen === undefined).toBe(tries === 0)
          if (chosen !== undefined) expect(voided.has(chosen.id)).toBe(false)
          if (status === 'scored') expect(chosen?.verdict?.reward).toEqual(expect.any(Number))
          if (status === 'unscored') expect(chosen?.verdict?.reward).toBeNull()
          if (status === 'faulted') expect(chosen?.fault).not.toBeNull()
          if (status === 'cancelled') expect(chosen?.outcome).toBe('cancelled')
        }
      }),
      { numRuns: 150 },
    )
  })

  test.each<[string, Partial<AttemptRecord>[], string]>([
    ['nothing', [], 'pending'],
    ['a reward', [{}], 'scored'],
    ['a verdict without a reward', [{ verdict: summary(null) }], 'unscored'],
    ['a verdict whose group is to come', [{ verdict: summary(null, true) }], 'pending'],
    ['a fault that will be tried again', [{ verdict: null, fault, outcome: null, final: false }], 'pending'],
    ['a fault that will not', [{ verdict: null, fault, outcome: null }], 'faulted'],
    ['a cancelled try', [{ verdict: null, outcome: 'cancelled', final: false }], 'cancelled'],
    [
      'a fault, then a reward',
      [{ verdict: null, fault, outcome: null, final: false }, { verdict: summary(0) }],
      'scored',
    ],
    [
      'a reward, then a fault of a needless second try',
      [{ verdict: summary(1) }, { verdict: null, fault, outcome: null }],
      'scored',
    ],
    [
      'a last fault that is taken up and cancelled',
      [
        { verdict: null, fault, outcome: null },
        { verdict: null, outcome: 'cancelled', final: false },
      ],
      'pending',
    ],
  ])('an order with %s', async (_name, attempts, status) => {
    const dir = await runOf(1, attempts.map((change, at) => line(0, `a${at}`, change)).join(''))
    const { states, issues } = await foldRun(dir)
    expect(states[0]).toMatchObject({ status, tries: attempts.length })
    expect(issues).toEqual([])
  })

  test('an attempt of an order that was never ordered is told and counts nowhere', async () => {
    const dir = await runOf(2, line(5, 'stray', {}) + line(1, 'mismatch', { order: 'task-0#0' }))
    const { states, issues } = await foldRun(dir)
    expect(states.map(({ status }) => status)).toEqual(['pending', 'pending'])
    expect(issues.map(({ what }) => what)).toEqual(['orphan', 'orphan'])
  })

  test('a place far beyond the plan neither hangs nor fills the memory', async () => {
    const dir = await runOf(2, '')
    appendFileSync(join(dir, runFiles.orders), jsonLine({ ...order(0), seq: 2 ** 40 }))
    appendFileSync(join(dir, runFiles.attempts), line(2 ** 40, 'far', {}))
    const { states, issues } = await foldRun(dir)
    expect(states).toHaveLength(2)
    expect(issues.map(({ what }) => what)).toEqual(['bad_line', 'orphan'])
  })

  test('two orders in one place: the first counts, for whoever runs the plan too', async () => {
    const dir = await runOf(2, '')
    appendFileSync(join(dir, runFiles.orders), jsonLine({ ...order(7), seq: 1 }) + jsonLine(order(0)))
    const { states, issues } = await foldRun(dir)
    expect(states.map(({ order: one }) => one.id)).toEqual(['task-0#0', 'task-1#0'])
    expect(issues.map(({ what }) => what)).toEqual(['bad_line'])
    const planned: string[] = []
    for await (const record of planOf(dir)) if (record.schema === 'quintain.order') planned.push(record.id)
    expect(planned.slice(0, 2)).toEqual(['task-0#0', 'task-1#0'])
  })

  test('a hundred thousand attempts', async () => {
    const many = 100_000
    const dir = await runOf(0, '')
    let plan = ''
    let lines = ''
    for (let seq = 0; seq < many; seq++) {
      plan += jsonLine(order(seq))
      lines += line(seq, `a${seq}`, seq % 10 === 0 ? { verdict: null, fault, outcome: null } : {})
    }
    appendFileSync(join(dir, runFiles.orders), plan)
    writeFileSync(join(dir, runFiles.attempts), lines)
    const kept = (attempt: AttemptRecord): Folded => ({
      verdict: attempt.verdict,
      fault: attempt.fault,
      outcome: attempt.outcome,
    })
    const { journal, fold } = await Journal.open(dir, kept)
    await journal.close()
    expect(fold.issues).toEqual([])
    expect(fold.states.filter(({ status }) => status === 'scored')).toHaveLength(90_000)
    expect(fold.states.filter(({ status }) => status === 'faulted')).toHaveLength(10_000)
  })
})

describe('reading', () => {
  test('parts whose lengths make no sense are an error of ours and take no memory', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 1)
    const attempt = (await foldRun(dir)).states[0]!.chosen!
    for (const trajectory of [
      [0, 2 ** 50, 1],
      [2 ** 50, 3, 1],
      [0, 3, 1],
    ] as [number, number, number][]) {
      await expect(readTrajectory(dir, { ...attempt, parts: { trajectory } })).rejects.toMatchObject({
        code: 'run_corrupt',
      })
    }
    await expect(readTrajectory(join(dir, 'gone'), attempt)).rejects.toMatchObject({ code: 'run_corrupt' })
  })

  test('a file of a run that is a folder is an error of ours', async () => {
    const dir = temporaryFolder()
    mkdirSync(join(dir, runFiles.orders))
    await expect(foldRun(dir)).rejects.toMatchObject({ code: 'journal_io' })
  })

  test('a run as it is shared, without its private records, is read whole and not taken up', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 2)
    rmSync(join(dir, dirname(runFiles.private)), { recursive: true })
    const { states, issues } = await foldRun(dir)
    expect([states.map(({ status }) => status), issues]).toEqual([['scored', 'scored'], []])
    await expect(Journal.open(dir)).rejects.toMatchObject({ code: 'run_corrupt' })
    expect((await foldRun(dir)).states).toHaveLength(2)
  })

  test('a live run is read as far as it goes', async () => {
    const dir = temporaryFolder()
    const journal = await Journal.create(dir, manifest())
    await journal.appendOrders([order(0), order(1)])
    journal.appendAttempt(entry(0))
    await journal.flush()
    const path = join(dir, runFiles.attempts)
    appendFileSync(path, linePart(entry(1).attempt).bytes.subarray(0, 100))
    const { states, issues } = await foldRun(dir)
    expect(states.map(({ status }) => status)).toEqual(['scored', 'pending'])
    expect(issues.map(({ what }) => what)).toEqual(['torn_tail'])
    await journal.close()
  })

  test('the runs of a folder, newest first; what is wrong with one is told of it alone', async () => {
    const root = temporaryFolder()
    for (const [name, created] of [
      ['old', '2026-01-01T00:00:00.000Z'],
      ['new', '2026-02-01T00:00:00.000Z'],
    ] as const) {
      await (await Journal.create(join(root, name), { ...manifest(), created })).close()
    }
    cpSync(join(root, 'old'), join(root, 'broken'), { recursive: true })
    truncateSync(join(root, 'broken', runFiles.manifest), 20)
    truncateSync(join(root, 'broken', runFiles.orders), 20)
    cpSync(join(root, 'old'), join(root, 'future'), { recursive: true })
    writeFileSync(join(root, 'future', runFiles.manifest), JSON.stringify({ ...manifest(), v: 3 }))
    mkdirSync(join(root, 'no-run'))
    writeFileSync(join(root, 'file'), '')
    const runs = await listRuns(root)
    expect(
      runs.map(({ dir, manifest: found }) => [dir.slice(root.length + 1), found?.created.slice(0, 7)]),
    ).toEqual([
      ['new', '2026-02'],
      ['old', '2026-01'],
      ['broken', undefined],
      ['future', undefined],
    ])
    expect(runs[2]!.problem).toMatch(/cannot be read/)
    expect(runs[3]!.problem).toMatch(/newer quintain/)
    expect(await listRuns(join(root, 'nowhere'))).toEqual([])
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('')
  })
})
