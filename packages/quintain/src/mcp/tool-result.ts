import { z } from 'zod'
import type { Content } from '../core/message.ts'
import type { JsonSchema } from '../core/standard-schema.ts'
import { type ToolFailure, toolError } from '../core/tool.ts'
import { cutWithMarker } from './cut-text.ts'
import { checkJsonSchema } from './schema-check.ts'

/** A tool result as any server may send it; what stands in `content` is read block by block. */
export const callResult = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
})
export type CallResult = z.infer<typeof callResult>

/** Why a result breaks what its tool declares. */
export type ResultProblem = 'structured_content_missing' | 'structured_content_invalid'

/**
 * Holds a result against its tool's `outputSchema`. A result that is an error need not fit, and one that takes too long to
 * be checked is taken as it is. Presence is asked of `undefined`, since `0`, `false` and `null` are values.
 */
export async function checkCallResult(
  result: CallResult,
  outputSchema: JsonSchema | undefined,
): Promise<{ error: ResultProblem; message: string } | undefined> {
  if (outputSchema === undefined || result.isError === true) return undefined
  if (result.structuredContent === undefined)
    return {
      error: 'structured_content_missing',
      message: 'its tool declares an output schema, but the result has no structuredContent',
    }
  const fit = await checkJsonSchema(outputSchema, result.structuredContent)
  if (fit.kind !== 'wrong') return undefined
  return {
    error: 'structured_content_invalid',
    message: `its structuredContent does not fit: ${fit.problem}`,
  }
}

/** A text that a model saw the beginning of, whole. */
export interface CutText {
  text: string
  bytes: number
}

/**
 * A tool result as a model reads it: text, or parts where there are images. A result without content shows its
 * `structuredContent` as JSON. Texts have `maxBytes` together; `onCut` gets whole what had to be cut.
 */
export function contentForModel(
  result: CallResult,
  limits: { maxBytes: number; onCut?(cut: CutText): void },
): Content | ToolFailure {
  const parts = (result.content ?? []).map(partOf).filter((part) => part !== undefined)
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push({ type: 'text', text: JSON.stringify(result.structuredContent) })
  const texts = parts.filter((part) => part.type === 'text')
  const whole = texts.map(({ text }) => text).join('\n')
  const cut = cutWithMarker(whole, limits.maxBytes)
  if (cut.truncated) limits.onCut?.({ text: whole, bytes: cut.bytes })
  if (result.isError === true) return toolError('tool_error', cut.text === '' ? 'The tool failed.' : cut.text)
  if (texts.length === parts.length) return cut.text
  if (!cut.truncated) return parts
  return [{ type: 'text', text: cut.text }, ...parts.filter((part) => part.type === 'image')]
}

type Part = Exclude<Content, string>[number]

/** A content block as a part that a model can be shown; what it cannot be shown is named. */
function partOf(block: unknown): Part | undefined {
  if (typeof block !== 'object' || block === null) return undefined
  const { type, text, data, mimeType, uri, name, resource } = block as Record<string, unknown>
  switch (type) {
    case 'text':
      return { type, text: typeof text === 'string' ? text : '' }
    case 'image':
      return typeof data === 'string' && typeof mimeType === 'string'
        ? { type, mediaType: mimeType, data }
        : { type: 'text', text: '[an image that cannot be read]' }
    case 'resource':
      return resourcePart(resource)
    case 'resource_link':
      return {
        type: 'text',
        text: `[resource ${typeof name === 'string' ? `${name}: ` : ''}${typeof uri === 'string' ? uri : 'without an address'}]`,
      }
    default:
      return {
        type: 'text',
        text: `[${typeof type === 'string' ? type : 'a block of no type'} is not shown]`,
      }
  }
}

function resourcePart(resource: unknown): Part {
  const { uri, mimeType, text, blob } = (
    typeof resource === 'object' && resource !== null ? resource : {}
  ) as Record<string, unknown>
  if (typeof text === 'string') return { type: 'text', text }
  if (typeof blob === 'string' && typeof mimeType === 'string' && mimeType.startsWith('image/'))
    return { type: 'image', mediaType: mimeType, data: blob }
  return { type: 'text', text: `[resource ${typeof uri === 'string' ? `${uri} ` : ''}is not shown]` }
}
