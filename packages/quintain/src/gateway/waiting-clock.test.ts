import { expect, test, vi } from 'vitest'

const time = vi.hoisted(() => ({ at: 0 }))
vi.mock('../core/own-time.ts', () => ({ now: () => time.at }))

const { WaitingClock } = await import('./waiting-clock.ts')

/** A clock of an agent, and how much time it has used. */
function clocked() {
  time.at = 0
  let held = false
  let heldMs = 0
  let since = 0
  let credited = 0
  const clock = new WaitingClock({
    pause() {
      expect(held).toBe(false)
      held = true
      since = time.at
    },
    resume() {
      expect(held).toBe(true)
      held = false
      heldMs += time.at - since
    },
    credit(ms) {
      credited += ms
    },
  })
  return { clock, used: () => time.at - heldMs - credited - (held ? time.at - since : 0) }
}

test('stands still while the only call waits, and gives back the tries that failed', () => {
  const { clock, used } = clocked()
  const call = clock.call()
  time.at = 10
  call.tell(true)
  time.at = 30
  call.tell(false)
  time.at = 45
  // Of 45 it waited 38: 20 were told, and 18 were tries that failed.
  call.end(38)
  expect(used()).toBe(7)
})

test('goes on while another call is answered, whatever one of them waited', () => {
  const { clock, used } = clocked()
  const answered = clock.call()
  const queued = clock.call()
  queued.tell(true)
  time.at = 100
  queued.tell(false)
  queued.end(100)
  answered.end(0)
  expect(used()).toBe(100)
})

test('gives back once what calls waited at the same time', () => {
  const { clock, used } = clocked()
  const calls = [clock.call(), clock.call(), clock.call()]
  time.at = 100
  for (const call of calls) call.end(80)
  expect(used()).toBe(20)
})

test('gives nothing back of the time in which another call was answered', () => {
  const { clock, used } = clocked()
  const failing = clock.call()
  time.at = 20
  const answered = clock.call()
  time.at = 60
  answered.end(0)
  time.at = 100
  failing.end(90)
  // From 20 to 60 the other was answered, and from 90 on this one.
  expect(used()).toBe(50)
})

test('goes on when the agent is seen to work, and that time is not given back', () => {
  const { clock, used } = clocked()
  const call = clock.call()
  call.tell(true)
  time.at = 10
  clock.worked()
  clock.worked()
  time.at = 40
  call.tell(false)
  time.at = 50
  call.end(40)
  expect(used()).toBe(40)
})

test('begins anew with each call that waits alone', () => {
  const { clock, used } = clocked()
  for (let round = 0; round < 3; round++) {
    const call = clock.call()
    call.tell(true)
    time.at += 10
    call.end(10)
    time.at += 1
  }
  expect(used()).toBe(3)
})
