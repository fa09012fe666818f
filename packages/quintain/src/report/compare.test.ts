import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareRuns } from './compare.ts'
import { formatComparisonMarkdown } from './compare-markdown.ts'
import { formatComparison } from './compare-text.ts'
import { type SampleAttempt, type SampleOrder, type SampleRun, writeSampleRun } from './sample-run.ts'
import { summarize } from './summarize.ts'

let root: string
let number = 0
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-compare-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function run(orders: SampleOrder[], extra: Partial<SampleRun> = {}): Promise<string> {
  const name = `run-${number++}`
  const { manifest, ...rest } = extra
  const policy = `script:${name}`
  await writeSampleRun(join(root, name), { policy, orders, ...rest, manifest: { id: name, ...manifest } })
  return join(root, name)
}

const attempt = (reward: number | null): SampleAttempt[] => [{ reward }]
/** Twelve tasks, tried once; the first `solved` are. */
const solving = (solved: number): SampleOrder[] =>
  Array.from({ length: 12 }, (_, i) => ({ task: `t${i}`, attempts: attempt(Number(i < solved)) }))
/** Rewards of the repeats of each task. */
const rewards = (byTask: Record<string, number[]>): SampleOrder[] =>
  Object.entries(byTask).flatMap(([task, all]) => all.map((reward) => ({ task, attempts: attempt(reward) })))

