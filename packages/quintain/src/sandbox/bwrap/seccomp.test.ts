import { describe, expect, it } from 'vitest'
import { type Machine, thisMachine } from './machine.ts'
import { seccompFilter } from './seccomp.ts'

const allow = 0x7fff_0000
const eperm = 0x0005_0001
const enosys = 0x0005_0026
const eafnosupport = 0x0005_0061

/** Runs the filter as the kernel does, over one system call. */
function run(filter: Uint8Array, call: { audit: number; number: number; args?: number[] }): number {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.length)
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.number, true)
  data.setUint32(4, call.audit, true)
  call.args?.forEach((value, index) => void data.setUint32(16 + 8 * index, value, true))
  let word = 0
  for (let at = 0; at < filter.length; ) {
    const [code, yes, no, value] = [
      view.getUint16(at, true),
      filter[at + 2]!,
      filter[at + 3]!,
      view.getUint32(at + 4, true),
    ]
    at += 8
    if (code === 0x06) return value
    if (code === 0x20) word = data.getUint32(value, true)
    else if (code === 0x15) at += 8 * (word === value ? yes : no)
    else if (code === 0x35) at += 8 * (word >= value ? yes : no)
    else if (code === 0x45) at += 8 * ((word & value) !== 0 ? yes : no)
    else throw new Error(`no such instruction: ${code}`)
  }
  throw new Error('the filter ends without an answer')
}

describe.each(['x64', 'arm64'])('the system call filter for %s', (arch) => {
  const machine = thisMachine(arch) as Machine
  const filter = seccompFilter(machine)
  const call = (number: number, ...args: number[]) => run(filter, { audit: machine.audit, number, args })

  it('refuses what is named, and lets the rest through', () => {
    for (const number of machine.refused) expect(call(number)).toBe(eperm)
    const known = new Set([...machine.refused, machine.clone3, machine.clone, machine.ioctl, machine.socket])
    for (let number = 0; number < 500; number++) if (!known.has(number)) expect(call(number)).toBe(allow)
  })

  it('looks into arguments', () => {
    expect(call(machine.clone, 0x11)).toBe(allow)
    for (const flag of [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000])
      expect(call(machine.clone, flag | 0x11)).toBe(eperm)
    expect(call(machine.clone3)).toBe(enosys)
    expect(call(machine.ioctl, 0, 0x5412)).toBe(eperm)
    expect(call(machine.ioctl, 0, 0x541c)).toBe(eperm)
    expect(call(machine.ioctl, 0, 0x5413)).toBe(allow)
    for (const family of [1, 2, 10, 16]) expect(call(machine.socket, family)).toBe(allow)
    for (const family of [0, 17, 38, 40, 44]) expect(call(machine.socket, family)).toBe(eafnosupport)
  })

  it('has no door to another table of calls', () => {
    expect(run(filter, { audit: 0x4000_0003, number: 1 })).toBe(enosys)
    if (machine.foreignFrom !== undefined) expect(call(machine.foreignFrom + 1)).toBe(enosys)
  })
})

it('there is none for a processor that we do not know', () => {
  expect(thisMachine('riscv64')).toBeUndefined()
})
