import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message, ToolBox, ToolCall } from '../../core/index.ts'
import { ToolDesk } from './tool-desk.ts'

/** A desk behind a reply that named these calls, and what was carried out. */
function deskOf(named: readonly ToolCall[] | undefined) {
  const ran: string[] = []
  const messages: Message[] = []
  const tools: ToolBox = {
    specs: [],
    async run(calls) {
      await new Promise((resolve) => setImmediate(resolve))
      for (const { name, arguments: text } of calls) ran.push(`${name} ${text}`)
      const done = calls.some(({ name }) => name === 'end') ? { done: 'sold' } : {}
      return { messages: [], executed: calls.length, truncated: false, ...done }
    },
  }
  const reply = { named }
  return { desk: new ToolDesk(tools, messages, () => reply.named), ran, reply }
}

function call(name: string, args: string): ToolCall {
  return { id: `${name}${args}`, name, arguments: args }
}

const said = ({ name, arguments: text }: ToolCall): string => `${name} ${text}`

test('calls of one reply that come at once are carried out in the order in which the model named them', async () => {
  const calls = fc.array(
    fc.record({ name: fc.constantFrom('look', 'buy'), n: fc.integer({ min: 0, max: 2 }) }),
    { minLength: 1, maxLength: 6 },
  )
  const orders = calls.chain((all) =>
    fc.record({
      named: fc.constant(all.map(({ name, n }) => call(name, JSON.stringify({ n })))),
      sent: fc.shuffledSubarray([...all.keys()], { minLength: all.length }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(orders, async ({ named, sent }) => {
      const { desk, ran } = deskOf(named)
      // A program writes the arguments anew.
      await Promise.all(
        sent.map((at) => desk.call(named[at]!.name, ` ${named[at]!.arguments} `.replace(':', ' : '))),
      )
      expect(ran.map((text) => text.replaceAll(' ', ''))).toEqual(
        named.map((one) => said(one).replaceAll(' ', '')),
      )
      desk.close()
    }),
    { numRuns: 50 },
  )
})

test('a call that ends the episode is carried out after those that were named before it', async () => {
  const { desk, ran } = deskOf([call('buy', '{"n":1}'), call('end', '{}')])
  const [ended, bought] = await Promise.all([desk.call('end', {}), desk.call('buy', { n: 1 })])
  expect(ended.done).toBe('sold')
  expect(bought.error).toBeUndefined()
  expect(ran).toEqual(['buy {"n":1}', 'end {}'])
})

test('calls that do not all come go in the order in which they came', async () => {
  const { desk, ran } = deskOf([call('look', '{}'), call('buy', '{"n":1}'), call('end', '{}')])
  await desk.call('buy', { n: 1 })
  await desk.call('end', {})
  expect(ran).toEqual(['buy {"n":1}', 'end {}'])
  expect((await desk.call('look', {})).error).toBe('episode_over')
})

test('what a reply did not name goes before what waits, and a later reply ends the waiting', async () => {
  const { desk, ran, reply } = deskOf([call('look', '{}'), call('buy', '{}')])
  const held = desk.call('buy', {})
  await desk.call('sell', {})
  reply.named = [call('look', '{"n":2}')]
  await desk.call('look', { n: 2 })
  await held
  expect(ran).toEqual(['sell {}', 'buy {}', 'look {"n":2}'])
})

test('a desk that closes keeps no call waiting', async () => {
  const { desk, ran } = deskOf([call('look', '{}'), call('buy', '{}')])
  const held = desk.call('buy', {})
  desk.close()
  expect((await held).error).toBe('episode_over')
  expect(ran).toEqual([])
})

test('without a reply calls go in the order in which they came', async () => {
  const { desk, ran } = deskOf(undefined)
  await Promise.all([desk.call('b', '{}'), desk.call('a', '{}')])
  expect(ran).toEqual(['b {}', 'a {}'])
})
