import { FaultError } from '../core/fault-error.ts'
import { cutText } from './cut-text.ts'

/** Codes of the faults of a world whose tools are an MCP server's. */
export const mcpFaultCodes = [
  /** The server could not be started, or spoke no MCP. */
  'mcp_start_failed',
  /** The session of a stateful world is gone, and with it the state: the rollout cannot go on. */
  'env_lost',
  /** The session of stateless tools was lost, and again after it had been opened anew. */
  'mcp_session_lost',
  /** The server answered with a JSON-RPC error that no model could have caused. */
  'mcp_protocol_error',
  /** A call that the world made itself did not end within its limit. */
  'mcp_call_timeout',
  /** The server answered with something that is no tool result. */
  'mcp_bad_result',
  /** The server's tool list cannot be used. */
  'mcp_bad_tools',
] as const
export type McpFaultCode = (typeof mcpFaultCodes)[number]

/** Bytes of a message, of which a server may have written the most. */
const messageBytes = 2_000

/** A fault of the world: no score, whatever the agent did. */
export function mcpFault(
  code: McpFaultCode,
  message: string,
  options: { retryable: boolean; cause?: unknown },
): FaultError {
  const { text, truncated } = cutText(message, messageBytes)
  return new FaultError(
    { owner: 'world', code, message: truncated ? `${text}…` : text, retryable: options.retryable },
    options.cause,
  )
}
