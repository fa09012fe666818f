import type { JsonSchema } from '../core/standard-schema.ts'

/**
 * Headers that repeat arguments which a tool's schema marks with `x-mcp-header`, so that what stands between need not
 * read bodies: `{ region: { type: 'string', 'x-mcp-header': 'Region' } }` gives `Mcp-Param-Region`. Revision
 * 2026-07-28, transports; only plain ASCII values go as they are, others in base64.
 */
export function mirroredArguments(
  input: JsonSchema,
  args: Record<string, unknown>,
): Record<string, string> | undefined {
  const { properties } = input
  if (typeof properties !== 'object' || properties === null) return undefined
  const headers: Record<string, string> = {}
  for (const [name, property] of Object.entries(properties)) {
    const header = (property as { 'x-mcp-header'?: unknown } | null)?.['x-mcp-header']
    const value = args[name]
    if (typeof header !== 'string' || !/^[A-Za-z0-9_-]+$/.test(header)) continue
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue
    const text = String(value)
    const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    headers[`Mcp-Param-${header}`] = plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
  }
  return Object.keys(headers).length === 0 ? undefined : headers
}
