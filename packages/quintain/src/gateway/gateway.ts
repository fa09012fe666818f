import type { ModelAddress, ModelHandle, ModelRequest, ModelResponse } from '../core/index.ts'
import type { RecordRoom } from '../core/record-room.ts'
import type { CallOptions } from './seat.ts'

/** How a run's gateway listens. Times are milliseconds. */
export interface GatewayOptions {
  /** Default 0: any port of 127.0.0.1 that is free. */
  port?: number
  /** Longest request body, in bytes, compressed or not; 64 MiB when absent. */
  maxBodyBytes?: number
  /** Names beside those of loopback by which programs may call this machine, such as `host.docker.internal`. */
  hosts?: readonly string[]
  /** How long a call goes on whose caller has gone, so that a retry finds it; 2,000 when absent. */
  graceMs?: number
  /** How long a reply that reached nobody waits for a retry; 60,000 when absent. */
  keepMs?: number
  /**
   * For how long after a provider's fault, every retry included, the same body is answered with the same fault: some SDKs
   * ask again whatever they are told; 10,000 when absent.
   */
  faultMs?: number
  /** How long a caller may read nothing of what is sent to it; 120,000 when absent. */
  stallMs?: number
  /** How long a body may take to come; 120,000 when absent. */
  bodyMs?: number
  /** Silence of a stream before a comment says that it is alive; 15,000 when absent. */
  keepAliveMs?: number
  /** Told of defects: what is neither the program's fault nor the model's. */
  log?(text: string): void
}

/** What a lease is opened for. */
export interface LeaseOptions {
  /** The seat whose model it is; every call goes through its `generate`, which limits and records. */
  seat: Pick<ModelHandle, 'id' | 'countTokens'> & {
    generate(request: ModelRequest, options?: CallOptions): Promise<ModelResponse>
  }
  /** Where what is kept for later calls is counted; without one there is no end to it. */
  room?: RecordRoom
  /** Makes messages free of secrets before a program reads them. */
  redact?(text: string): string
  /** Aborted when the attempt is over: every later call is refused in the dialect's own form, calls in flight end. */
  signal?: AbortSignal
}

/** The address of one seat of one attempt. */
export interface Lease extends ModelAddress {
  /** Refuses every later call and ends those in flight. */
  close(): void
}

/** One per run: where programs reach the models of their attempts. */
export interface Gateway {
  readonly port: number
  readonly socketPath: string
  open(options: LeaseOptions): Lease
  /** Ends every lease, every connection and the server. */
  close(): Promise<void>
}
