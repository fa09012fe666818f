import type { Client } from 'undici'
import { describe, expect, test } from 'vitest'
import { Connections } from './connections.ts'

/** Connections that are numbered instead of opened. */
function numbered(most: number) {
  let opened = 0
  const open = () => {
    const client = {
      number: ++opened,
      destroyed: false,
      async destroy() {
        this.destroyed = true
      },
    }
    return client as unknown as Client
  }
  const connections = new Connections({ most, open })
  const number = (client: Client | undefined) => (client as unknown as { number: number } | undefined)?.number
  return { connections, number, opened: () => opened }
}

const destroyed = (client: Client): boolean => client.destroyed

const never = new AbortController().signal

describe('kept connections', () => {
  test('are opened as they are needed, up to a number, and the last one used is used again first', () => {
    const { connections, number, opened } = numbered(2)
    const [first, second] = [connections.take(), connections.take()]
    expect([number(first), number(second), connections.take()]).toEqual([1, 2, undefined])
    connections.release(second!)
    connections.release(first!)
    expect([number(connections.take()), number(connections.take())]).toEqual([1, 2])
    expect(opened()).toBe(2)
  })

  test('go to those who wait in their order, and pass over those who gave up', async () => {
    const { connections, number } = numbered(1)
    const only = connections.take()!
    const stop = new AbortController()
    const given: string[] = []
    const wait = (name: string, signal: AbortSignal) =>
      connections.next(signal).then(
        (client) => given.push(`${name}:${number(client)}`),
        (error: Error) => given.push(`${name}:${error.message}`),
      )
    const all = [wait('a', never), wait('b', stop.signal), wait('c', never)]
    stop.abort()
    connections.release(only)
    connections.release(only)
    await Promise.all(all)
    expect(given.filter((text) => !text.startsWith('b'))).toEqual(['a:1', 'c:1'])
    expect(given.find((text) => text.startsWith('b'))).toMatch(/cancel/)
  })

  test('are replaced by a new one, which goes to who waits', async () => {
    const { connections, number } = numbered(1)
    const only = connections.take()!
    const next = connections.next(never)
    connections.replace(only)
    expect([number(only), number(await next), destroyed(only)]).toEqual([1, 2, true])
    expect(connections.take()).toBeUndefined()
  })

  test('thousands may wait and none is forgotten', async () => {
    const { connections } = numbered(1)
    const only = connections.take()!
    const waiting = Array.from({ length: 5_000 }, () => connections.next(never))
    for (let at = 0; at < waiting.length; at++) connections.release(only)
    expect(await Promise.all(waiting)).toHaveLength(5_000)
    connections.release(only)
    expect(connections.take()).toBe(only)
  })

  test('nobody who is cancelled already waits', async () => {
    const { connections } = numbered(1)
    await expect(connections.next(AbortSignal.abort())).rejects.toMatchObject({
      fault: { code: 'cancelled' },
    })
  })
})
