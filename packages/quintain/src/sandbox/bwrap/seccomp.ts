import type { Machine } from './machine.ts'

// Classic BPF, as seccomp runs it: linux/filter.h and linux/seccomp.h. Eight bytes an instruction.
const loadWord = 0x20
const jumpEqual = 0x15
const jumpAtLeast = 0x35
const jumpAnyBit = 0x45
const give = 0x06
const allow = 0x7fff_0000
const fail = 0x0005_0000

const atNumber = 0
const atArchitecture = 4
/** Low word of an argument; both our architectures are little-endian. */
const atArgument = (index: number) => 16 + 8 * index

const eperm = 1
const enosys = 38
const eafnosupport = 97
/** Every CLONE_NEW* flag of sched.h but CLONE_NEWTIME, which is not among clone's flags. */
const newNamespaces = 0x7e02_0000
/** Pushing input into a terminal: TIOCSTI, TIOCLINUX. */
const terminalRequests = [0x5412, 0x541c]
/** Unix, IPv4, IPv6 and netlink. Others reach past the network namespace (vsock: the host of a virtual machine). */
const families = [1, 2, 10, 16]

interface Instruction {
  code: number
  value: number
  /** Labels to go on at; undefined is the next instruction. */
  yes?: string
  no?: string
  label?: string
}

/**
 * The system call filter of a box, as bytes for `bwrap --seccomp`. What it refuses fails with EPERM; calls that this
 * filter cannot look into fail as if the kernel did not have them (ENOSYS), so that libraries fall back.
 */
export function seccompFilter(machine: Machine): Uint8Array {
  const refuse = (number: number): Instruction => ({ code: jumpEqual, value: number, yes: 'refused' })
  return assemble([
    { code: loadWord, value: atArchitecture },
    { code: jumpEqual, value: machine.audit, no: 'unknown' },
    { code: loadWord, value: atNumber },
    ...(machine.foreignFrom === undefined
      ? []
      : [{ code: jumpAtLeast, value: machine.foreignFrom, yes: 'unknown' }]),
    { code: jumpEqual, value: machine.clone3, yes: 'unknown' },
    { code: jumpEqual, value: machine.clone, yes: 'clone' },
    { code: jumpEqual, value: machine.ioctl, yes: 'ioctl' },
    { code: jumpEqual, value: machine.socket, yes: 'socket' },
    ...machine.refused.map(refuse),
    { code: give, value: allow },
    { label: 'clone', code: loadWord, value: atArgument(0) },
    { code: jumpAnyBit, value: newNamespaces, yes: 'refused', no: 'allowed' },
    { label: 'ioctl', code: loadWord, value: atArgument(1) },
    ...terminalRequests.map(refuse),
    { code: give, value: allow },
    { label: 'socket', code: loadWord, value: atArgument(0) },
    ...families.map((family) => ({ code: jumpEqual, value: family, yes: 'allowed' })),
    { code: give, value: fail | eafnosupport },
    { label: 'refused', code: give, value: fail | eperm },
    { label: 'unknown', code: give, value: fail | enosys },
    { label: 'allowed', code: give, value: allow },
  ])
}

function assemble(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  const places = new Map(program.map(({ label }, at) => [label, at]))
  program.forEach(({ code, value, yes, no }, at) => {
    const distance = (label: string | undefined) => (label === undefined ? 0 : places.get(label)! - at - 1)
    view.setUint16(at * 8, code, true)
    view.setUint8(at * 8 + 2, distance(yes))
    view.setUint8(at * 8 + 3, distance(no))
    view.setUint32(at * 8 + 4, value, true)
  })
  return bytes
}
