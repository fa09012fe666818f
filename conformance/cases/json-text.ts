import { jsonLine } from '../../packages/quintain/src/core/index.ts'
import {
  extractJson,
  extractToolCalls,
  isJson,
  type JsonMode,
  parseJsonAt,
  printJson,
  splitThinking,
} from '../../packages/quintain/src/models/index.ts'

type Input = Record<string, unknown>

export const ops: Record<string, (input: Input) => unknown> = {
  'json.extract': ({ text, mode }) =>
    extractJson(String(text), mode === undefined ? {} : { mode: mode as JsonMode }),
  'judge.json': ({ text, key }) => {
    const name = String(key)
    const extracted = extractJson(splitThinking(String(text), 'anywhere').content, { key: name })
    if (extracted.error !== undefined) return extracted
    const found = (extracted.value as Input)[name]
    if (!Array.isArray(found)) return { [name]: found }
    const entries = found as { name: string; verdict: unknown }[]
    return { [name]: Object.fromEntries(entries.map((entry) => [entry.name, entry.verdict])) }
  },
  'json.is_valid': ({ text }) => ({ valid: isJson(String(text)) }),
  'json.roundtrip': ({ text }) => {
    const parsed = parseJsonAt(String(text), 0, { lossless: true })
    return parsed.ok ? { text: printJson(parsed.value) } : { error: 'invalid_json', failure: parsed.failure }
  },
  'log.roundtrip': ({ content }) => {
    const bytes = Buffer.from(jsonLine({ content }))
    const valid = bytes.equals(Buffer.from(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
    const again = JSON.parse(bytes.toString()) as { content: unknown }
    return { valid_utf8: valid, reloads: again.content === content, content: again.content }
  },
  'toolcalls.extract_from_text': ({ text }) => {
    const { calls, malformed } = extractToolCalls(String(text))
    if (calls.length === 0 && malformed > 0) return { error: 'malformed' }
    return { calls: calls.map(({ name }) => name), malformed }
  },
}
