import { describe, expect, it } from 'vitest'
import { whenQuiet } from './last-output.ts'

describe('what a command wrote last', () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

  it('is read before the command is over, however many turns that takes', async () => {
    let arrived = 0
    let atEnd: number | undefined
    const over = new Promise<void>((resolve) =>
      whenQuiet(
        () => arrived,
        () => {
          atEnd = arrived
          resolve()
        },
      ),
    )
    for (let chunk = 0; chunk < 20; chunk++) {
      arrived += 65_536
      await turn()
    }
    await over
    expect(atEnd).toBe(20 * 65_536)
  })

  it('is not waited for when it never ends', async () => {
    let arrived = 0
    let over = false
    whenQuiet(
      () => arrived,
      () => {
        over = true
      },
    )
    for (let turns = 0; turns < 1000 && !over; turns++) {
      arrived++
      await turn()
    }
    expect(over).toBe(true)
  })
})
