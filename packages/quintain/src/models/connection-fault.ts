import type { ModelFault } from '../core/model.ts'
import type { ExchangeOptions } from './exchange.ts'

/** The fault of a connection that failed; `streaming` once an event stream had begun. */
export function connectionFault(
  thrown: unknown,
  where: string,
  fault: ExchangeOptions['fault'],
  streaming: boolean,
): ModelFault {
  const error = (thrown instanceof AggregateError ? thrown.errors[0] : thrown) as {
    code?: unknown
    message?: unknown
  }
  const code = String(error?.code ?? '')
  const cause = thrown
  if (code === 'ECONNREFUSED')
    return fault('connection_refused', `${where} refuses connections; is the server running?`, { cause })
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return fault('dns_failed', `The address of ${where} cannot be looked up; check the base URL.`, { cause })
  if (
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    code === 'ETIMEDOUT' ||
    code === 'EHOSTUNREACH' ||
    code === 'ENETUNREACH'
  )
    return fault('timeout_connect', `${where} does not answer the connection (${code}).`, { cause })
  if (/^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/.test(code))
    return fault('tls_failed', `${where} has no acceptable certificate (${code}).`, {
      cause,
      retryable: false,
    })
  if (/^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_INVALID|UND_ERR_NOT_SUPPORTED)/.test(code))
    return fault('not_http', `${where} does not speak HTTP as it should (${code}).`, { cause })
  if (streaming) return fault('stream_incomplete', `${where} closed the stream before its end.`, { cause })
  return fault(
    'closed_early',
    `${where} closed the connection before its reply was whole (${code || 'no code'}).`,
    {
      cause,
    },
  )
}
