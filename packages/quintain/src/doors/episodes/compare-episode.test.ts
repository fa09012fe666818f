import { describe, expect, test } from 'vitest'
import { compareEpisode, type Difference, explained, lossesIn } from './compare-episode.ts'
import type { ClientVerdict } from './episode-client.ts'
import type { Played } from './play-again.ts'
import type { RecordedEnd, RecordedEpisode } from './recorded-episode.ts'

const scored: RecordedEnd = { kind: 'scored', reward: 0.1 + 0.2, success: true }
const fault = { owner: 'world', stage: 'tool', code: 'threw', message: 'm', retryable: false } as const

const recorded: RecordedEpisode = {
  order: 't#0',
  task: 't',
  split: 'test',
  opening: ['You play.', 'Guess.'],
  tools: ['look'],
  moves: [
    { kind: 'calls', text: '', calls: [{ name: 'look', arguments: '{}', result: { text: 'a door' } }] },
    {
      kind: 'calls',
      text: '',
      calls: [{ name: 'look', arguments: '{"at":1}', result: { text: 'no', error: 'not_there' } }],
    },
    { kind: 'say', text: 'open', answer: 'It is open.' },
  ],
  outcome: 'env_done',
  end: scored,
}

const faithful: Played = {
  opening: { text: 'You play.\n\nGuess.', tools: ['look', 'say'] },
  steps: [
    { move: 0, call: 0, text: 'a door', done: false },
    { move: 1, call: 0, text: 'no', error: 'not_there', done: false },
    { move: 2, text: 'It is open.', done: true },
  ],
  unsent: 0,
  verdict: { kind: 'scored', reward: 0.1 + 0.2, success: true },
}

const whats = (episode: RecordedEpisode, played: Played): Difference['what'][] =>
  compareEpisode(episode, played).map(({ what }) => what)
const withSteps = (...changes: object[]): Played => ({
  ...faithful,
  steps: faithful.steps.map((step, place) => ({ ...step, ...changes[place] })),
})
const ended = (end: RecordedEnd, verdict: ClientVerdict) =>
  whats({ ...recorded, end }, { ...faithful, verdict })

describe('an episode behind a door', () => {
  test('is the same where all of it is', () => {
    expect(compareEpisode(recorded, faithful)).toEqual([])
  })

  test('differs by the last bit of its reward', () => {
    expect(ended(scored, { kind: 'scored', reward: 0.3, success: true })).toEqual(['reward'])
    expect(ended({ ...scored, reward: 0 }, { kind: 'scored', reward: -0, success: true })).toEqual(['reward'])
  })

  test('differs by success, where the protocol has a word for it', () => {
    expect(ended(scored, { kind: 'scored', reward: 0.1 + 0.2, success: false })).toEqual(['success'])
    expect(ended(scored, { kind: 'scored', reward: 0.1 + 0.2 })).toEqual([])
  })

  test('never turns a fault, or what has no score, into a number', () => {
    const zero: ClientVerdict = { kind: 'scored', reward: 0, success: false }
    expect(ended({ kind: 'failed', fault }, zero)).toEqual(['verdict'])
    expect(ended({ kind: 'unscored', reason: 'none' }, zero)).toEqual(['verdict'])
    expect(ended({ kind: 'unscored', reason: 'none' }, { kind: 'failed' })).toEqual(['verdict'])
    expect(ended({ kind: 'unscored', reason: 'none' }, { kind: 'none' })).toEqual(['verdict'])
    expect(ended(scored, { kind: 'no_number' })).toEqual(['verdict'])
    expect(ended({ kind: 'failed', fault }, { kind: 'no_number' })).toEqual([])
    expect(ended({ kind: 'failed', fault }, { kind: 'failed' })).toEqual([])
  })

  test('differs by what a result says, by its error and by where it ends', () => {
    expect(whats(recorded, withSteps({ text: 'a wall' }))).toEqual(['text'])
    expect(whats(recorded, withSteps({}, { error: 'other' }))).toEqual(['error'])
    expect(whats(recorded, withSteps({}, { error: true }))).toEqual([])
    expect(whats(recorded, withSteps({ error: true }))).toEqual(['error'])
    expect(whats(recorded, withSteps({}, {}, { done: false }))).toEqual(['done'])
    expect(whats(recorded, withSteps({ done: undefined }, { done: undefined }, { done: undefined }))).toEqual(
      [],
    )
    const early = { ...faithful, steps: [{ ...faithful.steps[0]!, done: true }] }
    expect(whats(recorded, early)).toEqual(['done', 'moves'])
  })

  test('differs by what the agent reads and by the tools that it is shown', () => {
    expect(whats(recorded, { ...faithful, opening: { text: 'Guess.', tools: ['look'] } })).toEqual([
      'opening',
    ])
    expect(whats(recorded, { ...faithful, opening: { text: 'You play. Guess.', tools: [] } })).toEqual([
      'tools',
    ])
  })

  test('differs by a refusal', () => {
    const refused = { at: { move: 0, call: 0 }, message: '500' }
    expect(whats(recorded, { ...faithful, steps: [], refused })).toEqual(['refused'])
  })
})

describe('a declared loss', () => {
  const beside: RecordedEpisode = {
    ...recorded,
    moves: recorded.moves.map((move) => (move.kind === 'calls' ? { ...move, text: 'hm' } : move)),
  }
  const lossesOf = (episode: RecordedEpisode, played: Played, declared: Parameters<typeof explained>[2]) =>
    explained(compareEpisode(episode, played), lossesIn(episode, played), declared).map(
      ({ losses }) => losses,
    )
  const worse: Played = { ...faithful, verdict: { kind: 'scored', reward: 0, success: true } }

  test('explains what it can make, of an episode that has what is lost', () => {
    const declared = new Set(['text beside calls'] as const)
    expect(lossesOf(beside, worse, declared)).toEqual([['text beside calls']])
    expect(lossesOf(recorded, worse, declared)).toEqual([[]])
    expect(lossesOf(beside, worse, new Set())).toEqual([[]])
    expect(lossesOf(beside, withSteps({ text: 'a wall' }), declared)).toEqual([[]])
  })

  test('of scores explains that there is none, and no other score', () => {
    const declared = new Set(['no score when ended early'] as const)
    const open: Played = { ...withSteps({}, {}, { done: false }), verdict: { kind: 'none' } }
    const closed: RecordedEpisode = { ...recorded, outcome: 'completed' }
    expect(lossesOf(closed, open, declared)).toEqual([['no score when ended early']])
    expect(lossesOf(closed, { ...open, verdict: worse.verdict }, declared)).toEqual([[]])
    expect(lossesOf(recorded, { ...faithful, verdict: { kind: 'none' } }, declared)).toEqual([[]])
  })
})
