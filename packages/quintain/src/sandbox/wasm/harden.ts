import programs from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { constants } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import threads from 'node:worker_threads'

/*
 * The interpreter knows no JavaScript, and nothing that it is given leads to any. These walls are for a source that finds a
 * way out of it nevertheless: Node's permission model already keeps it from files, programs and code made of text, and
 * before Node 25 not from the network.
 */

interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

/** Types of Node leave it out. */
declare const WebAssembly: { Memory: { prototype: Memory } }

const denied = (): never => {
  throw new Error('An interpreter of graders has no network.')
}

function deny(from: object, names: readonly string[]): void {
  for (const name of names)
    Object.defineProperty(from, name, { value: denied, writable: false, configurable: false })
}

/** Closes the network for this process: what every connection of Node comes through. */
export function closeNetwork(): void {
  deny(net.Socket.prototype, ['connect'])
  deny(net.Server.prototype, ['listen'])
  deny(dgram.Socket.prototype, ['bind', 'connect', 'send'])
  for (const names of [dns, dns.promises]) deny(names, Object.keys(names).filter(isQuery))
  for (const resolver of [dns.Resolver.prototype, dns.promises.Resolver.prototype])
    deny(resolver, Object.getOwnPropertyNames(resolver).filter(isQuery))
  syncBuiltinESMExports()
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'])
    Reflect.deleteProperty(globalThis, name)
}

function isQuery(name: string): boolean {
  return /^(?:lookup|resolve|reverse|query)/.test(name)
}

/** A shell that is not there, as `os.system` tells it; the permission model would end the interpreter for asking. */
export function closePrograms(): void {
  const value = () => ({ pid: 0, output: [], stdout: '', stderr: '', status: 127, signal: null })
  Object.defineProperty(programs, 'spawnSync', { value, writable: false, configurable: false })
  syncBuiltinESMExports()
}

/** Other processes are nobody's of this one. `binding` is closed by the permission model and is wanted for one table. */
export function closeProcess(): void {
  const table = Object.freeze({ fs: constants })
  Object.defineProperty(process, 'binding', { value: () => table, writable: false, configurable: false })
  deny(process, ['kill', '_kill', '_debugProcess', 'dlopen'])
}

/** A thread would have a network of its own. */
export function closeThreads(): void {
  deny(threads, ['Worker'])
  syncBuiltinESMExports()
}

/** Memory of the interpreter grows to `bytes` and no further: Python meets a MemoryError. */
export function limitMemory(bytes: number): void {
  const { grow } = WebAssembly.Memory.prototype
  Object.defineProperty(WebAssembly.Memory.prototype, 'grow', {
    value(this: Memory, pages: number) {
      if (this.buffer.byteLength + pages * 65_536 > bytes) throw new RangeError('out of memory')
      return grow.call(this, pages)
    },
    writable: false,
    configurable: false,
  })
}
