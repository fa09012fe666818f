import { expect, test } from 'vitest'
import { RecordRooms } from './record-room.ts'
import { Recorder } from './recorder.ts'

test('one attempt has an eighth of the heap, all two fifths, and what is over gives its part back', () => {
  const rooms = new RecordRooms({ heapBytes: 8_000 })
  const open = () => rooms.open()
  const first = open()
  expect([first.take(1_000), first.take(1)]).toEqual([true, false])
  const others = [open(), open()]
  expect(others.map((room) => room.take(1_000))).toEqual([true, true])
  const last = open()
  // 3,200 of all: 200 are left, and a part of half of them is 400.
  expect([last.take(200), last.take(200), last.take(1)]).toEqual([true, true, false])
  first.close()
  first.close()
  expect([last.take(600), first.take(5_000)]).toEqual([true, false])
})

test('thousands of attempts each have their part, however much few of them hold', () => {
  const rooms = new RecordRooms({ heapBytes: 8_000_000 })
  const large = Array.from({ length: 4 }, () => rooms.open())
  for (const room of large) room.take(1_000_000)
  const small = Array.from({ length: 2_000 }, () => rooms.open())
  expect(small.every((room) => room.take(700))).toBe(true)
  expect(large.some((room) => room.take(100_000))).toBe(false)
})

test('a recorder counts messages, their tools, settings and tokens, each once, and adds nothing that does not fit', () => {
  const taken: number[] = []
  let most = Number.POSITIVE_INFINITY
  const room = {
    take(bytes: number) {
      if (bytes > most) return false
      taken.push(bytes)
      return true
    },
    add: (bytes: number) => void taken.push(bytes),
    close() {},
  }
  const recorder = new Recorder({ room })
  const user = (content: string) => ({ role: 'user' as const, content })
  const tools = [{ name: 'a', description: 'x'.repeat(5_000), parameters: {} }]
  const ask = (text: string, settings: unknown = {}) => {
    const prompt = recorder.path('agent', [user(text)], { tools, settings })
    const tokens = { promptIds: Int32Array.from([1, 2, prompt]), outputIds: new Int32Array(10_000) }
    recorder.call(
      'agent',
      prompt,
      { role: 'assistant', content: 'ok' },
      { model: 'm', tools } as never,
      tokens,
    )
    return taken.splice(0)
  }
  const [asked, given] = ask('x'.repeat(10_000))
  expect(asked).toBeGreaterThan(15_000)
  expect(asked).toBeLessThan(20_000)
  expect(given).toBeGreaterThan(40_000)
  const [again] = ask('x'.repeat(10_000))
  expect(again).toBeLessThan(2_000)
  expect(ask('x', { user: 'y'.repeat(9_000) })[0]).toBeGreaterThan(9_000)
  // A character that is not ASCII makes two bytes of each.
  expect(ask(`${'x'.repeat(10_000)}é`)[0]).toBeGreaterThan(20_000)
  const nodes = recorder.nodes.length
  most = 1_500
  expect(() => ask('another')).toThrow('more was said')
  expect(recorder.nodes).toHaveLength(nodes)
})