describe('two runs', () => {
  test('are paired by task, and the change is from the first to the second', async () => {
    const comparison = await compareRuns([await run(solving(3)), await run(solving(10))])
    expect(comparison).toMatchObject({
      schema: 'quintain.comparison',
      v: 2,
      measure: 'success',
      correction: 'none',
    })
    const [pair] = comparison.pairs
    expect(pair?.success).toMatchObject({ pairs: 12, higher: 7, equal: 5, lower: 0 })
    expect(pair?.success?.difference).toBeCloseTo(7 / 12)
    // Seven that differ, all one way.
    expect(pair?.success?.p).toBeCloseTo(2 / 2 ** 7)
    expect(pair?.success?.mcnemar).toMatchObject({ gained: 7, lost: 0 })
    expect(pair?.flips.map(({ kind }) => kind)).toEqual(Array.from({ length: 7 }, () => 'fixed'))
    const text = formatComparison(comparison)
    expect(text).toMatch(
      /success {3}\+0\.583 \[\+0\.\d+, \+0\.\d+\] \(95 %, .*paired by task, new tasks; n = 12 tasks: 7 better, 5 equal, 0 worse\)/,
    )
    expect(text).toMatch(
      /p = 0\.016 \(two-sided, exact sign flips, as McNemar's exact test: 7 gained, 0 lost\)/,
    )
    expect(text).toContain('fixed     7 tasks (t3 0/1 → 1/1, ')
    expect(text).toMatch(/could have seen ± 0\.\d+ /)
  })

  test('with repeats: fixed, broken and unstable are told apart, with their rates', async () => {
    const before = await run(rewards({ up: [0, 0], down: [1, 1], shaky: [1, 0], same: [1, 1] }))
    const after = await run(rewards({ up: [1, 1], down: [0, 0], shaky: [1, 1], same: [1, 1] }))
    const comparison = await compareRuns([before, after])
    expect(comparison.pairs[0]?.flips).toEqual([
      { task: 'down', kind: 'broken', from: { sum: 2, n: 2 }, to: { sum: 0, n: 2 } },
      { task: 'up', kind: 'fixed', from: { sum: 0, n: 2 }, to: { sum: 2, n: 2 } },
      { task: 'shaky', kind: 'unstable', from: { sum: 1, n: 2 }, to: { sum: 2, n: 2 } },
    ])
    expect(comparison.pairs[0]?.success?.mcnemar).toBeNull()
    expect(comparison.pairs[0]?.success?.again).toMatchObject({
      scope: 'these tasks again',
      method: 't over repeats inside tasks',
    })
  })

  test('missing scores are bounds, tasks without any are left out, and both are told', async () => {
    const a = await run(solving(6))
    const holes = solving(6).map((order, i) => (i === 0 ? { ...order, attempts: [{ fault: {} }] } : order))
    const comparison = await compareRuns([a, await run(holes)])
    const [pair] = comparison.pairs
    expect(pair?.reward).toMatchObject({ pairs: 11, difference: 0, p: 1 })
    expect(pair).toMatchObject({ incompleteTasks: 1, partialTasks: 0 })
    expect(pair?.success?.bounds).toEqual([-1 / 12, 0])
    const text = formatComparison(comparison)
    expect(text).toContain('1 task left out, without a score in one of the runs.')
    expect(text).toContain('between -0.083 and 0.000 (whatever the missing scores would have been)')
    expect(comparison.runs[1]).toMatchObject({
      coverage: 11 / 12,
      success: { value: null, reason: 'below_coverage' },
    })
  })

  test('their cost is unknown where it is, and never zero', async () => {
    const priced = solving(3).map((order) => ({
      ...order,
      attempts: [{ reward: 1, costUsd: { agent: 0.5 } }],
    }))
    const unknown = solving(3).map((order, i) => ({
      ...order,
      attempts: [{ reward: 1, costUsd: { agent: i === 0 ? null : 0.25 } }],
    }))
    const comparison = await compareRuns([await run(priced), await run(unknown)])
    expect(comparison.runs.map(({ cost, costPerOrder }) => [cost.usd, costPerOrder])).toEqual([
      [6, 0.5],
      [null, null],
    ])
    expect(formatComparison(comparison)).toContain('unknown ($2.75 known)')
  })
})

describe('what is not comparable', () => {
  test.each<[string, Partial<SampleRun>, RegExp]>([
    ['another environment', { environment: { name: 'other' } }, /environment: sample and other/],
    ['another digest', { environment: { digest: 'f'.repeat(64) } }, /digest: 0{12} and f{12}/],
    ['other options', { environment: { options: { hard: true } } }, /options: \{\} and \{"hard":true\}/],
    ['another rubric', { manifest: { rubric: 'rubric-2' } }, /rubric: rubric-1 and rubric-2/],
    ['other limits', { manifest: { limits: { turns: 3 } } }, /limits: \{\} and \{"turns":3\}/],
    [
      'another player in another seat',
      {
        manifest: {
          seats: {
            agent: { policy: 'script:x', harness: 'auto' },
            user: { policy: 'script:y', harness: 'auto' },
          },
        },
      },
      /seat user: none and /,
    ],
  ])('%s is refused, or labelled when it is forced', async (_name, extra, words) => {
    const dirs = [await run(solving(3)), await run(solving(4), extra)]
    const refused = compareRuns(dirs)
    await expect(refused).rejects.toMatchObject({
      code: 'run_mismatch',
      message: expect.stringMatching(words),
    })
    await expect(refused).rejects.toThrow('--force')
    const forced = await compareRuns(dirs, { force: true })
    expect(forced.comparable).toBe(false)
    expect(forced.plan[0]?.severity).toBe('refuse')
    expect(formatComparison(forced)).toContain('NOT COMPARABLE: these runs do not measure the same thing')
    expect(formatComparisonMarkdown(forced)).toMatch(/\*\*NOT COMPARABLE/)
  })

  test('a task whose content is another under the same name', async () => {
    const changed = solving(3).map((order, i) => (i === 2 ? { ...order, taskDigest: 'a'.repeat(32) } : order))
    const dirs = [await run(solving(3)), await run(changed)]
    await expect(compareRuns(dirs)).rejects.toThrow(/task content: .*\(t2\)/)
    expect((await compareRuns(dirs, { force: true })).pairs[0]?.tasks.changed).toEqual(['t2'])
  })

  test('what is beside the player is labelled, the player himself is what is compared', async () => {
    const sampled = { agent: { policy: 'model', harness: 'auto', sampling: { temperature: 1 } } }
    const a = await run(solving(3), { manifest: { seats: { agent: { policy: 'other', harness: 'auto' } } } })
    const comparison = await compareRuns([
      a,
      await run(solving(4), { manifest: { seats: sampled, seed: '7', quintain: '0.2.0' } }),
    ])
    expect(comparison.comparable).toBe(true)
    expect(Object.fromEntries(comparison.plan.map(({ field, severity }) => [field, severity]))).toEqual({
      'sampling temperature': 'label',
      seed: 'label',
      quintain: 'label',
      policy: 'note',
    })
    expect(formatComparison(comparison)).toMatch(/sampling temperature +none +1 +differs/)
  })

  test('agents with one model are told apart, and are other players rather than other harnesses', async () => {
    const played = (harness: string) => ({ manifest: { seats: { agent: { policy: 'gpt', harness } } } })
    for (const [one, other] of [
      ['command:old@1', 'command:new@1'],
      ['remote:old@1', 'agent:new'],
      ['old@function', 'new@function'],
    ] as const) {
      const { runs, plan } = await compareRuns([
        await run(solving(3), played(one)),
        await run(solving(2), played(other)),
      ])
      expect(runs.map(({ player, policy }) => [player, policy])).toEqual([
        [`gpt in ${one}`, 'gpt'],
        [`gpt in ${other}`, 'gpt'],
      ])
      expect(plan).toEqual([{ field: 'agent', severity: 'note', values: [one, other] }])
    }
    const { plan } = await compareRuns([
      await run(solving(3), played('command:old@1')),
      await run(solving(2), played('auto')),
    ])
    expect(plan.map(({ field, severity }) => `${field} ${severity}`)).toEqual(['harness label', 'agent note'])
  })

  test('tasks of one run alone are listed, and a renamed one is told by its content', async () => {
    const named = (names: string[], contents: string[]) =>
      names.map((task, i) => ({ task, attempts: attempt(i % 2), contentDigest: contents[i]! }))
    const a = await run(named(['kept', 'kept-2', 'old', 'gone', 'twin'], ['c0', 'c1', 'c2', 'c3', 'c4']))
    const b = await run(
      named(['kept', 'kept-2', 'new', 'come', 'one', 'two'], ['c0', 'c1', 'c2', 'c5', 'c4', 'c4']),
    )
    const comparison = await compareRuns([a, b])
    // Two tasks share the content of `twin`: which of them it became cannot be told.
    expect(comparison.pairs[0]?.tasks).toEqual({
      both: 2,
      onlyFrom: ['gone', 'twin'],
      onlyTo: ['come', 'one', 'two'],
      renamed: [{ from: 'old', to: 'new' }],
      changed: [],
    })
    const text = formatComparison(comparison)
    expect(text).toContain('2 tasks in A only, left out: gone, twin.')
    expect(text).toContain('1 task left out that has the same content under another name: old is now new.')
  })
})

describe('what says little says so', () => {
  test('one task', async () => {
    const comparison = await compareRuns([await run(rewards({ t: [0] })), await run(rewards({ t: [1] }))])
    expect(comparison.pairs[0]?.success).toMatchObject({
      difference: 1,
      p: null,
      detectable: null,
      newTasks: { interval: null, reason: 'single_pair' },
    })
    expect(formatComparison(comparison)).toContain('no interval: one task says nothing of how tasks differ')
  })

  test('all equal', async () => {
    const [pair] = (await compareRuns([await run(solving(12)), await run(solving(12))])).pairs
    expect(pair?.success).toMatchObject({ difference: 0, p: 1, detectable: null })
    // Twelve equal tasks are no proof that the next would be.
    const [low, high] = pair?.success?.newTasks.interval ?? []
    expect(low).toBeLessThan(-0.05)
    expect(high).toBeGreaterThan(0.05)
    expect(pair?.same).toBe(false)
  })

  test('nothing scored', async () => {
    const faulted = solving(0).map((order) => ({ ...order, attempts: [{ fault: {} }] }))
    const comparison = await compareRuns([await run(faulted), await run(solving(5))])
    expect(comparison.pairs[0]?.success).toMatchObject({
      difference: null,
      pairs: 0,
      p: null,
      bounds: [-7 / 12, 5 / 12],
    })
    expect(formatComparison(comparison)).toContain('none (no task was scored in both)')
  })

  test('repeats that are not equally many', async () => {
    const a = await run(rewards({ x: [1, 0, 0, 1], y: [1] }))
    const b = await run(rewards({ x: [1], y: [1, 1] }))
    const [pair] = (await compareRuns([a, b])).pairs
    // A task counts once, however often it was tried.
    expect(pair?.success?.difference).toBeCloseTo(0.25)
    expect(pair?.success?.again).toMatchObject({ interval: null, reason: 'single_repeats' })
  })

  test('a run against itself, and against a copy of itself', async () => {
    const dir = await run(solving(4))
    await cp(dir, `${dir}-copy`, { recursive: true })
    for (const other of [dir, `${dir}-copy`]) {
      const comparison = await compareRuns([dir, other])
      expect(comparison.pairs[0]).toMatchObject({ same: true, success: { difference: 0, p: null } })
      expect(formatComparison(comparison)).toContain('A and B are the same run: nothing is compared.')
    }
  })

  test('negative rewards, and an environment that does not say what success is', async () => {
    const environment = { success: false, rewards: { cost: { kind: 'reward' as const, weight: 1 } } }
    const graded = (by: number) =>
      rewards(
        Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`t${i}`, [-i / 3 + by * (i % 3), -1.5]])),
      )
    const bare = (orders: SampleOrder[]) =>
      orders.map(({ task, attempts }) => ({
        task,
        attempts: attempts.map((one) => ({ ...one, success: null })),
      }))
    const dirs = [await run(bare(graded(0)), { environment }), await run(bare(graded(0.5)), { environment })]
    const comparison = await compareRuns(dirs)
    expect(comparison.measure).toBe('reward')
    expect(comparison.pairs[0]).toMatchObject({
      success: null,
      reward: { higher: 6, bounds: null, mcnemar: null },
    })
    expect(comparison.pairs[0]?.flips[0]).toMatchObject({ kind: 'higher' })
    expect(formatComparison(comparison)).toContain('not declared')
  })
})

