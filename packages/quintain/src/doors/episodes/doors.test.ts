import { beforeAll, describe, expect, test } from 'vitest'
import { allDoors } from '../serve/door-names.ts'
import { desk, kinds } from './__fixtures__/desk.ts'
import { environmentParity } from './environment-parity.ts'
import { type EpisodeParity, isSame, type ParityCell } from './parity-report.ts'
import { columnNotes, examplesOf } from './parity-table.ts'

/** All of what some protocol has no word for, through every door in its own protocol. */
describe('episodes behind every door', () => {
  let parity: EpisodeParity
  beforeAll(async () => {
    parity = await environmentParity({
      env: desk,
      isolation: 'inline',
      tasks: kinds.length,
      doors: await allDoors(),
      policies: ['script:oracle'],
      clockStepMs: 1,
      log: () => {},
    })
  }, 60_000)

  const cell = (way: string): ParityCell => parity.rows[0]!.cells.find((one) => one.way === way)!

  test('are the same, or what is lost is declared', () => {
    expect(examplesOf(parity)).toEqual([])
    expect(isSame(parity)).toBe(true)
    expect(parity.rows[0]).toMatchObject({ episodes: kinds.length, scored: 9, unscored: 1, failed: 1 })
  })

  test.each(['session', 'native'])('lose nothing by way of %s', (way) => {
    expect(cell(way)).toMatchObject({ equal: kinds.length, lost: 0 })
  })

  test.each(['ors', 'openenv', 'nemo-gym', 'hud'])('lose by name what %s has no word for', (way) => {
    const { equal, lost, losses } = cell(way)
    expect(losses).toMatchObject({ 'text beside calls': 1, 'calls are turns': 2 })
    expect(equal + lost).toBe(kinds.length)
    const notes = columnNotes(parity).join('\n')
    expect(notes).toMatch(/text beside calls: .* beside its tool calls/)
    expect(notes).toMatch(/calls are turns: .* counts as a turn/)
  })

  test('are not compared in what the engine itself does not give twice', () => {
    expect(parity.notes).toEqual([expect.stringMatching(/script:oracle: not compared are 1 results/)])
  })

  test('are told of without a secret', () => {
    expect(JSON.stringify(parity)).not.toContain('secret-of-')
  })

  test('have no score over ORS where the client ends them', () => {
    expect(cell('ors').losses).toMatchObject({ 'no score when ended early': 1 })
    expect(cell('openenv').losses).not.toHaveProperty('no score when ended early')
  })
})
