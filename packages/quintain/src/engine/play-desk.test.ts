import { describe, expect, test } from 'vitest'
import type { Harness, HarnessContext, HarnessResult, OrderRecord, ResolvedLimits } from '../core/index.ts'
import { outside } from './__fixtures__/outside.ts'
import { never } from './__fixtures__/recorded.ts'
import { boxOwner } from './box-protocol.ts'
import { OutsidePlayer } from './outside-player.ts'
import { PlayDesk } from './play-desk.ts'
import type { HostSpec, Job, ToWorker } from './protocol.ts'
import { RunGateway } from './run-gateway.ts'

const order: OrderRecord = {
  schema: 'quintain.order',
  v: 1,
  id: 'A#0',
  seq: 0,
  task: 'A',
  index: 0,
  split: 'test',
  repeat: 0,
  group: 'A',
  seed: 1,
  taskDigest: 'x',
}
const job: Job = { order, try: 1 }
const owner = boxOwner(job)
const limits: ResolvedLimits = { toolMs: 1_000 }
const start = {
  seat: 'agent',
  attempt: 'attempt-1',
  task: { id: 'A', split: 'test', data: undefined },
  messages: [{ role: 'user' as const, content: 'go' }],
  tools: [],
  endpoints: {},
  limits,
  replies: true,
  elapsedMs: 3,
}

/** A desk of a run that is played by `run`, and all that it has sent to its worker. */
function deskOf(run: (context: HarnessContext) => Promise<HarnessResult>, policy: HostSpec['seats'][string]) {
  const sent: ToWorker[] = []
  const logged: string[] = []
  const log = (text: string) => logged.push(text)
  const harness: Harness = outside(run)
  const spec: HostSpec = {
    options: {},
    seed: '0',
    seats: { agent: policy },
    sampling: {},
    escalate: false,
    outside: { agent: harness.name },
  }
  const player = new OutsidePlayer({
    harnesses: new Map([['agent', harness]]),
    spec,
    models: new Map(),
    gateway: new RunGateway(() => Promise.reject(new Error('no gateway here')), log),
    log,
  })
  const desk = new PlayDesk({ player, send: (message) => sent.push(message), boxOf: () => undefined, log })
  const next = async <T extends ToWorker['t']>(t: T, place = 0) => {
    const found = () =>
      sent.filter((message): message is Extract<ToWorker, { t: T }> => message.t === t)[place]
    await expect.poll(found).toBeDefined()
    return found()!
  }
  return { desk, sent, logged, next }
}

const script = { kind: 'script', name: 'oracle' } as const
const tool = [{ id: '1', name: 'pay', arguments: '{}' }]

describe('what a worker says of a play is not believed', () => {
  test('a play of an attempt that does not run on it is left aside', async () => {
    let played = 0
    const { desk, sent, logged } = deskOf(async () => {
      played++
      return { outcome: 'completed' }
    }, script)
    desk.begin({ t: 'play', play: 1, owner, start })
    desk.expect(job)
    desk.begin({ t: 'play', play: 2, owner: 'B#0 1', start })
    desk.end(job)
    desk.begin({ t: 'play', play: 3, owner, start })
    await Promise.resolve()
    expect([played, sent, logged.length]).toEqual([0, [], 3])
  })

  test('a seat is played once an attempt, and only one that has a harness here', async () => {
    let played = 0
    const { desk, next, sent } = deskOf(async () => {
      played++
      return { outcome: 'completed', answer: 'done' }
    }, script)
    desk.expect(job)
    desk.begin({ t: 'play', play: 1, owner, start })
    desk.begin({ t: 'play', play: 2, owner, start })
    desk.begin({ t: 'play', play: 3, owner, start: { ...start, seat: 'user' } })
    await next('play-end', 2)
    const ends = Object.fromEntries(
      sent.flatMap((message) => (message.t === 'play-end' ? [[message.play, message.end]] : [])),
    )
    expect(played).toBe(1)
    expect(ends[1]?.result).toEqual({ outcome: 'completed', answer: 'done' })
    for (const refused of [2, 3])
      expect(ends[refused]?.thrown).toMatchObject({ by: 'fault', fault: { code: 'bad_output' } })
  })

  test.each([
    ['no messages', { messages: 'go' }],
    ['a message that is none', { messages: [{ role: 'judge', content: 'go' }] }],
    ['limits that are none', { limits: { turns: 'many' } }],
    ['time that runs back', { elapsedMs: -1 }],
    ['tools that are none', { tools: [{ name: 7 }] }],
  ])('a start with %s is refused, and the attempt is told', async (_what, wrong) => {
    const { desk, next } = deskOf(never, script)
    desk.expect(job)
    desk.begin({ t: 'play', play: 1, owner, start: { ...start, ...wrong } as never })
    const { end } = await next('play-end')
    expect(end.thrown).toMatchObject({ by: 'fault', fault: { owner: 'platform', code: 'bad_output' } })
  })

  test('a secret that comes with a task does not reach the harness', async () => {
    let held = ''
    const { desk, next } = deskOf(async ({ task }) => {
      held = JSON.stringify(task)
      return { outcome: 'completed' }
    }, script)
    desk.expect(job)
    const task = { ...start.task, secret: 'canary', extra: 'canary' }
    desk.begin({ t: 'play', play: 1, owner, start: { ...start, task } })
    await next('play-end')
    expect(JSON.parse(held)).toEqual({ id: 'A', split: 'test' })
  })

  test('answers that are none are faults, and an answer that nobody asked for is nothing', async () => {
    const { desk, next } = deskOf(async ({ tools, reply, model }) => {
      for (const ask of [
        () => tools.run(tool, { truncated: false }),
        () => reply!('hello'),
        () => model.generate({ messages: [] }),
      ])
        await ask().then(
          () => {
            throw new Error('it was believed')
          },
          () => {},
        )
      return { outcome: 'completed' }
    }, script)
    desk.expect(job)
    desk.answered({ t: 'play-answer', ask: 1, value: {} })
    desk.begin({ t: 'play', play: 1, owner, start })
    const lies = [
      { messages: [{ role: 'user', content: '' }], executed: 1 },
      { content: 7 },
      { message: 'hi' },
    ]
    for (const [place, value] of lies.entries()) {
      const { ask } = await next('play-ask', place)
      desk.answered({ t: 'play-answer', ask, value })
      // Twice, as well.
      desk.answered({ t: 'play-answer', ask, value })
    }
    const { end } = await next('play-end')
    expect(end.result).toEqual({ outcome: 'completed' })
    expect(end.account.unrecovered).toMatchObject({ owner: 'platform', stage: 'model' })
  })

  test('what is asked when the worker is lost, or the attempt over, is refused', async () => {
    for (const over of ['endAll', 'end', 'abort'] as const) {
      const refused: unknown[] = []
      const { desk, next } = deskOf(async ({ tools }) => {
        await tools.run(tool, { truncated: false }).catch((error: unknown) => refused.push(error))
        return { outcome: 'completed' }
      }, script)
      desk.expect(job)
      desk.begin({ t: 'play', play: 1, owner, start })
      await next('play-ask')
      if (over === 'end') desk.end(job)
      else if (over === 'abort') desk.abort(1)
      else desk.endAll()
      await next('play-end')
      expect(refused, over).toHaveLength(1)
    }
  })
})