describe('more than two', () => {
  test('each against the first, with p corrected for their number', async () => {
    const dirs = [await run(solving(2)), await run(solving(10)), await run(solving(2))]
    const comparison = await compareRuns(dirs)
    expect(comparison.correction).toBe('Holm')
    expect(comparison.pairs.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [0, 2],
    ])
    const [first] = comparison.pairs
    expect(first?.success?.pHolm).toBeCloseTo(2 * (first?.success?.p ?? 0))
    expect(formatComparison(comparison)).toContain('by Holm over the comparisons here')
    const all = await compareRuns(dirs, { pairs: 'all' })
    expect(all.pairs.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ])
  })

  test('fewer than two are none', async () => {
    await expect(compareRuns([await run(solving(1))])).rejects.toMatchObject({ code: 'usage' })
  })
})

test('Markdown takes no markup from ids and policies', async () => {
  const hostile = '<img src=x>|`[a](b)'
  const orders = (reward: number) => [
    { task: hostile, attempts: attempt(reward) },
    { task: 'plain', attempts: attempt(1) },
  ]
  const text = formatComparisonMarkdown(
    await compareRuns([await run(orders(0), { policy: hostile }), await run(orders(1))]),
  )
  expect(text).not.toContain('<img')
  expect(text).not.toContain('[a](b)')
  expect(text).toContain('&lt;img src=x&gt;\\|')
})

