import { constants } from 'node:fs'

/** What differs between processors in the kernel's interface, of what boxes need. */
export interface Machine {
  /** `AUDIT_ARCH_*` of linux/audit.h, by which a system call filter knows whose numbers it sees. */
  audit: number
  /** Numbers that the supervisor calls by. */
  prctl: number
  setsid: number
  rtSigprocmask: number
  signalfd4: number
  prlimit64: number
  clockGettime: number
  /** Numbers that the filter looks into. */
  clone: number
  clone3: number
  ioctl: number
  socket: number
  /** Numbers that the filter refuses. */
  refused: readonly number[]
  /** Smallest number of another table of the same architecture: x32 of x86-64. */
  foreignFrom?: number
}

/** move_mount, open_tree, fsopen, fsconfig, fsmount, fspick, mount_setattr, pidfd_getfd, io_uring: the same everywhere. */
const refusedEverywhere = [429, 428, 430, 431, 432, 433, 442, 438, 425, 426, 427]

/** System call numbers from the kernel's tables, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. */
const machines: Partial<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    prctl: 157,
    setsid: 112,
    rtSigprocmask: 14,
    signalfd4: 289,
    prlimit64: 302,
    clockGettime: 228,
    clone: 56,
    clone3: 435,
    ioctl: 16,
    socket: 41,
    foreignFrom: 0x4000_0000,
    refused: [
      ...refusedEverywhere,
      // Keyrings, which namespaces do not divide: add_key, request_key, keyctl.
      ...[248, 249, 250],
      // New namespaces and mounts: unshare, setns, mount, umount2, pivot_root.
      ...[272, 308, 165, 166, 155],
      // Large parts of the kernel that no task needs: bpf, perf_event_open, userfaultfd, kcmp, lookup_dcookie, modify_ldt.
      ...[321, 298, 323, 312, 212, 154],
      // The machine itself: kexec, modules, ports, swap, reboot, acct, quotactl, clocks, syslog, vhangup, uselib, nfsservctl.
      ...[246, 320, 175, 313, 176, 172, 173, 167, 168, 169, 163, 179, 164, 227, 305, 103, 153, 134, 180],
      // Files by handle, past every mount: name_to_handle_at, open_by_handle_at; pages of others: move_pages.
      ...[303, 304, 279],
      // Other processes: ptrace, process_vm_readv, process_vm_writev. A traced one cannot be waited for by who started it.
      ...[101, 310, 311],
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    prctl: 167,
    setsid: 157,
    rtSigprocmask: 135,
    signalfd4: 74,
    prlimit64: 261,
    clockGettime: 113,
    clone: 220,
    clone3: 435,
    ioctl: 29,
    socket: 198,
    refused: [
      ...refusedEverywhere,
      ...[217, 218, 219],
      ...[97, 268, 40, 39, 41],
      ...[280, 241, 282, 272, 18],
      ...[104, 294, 105, 273, 106, 224, 225, 142, 89, 60, 170, 112, 266, 116, 58, 42],
      ...[264, 265, 239],
      ...[117, 270, 271],
    ],
  },
}

/** The kernel's interface on this machine; undefined where we have no table of it. */
export function thisMachine(arch: string = process.arch): Machine | undefined {
  return machines[arch]
}

/** The arguments of the supervisor: see its first line. `0` leaves a limit to the cgroup. */
export function supervisorArguments(
  machine: Machine,
  limits: { dataBytes: number; processes: number },
): string[] {
  const { prctl, setsid, rtSigprocmask, signalfd4, prlimit64, clockGettime } = machine
  const calls = [prctl, setsid, rtSigprocmask, signalfd4, prlimit64, clockGettime]
  return [...calls, constants.O_NOFOLLOW, limits.dataBytes, limits.processes].map(String)
}
