import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateText } from './estimate-text.ts'
import { formatMarkdown } from './markdown.ts'
import { countText, dollarText, durationText, scoreText, shareText } from './number-text.ts'
import { printable, printableLine } from './printable.ts'
import { writeSampleRun } from './sample-run.ts'
import { colourStyle, plainStyle, styleFor } from './style.ts'
import { type RunSummary, summarize } from './summarize.ts'
import { formatText } from './text.ts'
import { healthWarnings } from './warnings.ts'

let root: string
let whole: RunSummary
let broken: RunSummary
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-text-'))
  const tasks = Array.from({ length: 6 }, (_, i) => `t${i}`)
  await writeSampleRun(join(root, 'whole'), {
    orders: tasks.flatMap((task, i) =>
      [0, 1].map((repeat) => ({
        task,
        attempts: [{ reward: Number((i + repeat) % 3 > 0), costUsd: { agent: 0.01 }, counts: { turns: 3 } }],
      })),
    ),
  })
  await writeSampleRun(join(root, 'broken'), {
    policy: 'evil\u001b[2J\u001b]0;title\u0007',
    orders: [
      { task: 'a', attempts: [{ reward: 1 }] },
      { task: 'b', attempts: [{ fault: { message: 'gone \u001b[31mred\u009b2J' } }] },
      { task: 'c', attempts: [] },
      { task: 'd', attempts: [{ unscored: 'no_|_answer' }] },
    ],
  })
  whole = await summarize(join(root, 'whole'))
  broken = await summarize(join(root, 'broken'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

describe('formatText', () => {
  test('every headline has its estimator, n, coverage and interval', () => {
    const text = formatText(whole)
    expect(text).toMatch(
      /success +0\.667 \[0\.\d{3}, 0\.\d{3}\] \(95 %, .*clustered by task, new tasks; n = 12 of 12 orders, 6 tasks\)/,
    )
    expect(text).toMatch(/mean reward +0\.667 \[/)
    expect(text).toContain('these tasks again')
    expect(text).toContain('12: 12 scored (coverage 100 %)')
    expect(text).toContain('$0.12')
    expect(text).not.toContain('resume')
  })

  test('repeats that agree are said to, in text and in Markdown', async () => {
    const dir = join(root, 'agreeing')
    const attempts = (reward: number) => [{ reward }]
    await writeSampleRun(dir, {
      orders: ['a', 'a', 'b', 'b'].map((task) => ({ task, attempts: attempts(Number(task === 'a')) })),
    })
    const summary = await summarize(dir)
    const said = 'no interval: the repeats of each task agree, these tasks again; n = 4 of 4 orders, 2 tasks'
    expect(formatText(summary).split(`0.500 (${said})`)).toHaveLength(3)
    expect(formatMarkdown(summary).split(`| 0.500 | ${said} |`)).toHaveLength(3)
  })

  test('below full coverage there is no headline, and the way on is shown', () => {
    const text = formatText(broken)
    expect(text).toMatch(/success +none \(not enough orders were scored; n = 1 of 4 orders/)
    expect(text).toContain('between 0.250 and 1.000')
    expect(text).toContain('4: 1 scored, 1 unscored, 1 faulted, 1 pending')
    expect(text).toContain('provider 1 (http_500 in model 1)')
    expect(text).toContain('quintain resume')
  })

  test('Markdown says too that a run is not finished; a stop says why', () => {
    expect(formatMarkdown(broken)).toContain('Not finished. Go on with: npx quintain resume')
    expect(formatMarkdown(whole)).not.toContain('Not finished')
    expect(formatText(broken, { stopped: 'the run was cancelled' })).toContain(
      '\n\n  Stopped: the run was cancelled\n  Not finished.',
    )
  })

  test('what models and providers wrote cannot reach the terminal as anything but text', () => {
    for (const text of [formatText(broken), formatMarkdown(broken)]) {
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
      expect(text).toContain('x1b')
    }
  })

  test('colours are the only escapes when they are on', () => {
    const text = formatText(broken, { style: colourStyle })
    expect(text.replace(/\u001b\[\d+m/g, '')).toBe(formatText(broken))
  })

  test('an empty run is a report too', async () => {
    const dir = join(root, 'empty')
    await writeSampleRun(dir, { orders: [] })
    expect(formatText(await summarize(dir))).toContain('nothing was ordered')
  })
})

test('Markdown cells stay cells', () => {
  const lines = formatMarkdown(broken)
    .split('\n')
    .filter((line) => line.startsWith('|'))
  for (const line of lines) expect(line.replace(/\\\|/g, '').match(/\|/g)).toHaveLength(4)
})

test('the JSON form names its schema and keeps every number', () => {
  expect(JSON.parse(JSON.stringify(whole))).toMatchObject({
    schema: 'quintain.report',
    v: 1,
    orders: 12,
    success: { value: 2 / 3, n: 12, planned: 12, scope: 'new tasks', level: 0.95 },
  })
})

test('estimateText is a sentence', () => {
  expect(estimateText('success', whole.success)).toMatch(
    /^success 0\.667 \[.*\] \(95 %, .*; n = 12 of 12 orders, 6 tasks\)$/,
  )
})

describe('printable', () => {
  test('nothing that acts comes through, everything else does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = printable(text)
        expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
        expect(shown.isWellFormed()).toBe(true)
        expect(printable(shown)).toBe(shown)
      }),
    )
    expect(printable('Grüße, 世界 👩‍🚀\n\tok')).toBe('Grüße, 世界 👩‍🚀\n\tok')
  })

  test('shows what was there', () => {
    expect(printable('\u001b[2J\u001b[H all tests passed')).toBe('\\x1b[2J\\x1b[H all tests passed')
    expect(printable('a\r\nb\rc')).toBe('a\nb\\x0dc')
    expect(printable('\u202eabc')).toBe('\\u202eabc')
  })

  test('one line is one line', () => {
    expect(printableLine('a\nb\tc', 4)).toBe('a b…')
    expect(printableLine('👩👩👩', 2)).toBe('👩…')
  })
})

describe('styleFor', () => {
  test.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{ isTTY: false }, {}, false],
    [{ isTTY: false }, { FORCE_COLOR: '1' }, true],
    [{ isTTY: true }, { FORCE_COLOR: '0' }, false],
    [{}, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ])('%o with %o', (stream, env, coloured) => {
    expect(styleFor(stream, env)).toBe(coloured ? colourStyle : plainStyle)
  })
})