describe('a gate gives no all-clear', () => {
  const gate = async (from: string, to: string, options: Parameters<typeof compareRuns>[1] = {}) => {
    const comparison = await compareRuns([from, to], { regression: {}, ...options })
    return { comparison, found: comparison.pairs[0]!.regression!, text: formatComparison(comparison) }
  }
  const content = (orders: SampleOrder[], rename: (task: string) => string): SampleOrder[] =>
    orders.map((order) => ({
      ...order,
      task: rename(order.task),
      taskDigest: order.task.padEnd(32, '-'),
      contentDigest: order.task,
    }))

  test('when tasks of the first run are not in the second, unless that is allowed', async () => {
    const [all, few] = [await run(solving(12)), await run(solving(12).slice(0, 8))]
    const { found, text } = await gate(all, few)
    expect(found).toMatchObject({ regressed: null, doubts: ['tasks_missing'] })
    expect(text).toContain('cannot tell: tasks of the first run are missing in the other')
    expect(text).toMatch(/task ids +as they are there +4 missing +differs/)
    expect((await gate(all, few, { minCoverage: 0.6 })).found).toMatchObject({ regressed: false, doubts: [] })
    // More tasks than there were take nothing away.
    expect((await gate(few, all)).found.regressed).toBe(false)
  })

  test('when most of them have another name', async () => {
    const old = content(solving(12), (task) => task)
    const renamed = content(solving(6), (task) => (Number(task.slice(1)) < 6 ? task : `new-${task}`))
    const { found, text, comparison } = await gate(await run(old), await run(renamed))
    expect(found).toMatchObject({ regressed: null, doubts: ['tasks_missing'] })
    expect(comparison.pairs[0]!.tasks.renamed).toHaveLength(6)
    expect(text).toMatch(/task ids +as they are there +6 renamed +differs/)
  })

  test('when a run is not finished, whatever was found so far', async () => {
    const open = solving(0).map((order, i) => (i === 11 ? { ...order, attempts: [] } : order))
    const { found, text } = await gate(await run(solving(12)), await run(open))
    expect(found.p).toBeLessThan(0.01)
    expect(found).toMatchObject({ regressed: null, doubts: ['unfinished', 'scores_missing'] })
    expect(text).toContain('cannot tell: a run is not finished')
    expect(text).not.toContain('REGRESSION')
  })

  test('a loss beyond chance stands where other orders have no score', async () => {
    const broken = solving(0).map((order, i) => (i === 11 ? { ...order, attempts: [{ fault: {} }] } : order))
    const { found, text } = await gate(await run(solving(12)), await run(broken))
    expect(found).toMatchObject({ regressed: true, doubts: ['scores_missing'] })
    expect(text).toContain('REGRESSION: worse beyond chance, one-sided p < 0.001, though scores are missing')
  })

  test('when it could not have failed', async () => {
    const { found, text } = await gate(await run(solving(3)), await run(solving(3)))
    expect(found).toMatchObject({ regressed: null, doubts: ['cannot_fail'] })
    expect(text).toContain('no loss could be shown with these tasks (had all been lost, p would be 0.125)')
  })

  test('and names what all tasks differ by', async () => {
    const { text } = await gate(await run(solving(12)), await run(solving(0)))
    expect(text).toContain('REGRESSION')
    expect(text).toContain('cannot be said, since all tasks differ by the same')
  })
})

