import { HttpProblem, openHttp } from '../../core/http-port.ts'
import type { SessionCore } from '../session/session.ts'
import { metricsText } from './metrics.ts'
import { prometheusType } from './prometheus.ts'

export interface OperationsOptions {
  cores: readonly SessionCore[]
  /** 0: any that is free. */
  port: number
  log(line: string): void
}

export interface Operations {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  close(): Promise<void>
}

/**
 * The address for whoever runs the server: health, readiness and metrics, on loopback only, apart from agents and trainers.
 * Throws `usage` for a port that cannot be had.
 */
export async function openOperations({ cores, port, log }: OperationsOptions): Promise<Operations> {
  const draining = () => cores.some((core) => core.stats().draining)
  const { url, close } = await openHttp({
    host: '127.0.0.1',
    port,
    log,
    async handle({ method, path }) {
      if (method !== 'GET' && method !== 'HEAD')
        throw new HttpProblem(405, 'Only GET is answered here.', { allow: 'GET' })
      if (path === '/healthz') return { text: 'ok\n' }
      if (path === '/readyz') return draining() ? { status: 503, text: 'draining\n' } : { text: 'ready\n' }
      if (path === '/metrics')
        return { text: metricsText(cores), headers: { 'content-type': prometheusType } }
      throw new HttpProblem(404, 'Here are /healthz, /readyz and /metrics.')
    },
  })
  return { url, close }
}