test('numbers as people read them', () => {
  expect(scoreText(-1e-17)).toBe('0.000')
  expect(scoreText(-0.0001)).toBe('-0.0001')
  expect(scoreText(3e-10)).toBe('3e-10')
  expect(scoreText(1e308)).toBe('1.000e+308')
  expect(scoreText(null)).toBe('none')
  expect(countText(1234567)).toBe('1,234,567')
  expect(shareText(0.9999)).toBe('> 99.9 %')
  expect(shareText(1)).toBe('100 %')
  expect(shareText(0.985)).toBe('98.5 %')
  expect(durationText(0.34)).toBe('0.3 ms')
  expect(durationText(12_345)).toBe('12.3 s')
  expect(durationText(250_000)).toBe('4 min 10 s')
  expect(durationText(7_500_000)).toBe('2 h 5 min')
  expect(dollarText(null)).toBe('unknown')
  expect(dollarText(0.00123)).toBe('$0.0012')
  expect(dollarText(12.345)).toBe('$12.35')
})

describe('healthWarnings', () => {
  const codes = (facts: Parameters<typeof healthWarnings>[0]) => healthWarnings(facts).map(({ code }) => code)
  test('more than half empty is an incident', () => {
    expect(codes({ finished: 500, empty: 276 })).toEqual(['systemic_empty_output'])
    expect(codes({ finished: 500, empty: 250 })).toEqual([])
  })
  test('everything cut off', () => {
    expect(codes({ finished: 10, truncated: 10, meanReward: 0 })).toEqual(['all_truncated'])
    expect(codes({ finished: 10, truncated: 6 })).toEqual(['mostly_truncated'])
    expect(codes({ finished: 10, truncated: 1 })).toEqual([])
    expect(codes({ finished: 0 })).toEqual([])
  })
})
