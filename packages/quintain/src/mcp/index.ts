/**
 * The Model Context Protocol in both directions: tools of any MCP server in a world, and a world's tools for any MCP
 * client. Needs `@modelcontextprotocol/client` for the one and `@modelcontextprotocol/server` for the other.
 */
export { cutText, cutWithMarker } from './cut-text.ts'
export { type McpFaultCode, mcpFaultCodes } from './faults.ts'
export type { Noise } from './guarded-transport.ts'
export type { HttpServer } from './http-channel.ts'
export { type CutResult, type McpOptions, type McpTools, mcpTools } from './mcp-tools.ts'
export type { ProgramServer } from './program-channel.ts'
export {
  type Mount,
  type MountOptions,
  type ServedCall,
  type ServeToolsOptions,
  serveTools,
  type ToolServer,
} from './serve-tools.ts'
export {
  checkSessionTools,
  type SessionTools,
  type SessionToolsOptions,
  sessionTools,
} from './session-tools.ts'
export type { ToolChoice } from './tool-list.ts'
export type { CallResult } from './tool-result.ts'
