import { expect, test } from 'vitest'
import type { GradingBoxOptions } from '../core/index.ts'
import { FakeBoxes } from './__fixtures__/fake-boxes.ts'
import { pause } from './__fixtures__/recorded.ts'
import { AttemptBoxes } from './attempt-boxes.ts'
import { BoxDesk } from './box-desk.ts'
import { gradingSandbox } from './grading-sandbox.ts'

const python = { arguments: ['-c', 'pass'], talk: 'python' }
/** An interpreter runs until its box stops. */
const endless = () => new FakeBoxes({ run: () => new Promise<string>(() => {}) })

function deskOf(driver: FakeBoxes, most: number) {
  const desk = new BoxDesk()
  desk.open({ driver, own: false, definition: {}, most, network: false, log() {} })
  const window = desk.window()
  const attempt = (owner: string) => {
    const boxes = new AttemptBoxes({ ask: (request, options) => window.ask(owner, request, options) })
    return { ...boxes.forGraders(1000), world: boxes.forWorld(), end: () => window.end(owner) }
  }
  return { desk, attempt }
}

test('a box with an interpreter is started beforehand, given out once, and gone when the run is', async () => {
  const driver = endless()
  const { sandbox, close } = gradingSandbox(driver)
  const ids: string[] = []
  for (let i = 0; i < 6; i++) {
    const box = await sandbox.start({ python })
    ids.push(box.id)
    await box.stop()
    await pause(20)
  }
  expect(new Set(ids).size).toBe(6)
  // Those that are ready for a seventh.
  expect(driver.started.length).toBeGreaterThan(6)
  expect(driver.open).toBe(driver.started.length - 6)
  await close()
  expect(driver.open).toBe(0)
})

test('a box that was kept ready goes only to who asks for the same', async () => {
  const driver = endless()
  const { sandbox, close } = gradingSandbox(driver)
  const start = async (options: GradingBoxOptions) => {
    const before = driver.started.length
    const box = await sandbox.start(options)
    await box.stop()
    await pause(20)
    return Number(box.id.slice('fake-'.length)) < before
  }
  expect(await start({ python })).toBe(false)
  expect(await start({ python })).toBe(true)
  expect(await start({ python: { ...python, arguments: ['-c', 'other'] } })).toBe(false)
  expect(await start({ python, env: { A: '1' } })).toBe(false)
  await close()
  expect(driver.open).toBe(0)
})

test('boxes that are only ready make room for a world that waits', async () => {
  const driver = endless()
  const { desk, attempt } = deskOf(driver, 3)
  const first = attempt('a')
  await (await first.start({ python })).stop()
  await first.end()
  await pause(20)
  expect(driver.open).toBeGreaterThan(0)
  const others = ['b', 'c', 'd'].map(attempt)
  await Promise.all(others.map(({ world }) => world.start()))
  await pause(20)
  expect([driver.open, driver.mostOpen]).toEqual([3, 3])
  await desk.close()
  expect(driver.open).toBe(0)
})

test('boxes of a kind that is no longer wanted make room for those of one that is', async () => {
  const driver = endless()
  const { desk, attempt } = deskOf(driver, 2)
  const { start } = attempt('a')
  const other = { ...python, arguments: ['-c', 'other'] }
  for (const wanted of [python, other]) {
    await (await start({ python: wanted })).stop()
    await pause(30)
  }
  const before = driver.started.length
  expect(Number((await start({ python: other })).id.slice('fake-'.length))).toBeLessThan(before)
  await desk.close()
  expect(driver.open).toBe(0)
})

test('interpreters wait for one another and do not use up the boxes of an attempt', async () => {
  const driver = endless()
  const { desk, attempt } = deskOf(driver, 10)
  const one = attempt('a')
  const boxes = await Promise.all([one.start({ python }), one.start({ python }), one.start(), one.start()])
  let third = false
  const waiting = one.start({ python }).then(() => {
    third = true
  })
  await pause(20)
  expect(third).toBe(false)
  await boxes[0]?.stop()
  await waiting
  await desk.close()
  expect(driver.open).toBe(0)
})

test('an interpreter is ended by the signal, and how it ended is told', async () => {
  const driver = endless()
  const { sandbox, close } = gradingSandbox(driver)
  const box = await sandbox.start({ python })
  expect(await box.ended?.({ signal: AbortSignal.timeout(10) })).toMatchObject({ aborted: true })
  await close()
})

test('neither a world nor a box with files gets one', async () => {
  const { desk, attempt } = deskOf(endless(), 4)
  const { world, start } = attempt('a')
  const withPython = { python } as object
  await expect(world.start(withPython)).rejects.toMatchObject({ code: 'options_invalid' })
  await expect(start({ python, files: { a: 'x' } })).rejects.toMatchObject({ code: 'options_invalid' })
  await desk.close()
})

test('an interpreter that does not run is said by name', async () => {
  const { sandbox, close } = gradingSandbox(endless(), { python: '/nowhere/python' })
  await expect(sandbox.start({ python })).rejects.toMatchObject({ code: 'options_invalid' })
  await close()
})
