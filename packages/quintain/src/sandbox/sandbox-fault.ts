import { FaultError } from '../core/fault-error.ts'
import type { SandboxFaultCode } from '../core/sandbox.ts'

/** A fault of a driver. The message never holds what a command printed, its arguments or variables. */
export function sandboxFault(code: SandboxFaultCode, message: string, cause?: unknown): FaultError {
  return new FaultError({ owner: 'sandbox', code, message, retryable: code !== 'sandbox_stopped' }, cause)
}

/** What every call on a box that was stopped gets. */
export function stoppedFault(): FaultError {
  return sandboxFault('sandbox_stopped', 'the box was stopped; start another')
}