describe('a run whose files are damaged', () => {
  const damage = async (name: string, change: (lines: string[]) => string[]): Promise<string> => {
    const dir = await run(solving(12))
    const path = join(dir, name)
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    await writeFile(path, `${change(lines).join('\n')}\n`)
    return dir
  }
  const spoil = (from: number, to: number) => (lines: string[]) =>
    lines.map((line, i) => (i >= from && i < to ? 'x'.repeat(line.length) : line))

  test.each([
    ['lines of the plan', 'orders.jsonl', spoil(5, 9), 12],
    ['its last lines', 'orders.jsonl', spoil(11, 14), 12],
    ['lines that were cut away', 'orders.jsonl', (lines: string[]) => lines.slice(0, -2), 12],
    ['all of the plan', 'orders.jsonl', () => ['{}'], 12],
    [
      'a reward that is text',
      'attempts.jsonl',
      (lines: string[]) => lines.map((line) => line.replace('"reward":1,', '"reward":"1",')),
      12,
    ],
  ])('%s: it is named, there is no headline and no all-clear', async (_, file, change, orders) => {
    const [whole, broken] = [await run(solving(12)), await damage(file, change)]
    const comparison = await compareRuns([whole, broken], { regression: {} })
    const [, side] = comparison.runs
    expect(side).toMatchObject({ orders, complete: false, success: { value: null } })
    expect(side!.coverage).toBeLessThan(1)
    // Of lines that are not there the attempts tell.
    expect(side!.damage).toMatch(file === 'orders.jsonl' ? /\((orders|attempts)\.jsonl/ : /\(attempts\.jsonl/)
    expect(comparison.pairs[0]!.regression).toMatchObject({ regressed: null })
    expect(comparison.pairs[0]!.regression!.doubts).toContain('unfinished')
    for (const text of [formatComparison(comparison), formatComparisonMarkdown(comparison)])
      expect(text).toMatch(/B: \d+ damaged places? in the run's files/)
    const summary = await summarize(broken)
    expect(summary).toMatchObject({
      orders,
      complete: false,
      success: { value: null },
      reward: { value: null },
    })
    expect(summary.warnings.map(({ code }) => code)).toContain('journal_damaged')
  })

  test('a plan that is gone is named', async () => {
    const dir = await run(solving(12))
    await rm(join(dir, 'orders.jsonl'))
    const summary = await summarize(dir)
    expect(summary).toMatchObject({ orders: 12, complete: false, coverage: 0, success: { value: null } })
    expect(summary.issues).toContainEqual(
      expect.objectContaining({ what: 'missing_file', file: 'orders.jsonl' }),
    )
  })

  test('a request that named its tasks says how many orders there were', async () => {
    const tasks = solving(12).map(({ task }) => task)
    const dir = await run(solving(12), {
      manifest: { request: { schema: 'quintain.request', v: 1, repeats: 1, tasks } },
    })
    for (const file of ['orders.jsonl', 'attempts.jsonl']) {
      const path = join(dir, file)
      const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
      await writeFile(path, `${lines.slice(0, -3).join('\n')}\n`)
    }
    expect(await summarize(dir)).toMatchObject({ orders: 12, status: { scored: 9, pending: 3 } })
  })
})

test('runs of environments that were objects cannot be shown to be of the same one', async () => {
  const environment = { name: 'inline', digest: 'inline' }
  const runs = [await run(solving(12), { environment }), await run(solving(12), { environment })]
  const comparison = await compareRuns(runs)
  expect(comparison.plan).toContainEqual(
    expect.objectContaining({ field: 'environment code', severity: 'label', unknown: true }),
  )
  expect(formatComparison(comparison)).toMatch(/environment code +an object +an object +cannot be told/)
})

test('with repeats, what the p of equal means is stands beside that of equal play', async () => {
  const half = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`t${i}`, [1, 0]]))
  const some = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`t${i}`, i < 6 ? [0, 0] : [1, 0]]))
  const comparison = await compareRuns([await run(rewards(half)), await run(rewards(some))])
  const { p, pMean } = comparison.pairs[0]!.success!
  expect(p).toBeCloseTo(2 ** -5, 12)
  expect(pMean!).toBeGreaterThan(p!)
  const text = formatComparison(comparison)
  expect(text).toContain('p = 0.031 (two-sided, exact sign flips: chance of this where both play alike)')
  expect(text).toMatch(/p = 0\.\d+ \(two-sided, of equal means whatever the shape\)/)
})

