import type { GraderItem, GraderSample } from '../../scoring/index.ts'

/** A saved output with what the vendor's graders gave it, by the name of the grader. */
export interface ParityRow {
  /** Line of the file, from one. */
  line: number
  item: GraderItem
  sample: GraderSample
  expected: Readonly<Record<string, { score: number | null; passed?: boolean }>>
}

/** A row, or what is wrong with a line. */
export type ReadParityRow = { ok: true; row: ParityRow } | { ok: false; line: number; problem: string }

type Loose = Record<string, unknown>

/**
 * A line of a file of saved outputs: `{ item, sample, expected }`, where `sample` is the text or an object with
 * `output_text`, and `expected` a number or numbers by grader; or an output item of an eval run (`datasource_item`, `sample`,
 * `results`). `only` is the name that a bare number is for.
 */
export function readParityRow(value: unknown, line: number, only: string): ReadParityRow {
  const problem = (what: string): ReadParityRow => ({ ok: false, line, problem: what })
  if (!isObject(value)) return problem('is no object')
  const item = value['item'] ?? value['datasource_item'] ?? {}
  if (!isObject(item)) return problem('has an "item" that is no object')
  const sample = sampleOf(value['sample'] ?? value['model_sample'])
  if (sample === undefined) return problem('has no "sample" with a text')
  const expected = expectedOf(value['expected'] ?? value['results'] ?? value['reward'], only)
  if (expected === undefined)
    return problem('has no "expected": a number, or numbers by the name of the grader')
  return { ok: true, row: { line, item: isObject(item['item']) ? item['item'] : item, sample, expected } }
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sampleOf(value: unknown): GraderSample | undefined {
  if (typeof value === 'string') return withJson({ output_text: value })
  if (!isObject(value)) return undefined
  if (typeof value['output_text'] === 'string')
    return withJson({ ...value, output_text: value['output_text'] } as GraderSample)
  // An eval run keeps the messages that the model gave.
  const output = Array.isArray(value['output']) ? (value['output'] as unknown[]) : undefined
  const last = output?.findLast((one) => isObject(one) && one['role'] === 'assistant')
  if (!isObject(last)) return undefined
  const text = textOf(last['content'])
  const tools = Array.isArray(last['tool_calls']) ? { output_tools: last['tool_calls'] as unknown[] } : {}
  return withJson({ output_text: text, ...tools })
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

/** The vendor parses a saved text that is JSON. */
function withJson(sample: GraderSample): GraderSample {
  if (sample.output_json !== undefined) return sample
  try {
    return { ...sample, output_json: JSON.parse(sample.output_text) as unknown }
  } catch {
    return sample
  }
}

function expectedOf(value: unknown, only: string): ParityRow['expected'] | undefined {
  if (typeof value === 'number') return { [only]: { score: value } }
  if (Array.isArray(value)) {
    const named = value.flatMap((one): [string, { score: number | null; passed?: boolean }][] => {
      if (!isObject(one) || typeof one['name'] !== 'string') return []
      const { name, score, passed } = one
      const number = typeof score === 'number' ? score : typeof passed === 'boolean' ? Number(passed) : null
      // An eval run adds a number of its own to the names of its criteria.
      return [[bareName(name), { score: number, ...(typeof passed === 'boolean' ? { passed } : {}) }]]
    })
    return named.length === 0 ? undefined : Object.fromEntries(named)
  }
  if (!isObject(value)) return undefined
  const entries = Object.entries(value)
  if (entries.some(([, score]) => score !== null && typeof score !== 'number')) return undefined
  return entries.length === 0
    ? undefined
    : Object.fromEntries(entries.map(([name, score]) => [name, { score: score as number | null }]))
}

/** `exact match-3f0c…-uuid` is the criterion `exact match`. */
export function bareName(name: string): string {
  return name.replace(/-[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i, '')
}
