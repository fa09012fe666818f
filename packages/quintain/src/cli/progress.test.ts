import { describe, expect, test } from 'vitest'
import type { Progress } from '../engine/index.ts'
import { createDisplay, createProgressDisplay, progressText } from './progress.ts'

const state = (extra: Partial<Progress> = {}): Progress => ({
  orders: 300,
  done: 142,
  running: 8,
  scored: 140,
  unscored: 0,
  faulted: 2,
  waiting: 0,
  retried: 3,
  faults: { provider: 4, world: 1 },
  outcomes: {},
  costUsd: 0.12,
  perSecond: 23.4,
  etaMs: 12_000,
  meanReward: 0.5,
  successes: 70,
  ...extra,
})

function sink(isTTY: boolean, columns = 200) {
  const written: string[] = []
  return { write: (text: string) => void written.push(text), isTTY, columns, written }
}

test('says how far, how fast, how long, whose faults, how much', () => {
  const text = progressText(state())
  for (const part of [
    '142/300',
    '23/s',
    '12 s left',
    'faults: provider 4, world 1 (3 tried again)',
    '$0.12',
    'success 0.50',
  ]) {
    expect(text).toContain(part)
  }
  expect(progressText(state())).toContain('8 running')
  expect(progressText(state({ done: 300, running: 1 }))).not.toContain('running')
  expect(progressText(state({ costUsd: null }))).toContain('cost unknown')
  expect(progressText(state({ etaMs: null, perSecond: 0, scored: 0, faults: {} }))).not.toMatch(
    /NaN|null|undefined/,
  )
})

describe('display', () => {
  test('plain lines elsewhere than on a terminal: no control characters, one every few seconds, the last one always', () => {
    const out = sink(false)
    let time = 0
    const display = createProgressDisplay(out, { now: () => time })
    for (let second = 0; second <= 60; second++) {
      time = second * 1000
      display.update(state({ done: second }))
    }
    display.end()
    expect(out.written.join('')).not.toContain('\u001b')
    expect(out.written.length).toBeLessThanOrEqual(13)
    expect(out.written.at(-1)).toContain('60/300')
  })

  test('one live line on a terminal, cut to its width and taken away at the end', () => {
    const out = sink(true, 40)
    let time = 0
    const display = createProgressDisplay(out, { now: () => time })
    display.update(state())
    time = 50
    display.update(state({ done: 143 }))
    time = 150
    display.update(state({ done: 144 }))
    display.say('a word')
    display.end()
    const text = out.written.join('')
    expect(text).toContain('142/300')
    expect(text).not.toContain('143/300')
    expect(text).toContain('144/300')
    expect(text.endsWith('\r\u001b[2Ka word\n')).toBe(true)
    for (const line of text.split(/[\r\n]/)) expect(line.replace('\u001b[2K', '').length).toBeLessThan(40)
  })

  test('the last state is left out where what follows says it', () => {
    const out = sink(false)
    const display = createDisplay(out, (one: { text: string }) => one.text, { last: false })
    display.update({ text: 'step 10/10' })
    display.end()
    expect(out.written).toEqual([])
  })

  test('quiet is quiet', () => {
    const out = sink(false)
    const display = createProgressDisplay(out, { quiet: true })
    display.update(state())
    display.end()
    expect(out.written).toEqual([])
  })
})
