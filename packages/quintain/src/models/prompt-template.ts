import { didYouMean, jsonProblem, nestsTooDeep, QuintainError, sha256 } from '../core/index.ts'

/** What the placeholders of a template may name, by the first word of their path. */
export type PromptVariables = Readonly<Record<string, unknown>>

/** `{{path.to.value}}`, an escape of a JSON text, or a quote of it. */
const placeholder = /\{\{([\s\S]*?)\}\}/g
const jsonPieces = /\{\{([\s\S]*?)\}\}|\\[\s\S]|"/g

/**
 * Fills the placeholders `{{path.to.value}}` of a template, once: what comes in is data and is never looked at for
 * placeholders again. There is no logic and no escaping. Texts come in as they are, what has parts as JSON. A path goes by
 * own properties and places in lists alone.
 *
 * Throws `undefined_variable` with the name for what was not given: an empty field would go to a paid model unseen.
 *
 * @example renderPrompt('Question: {{task.text}}', { task: { text: '2 + 2?' } })
 */
export function renderPrompt(template: string, variables: PromptVariables): string {
  return template.replace(placeholder, (_, name: string) => textOfValue(lookUp(name, variables)))
}

/**
 * Fills the placeholders of a template that is JSON, such as a list of messages, and gives its value. Inside of strings
 * they stand for text, whatever quotes and line ends it has; elsewhere for a value.
 *
 * Throws `undefined_variable`, and `prompt_invalid` when the template is no JSON.
 *
 * @example renderJsonPrompt('[{"role":"user","content":"About {{name}}"}]', { name: 'Ann "Bo" Roe' })
 */
export function renderJsonPrompt(template: string, variables: PromptVariables): unknown {
  return parsed(filled(template, (name) => lookUp(name, variables)))
}

/** A prompt as a file holds it: for `renderPrompt` or for `renderJsonPrompt`. */
export interface PromptTemplate {
  form: 'text' | 'json'
  template: string
}

/**
 * The prompts of a file. A file that is JSON is one prompt, whatever stands in its strings, or one for each element of a
 * list of lists or of texts; any other text is divided at lines that are `---` and nothing more.
 */
export function loadPrompts(file: string): PromptTemplate[] {
  const text = file.replace(/^\uFEFF/, '')
  const value = jsonOf(text)
  if (value === undefined) {
    const parts = text.split(/^---[ \t]*\r?(?:\n|$)/m).map((part) => part.trim())
    return parts.filter((part) => part !== '').map((template) => ({ form: 'text', template }))
  }
  if (typeof value === 'string') return [{ form: 'text', template: value }]
  const isList = Array.isArray(value) && value.length > 0
  if (isList && value.every((one) => typeof one === 'string'))
    return value.map((template) => ({ form: 'text', template }))
  if (isList && value.every(Array.isArray))
    return value.map((one) => ({ form: 'json', template: JSON.stringify(one) }))
  return [{ form: 'json', template: text }]
}

/**
 * Text of somebody else's between tags whose name does not occur in it, in any spelling, so that nothing in it can end it:
 * for prompts that show a model what another has written. Where the name occurs, a digest of the text is added to it, which
 * the text cannot hold.
 *
 * @example promptData('answer', 'It is four.') // <answer>\nIt is four.\n</answer>
 */
export function promptData(name: string, text: string): string {
  const occurs = text.toLowerCase().includes(name.toLowerCase())
  const tag = occurs ? `${name}-${sha256(text).slice(0, 12)}` : name
  return `<${tag}>\n${text}\n</${tag}>`
}

/** A JSON template with values in place of its placeholders; still text. */
function filled(template: string, value: (name: string) => unknown): string {
  let inString = false
  return template.replace(jsonPieces, (piece, name?: string) => {
    if (piece === '"') inString = !inString
    if (name === undefined) return piece
    const given = value(name)
    return inString ? JSON.stringify(textOfValue(given)).slice(1, -1) : (JSON.stringify(given) ?? 'null')
  })
}

function parsed(text: string): unknown {
  try {
    if (nestsTooDeep(text)) throw new SyntaxError('It nests too deep')
    return JSON.parse(text)
  } catch (error) {
    throw new QuintainError('prompt_invalid', `A prompt that is to be JSON is none: ${jsonProblem(error)}.`, {
      cause: error,
    })
  }
}

/** The value of a text that is JSON, with or without placeholders outside of strings; undefined for what is none. */
function jsonOf(text: string): unknown {
  for (const candidate of [text, filled(text, () => null)]) {
    try {
      return JSON.parse(candidate)
    } catch {}
  }
  return undefined
}

function lookUp(written: string, variables: PromptVariables): unknown {
  const name = written.trim()
  let value: unknown = variables
  for (const step of name.split('.')) {
    const isHeld = Array.isArray(value)
      ? /^\d+$/.test(step) && Object.hasOwn(value, step)
      : typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    value = isHeld ? (value as Record<string, unknown>)[step] : undefined
  }
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') {
    const known = [...pathsOf(variables)]
    throw new QuintainError(
      'undefined_variable',
      `The prompt names "${name}", which was not given${didYouMean(name, known)}`,
      {
        facts: { name },
      },
    )
  }
  return value
}

/** Paths that a slip may have meant: two steps deep. */
function* pathsOf(variables: PromptVariables): Generator<string> {
  for (const [name, value] of Object.entries(variables)) {
    yield name
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      for (const inner of Object.keys(value)) yield `${name}.${inner}`
  }
}

function textOfValue(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