test('rewards outside 0 to 1 are taken to lie where they were seen, and that is told', async () => {
  const environment = { success: false }
  const side = (shift: number) =>
    run(rewards(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`t${i}`, [i - shift, i]]))), {
      environment,
    })
  const comparison = await compareRuns([await side(0), await side(2)], { regression: {} })
  expect(comparison.pairs[0]!.reward).toMatchObject({ range: [-2, 11] })
  expect(formatComparison(comparison)).toContain('for rewards from -2.000 to 11.000, as were seen')
})

test('rewards that are tiny or huge are told as they are, and never as none or nothing', async () => {
  const environment = { success: false }
  const all = (value: (task: number) => number) =>
    run(rewards(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`t${i}`, [value(i)]]))), {
      environment,
    })
  const tiny = await compareRuns([await all(() => 0), await all((i) => 1e-10 * (1 + (i % 3)))])
  expect(tiny.pairs[0]!.reward).toMatchObject({ higher: 12, p: 2 ** -11 })
  expect(formatComparison(tiny)).toMatch(/reward {4}\+2e-10 \[\+1\.\de-10, \+2\.\de-10\]/)
  const huge = await compareRuns([await all(() => -1e308), await all((i) => (i % 2 === 0 ? 1e308 : 1e307))])
  const text = formatComparison(huge)
  expect(text).toContain('none (the scores are too large for their spread to be computed)')
  expect(text).not.toMatch(/NaN|Infinity|\[none/)
  expect(huge.pairs[0]!.reward).toMatchObject({ difference: null, p: null, pMean: null })
})
