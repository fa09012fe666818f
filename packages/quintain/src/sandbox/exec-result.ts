import { constants } from 'node:os'
import type { ExecResult } from '../core/sandbox.ts'
import { outputFields } from './command-output.ts'

const nothing = { bytes: new Uint8Array(0), head: 0, written: 0 }

/** The result of a command that never ran. */
export function notStarted(
  reason: NonNullable<ExecResult['notStarted']> | 'aborted',
  began: number,
): ExecResult {
  return {
    exitCode: null,
    signal: null,
    timedOut: false,
    aborted: reason === 'aborted',
    outOfMemory: null,
    ...(reason === 'aborted' ? {} : { notStarted: reason }),
    ...outputFields(nothing, nothing, false),
    durationMs: performance.now() - began,
  }
}

/** Program and arguments; undefined for what no process can be given. */
export function toCommand(command: string | readonly string[], shell: string): readonly string[] | undefined {
  const argv = typeof command === 'string' ? [shell, '-c', command] : command
  return argv.length === 0 || argv[0] === '' || argv.some((part) => part.includes('\0')) ? undefined : argv
}

/** Name of a signal by its number here. */
export function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`
}
