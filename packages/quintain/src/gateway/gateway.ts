import type { ModelAddress, ModelHandle } from '../core/index.ts'

/** How a run's gateway listens. */
export interface GatewayOptions {
  /** Default 0: any port of 127.0.0.1 that is free. */
  port?: number
  /** Longest request body, in bytes; 64 MiB when absent. */
  maxBodyBytes?: number
  log?(text: string): void
}

/** What a lease is opened for. */
export interface LeaseOptions {
  /** The seat whose model it is; every call goes through its `generate`, which limits and records. */
  seat: Pick<ModelHandle, 'id' | 'generate'>
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
