import { didYouMean } from '../../core/index.ts'
import type { GraderItem, GraderSample } from './grader.ts'
import { outputJsonOf } from './output-json.ts'

/** A piece of a template: text as it stands, or the place of a value. */
export type TemplatePart = { text: string } | { path: readonly string[]; source: string }

export type TemplateReading = { ok: true; parts: readonly TemplatePart[] } | { ok: false; message: string }

/** Braces that start with no letter, such as those of an example in JSON, are text. */
const placeholder = /\{\{\s*([\p{L}_$][^{}]*)\}\}/gu
const step = /\.?\s*\[\s*(?:(\d+)|"([^"]*)"|'([^']*)')\s*\]|\.([^.[\]|]+)/y
/** Characters that a template may come to: an agent can say much, and a template name it often. */
const mostText = 50_000_000

/**
 * Reads a template of a hosted grader: `{{ item.x }}` and `{{ sample.y[0].z }}` are places, and all else is text. What is
 * put there is data and is never read as a template again. Never throws.
 */
export function parseTemplate(text: string): TemplateReading {
  const parts: TemplatePart[] = []
  let from = 0
  for (const found of text.matchAll(placeholder)) {
    const source = found[1]!.trim()
    const path = pathOf(source)
    if (path === undefined)
      return {
        ok: false,
        message: `{{ ${source.slice(0, 80)} }} names no field; write item.NAME or sample.NAME`,
      }
    if (found.index > from) parts.push({ text: text.slice(from, found.index) })
    parts.push({ path, source })
    from = found.index + found[0].length
  }
  if (from < text.length) parts.push({ text: text.slice(from) })
  return { ok: true, parts }
}

function pathOf(source: string): string[] | undefined {
  const root = /^(?:item|sample)(?![^.[\s])/.exec(source)?.[0]
  if (root === undefined) return undefined
  const path = [root]
  step.lastIndex = root.length
  while (step.lastIndex < source.length) {
    const found = step.exec(source)
    if (found === null) return undefined
    path.push(found[1] ?? found[2] ?? found[3] ?? found[4]!.trim())
  }
  return path
}

/** Names of the fields that templates read, such as `item.answer`. */
export function fieldsOf(text: string): string[] {
  const reading = parseTemplate(text)
  if (!reading.ok) return []
  return reading.parts.flatMap((part) => ('path' in part ? [part.path.slice(0, 2).join('.')] : []))
}

/**
 * A template with its values, or why there is none: `invalid_variable_error` for a field that is not there, which is the
 * grader's fault; `sample_parse_error` for a part of the answer that the agent did not give, which is the agent's.
 */
export type Rendered = { ok: true; text: string } | Missing

interface Missing {
  ok: false
  code: 'invalid_variable_error' | 'sample_parse_error'
  message: string
}

/** Fills a template, once. Texts come in as they are, everything else as JSON. Never throws. */
export function renderTemplate(
  template: string,
  { item, sample }: { item: GraderItem; sample: GraderSample },
): Rendered {
  const reading = parseTemplate(template)
  if (!reading.ok) return { ok: false, code: 'invalid_variable_error', message: reading.message }
  let text = ''
  for (const part of reading.parts) {
    let piece: string | undefined
    if ('text' in part) piece = part.text
    else {
      const [root, ...path] = part.path
      const found = root === 'item' ? inItem(item, path) : inSample(sample, path)
      if (!found.ok) return { ...found, message: `{{ ${part.source.slice(0, 80)} }} ${found.message}` }
      piece = textOf(found.value)
    }
    if (piece === undefined || text.length + piece.length > mostText)
      return { ok: false, code: 'sample_parse_error', message: 'the answer is too long to be shown' }
    text += piece
  }
  return { ok: true, text }
}

type Found = { ok: true; value: unknown } | Missing

function inItem(item: GraderItem, path: readonly string[]): Found {
  const value = valueAt(item, path)
  if (value !== undefined) return { ok: true, value }
  const hint =
    path[0] === undefined || Object.hasOwn(item, path[0]) ? '' : didYouMean(path[0], Object.keys(item))
  return { ok: false, code: 'invalid_variable_error', message: `is not there${hint}` }
}

const partsOfSamples = ['output_text', 'output_json', 'output_tools', 'choices', 'output_audio']

function inSample(sample: GraderSample, [field, ...path]: readonly string[]): Found {
  if (field === undefined) return { ok: true, value: sample }
  const whole = wholeOf(sample, field)
  if (whole === undefined) {
    if (field === 'output_json')
      return { ok: false, code: 'sample_parse_error', message: 'is read as JSON, and the answer is none' }
    const hint = didYouMean(field, partsOfSamples)
    return { ok: false, code: 'invalid_variable_error', message: `is not there${hint}` }
  }
  const value = valueAt(whole, path)
  if (value !== undefined) return { ok: true, value }
  return { ok: false, code: 'sample_parse_error', message: 'is no part of what the agent gave' }
}

function wholeOf(sample: GraderSample, field: string): unknown {
  if (field === 'output_json') return outputJsonOf(sample)
  // An answer without calls has an empty list of them.
  return valueAt(sample, [field]) ?? (field === 'output_tools' ? [] : undefined)
}

/** By own fields and places in lists alone. */
function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root
  for (const name of path) {
    const isHeld = Array.isArray(value)
      ? /^\d+$/.test(name) && Object.hasOwn(value, name)
      : typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    value = isHeld ? (value as Record<string, unknown>)[name] : undefined
  }
  return value
}

/** Text as it is, everything else as JSON; undefined for what is none, or too deep to be written. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
