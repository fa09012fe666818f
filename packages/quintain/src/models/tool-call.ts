import type { Turn } from '../core/environment.ts'
import { QuintainError } from '../core/errors.ts'
import { mostNesting, nestsTooDeep } from '../core/json-depth.ts'
import { parseJsonAt } from '../core/json-parse.ts'
import type { Content, ToolCall, ToolMessage } from '../core/message.ts'
import { type Schema, validate } from '../core/standard-schema.ts'
import { didYouMean } from '../core/suggest.ts'
import type { ToolResult } from '../core/tool.ts'

/** Why a tool call was not carried out. A tool's own failures have codes of its own. */
export const toolErrorCodes = [
  /** The seat has no tool of this name. */
  'unknown_tool',
  /** The arguments break the JSON grammar before their end, or nest deeper than anything that is meant. */
  'malformed',
  /** The reply or its arguments were cut; no call of the reply was run. */
  'truncated',
  /** The arguments are JSON, but not an object. */
  'arguments_not_object',
  /** The arguments do not fit the tool's schema. */
  'arguments_invalid',
  /** An earlier call of the same reply ended the episode. */
  'episode_over',
] as const
export type ToolErrorCode = (typeof toolErrorCodes)[number]

/** Oddities of arguments that were understood all the same. */
export type ArgumentFlag = 'object_arguments' | 'double_encoded' | 'trailing_quotes'

export type ParsedArguments =
  | { arguments: Record<string, unknown>; flags: ArgumentFlag[]; error?: undefined }
  | {
      arguments?: undefined
      error: 'malformed' | 'truncated' | 'arguments_not_object'
      message: string
      flags: ArgumentFlag[]
    }

const cutMessage =
  'Your reply was cut before its end, so none of its tool calls was run. Answer again, more briefly.'

/**
 * The arguments of a tool call, whatever a model or server made of them. Never throws.
 *
 * Nothing and `null` are no arguments; objects pass; text that is JSON in JSON is unwrapped; stray quotes after the
 * value are dropped. A text that stops inside a value is `truncated`, one that is wrong before its end `malformed`.
 */
export function parseToolArguments(raw: unknown): ParsedArguments {
  if (raw === undefined || raw === null) return { arguments: {}, flags: [] }
  if (typeof raw === 'string') return parseArgumentText(raw, [], 0)
  return fromValue(raw, ['object_arguments'], 0)
}

function parseArgumentText(text: string, flags: ArgumentFlag[], depth: number): ParsedArguments {
  if (text.trim() === '') return { arguments: {}, flags }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A raw line break before an open end must not hide that the text was cut.
    const options = { duplicateKeys: 'last', rawControls: true } as const
    const parsed = parseJsonAt(text, 0, options)
    if (!parsed.ok) {
      if (parsed.failure === 'truncated') {
        const message =
          'The arguments stop before their end, so none of the calls was run. Send them whole; where the reply was cut, answer more briefly.'
        return { error: 'truncated', message, flags }
      }
      const near = JSON.stringify(text.slice(Math.max(0, parsed.position - 20), parsed.position + 20))
      const message = `The arguments are no valid JSON (at character ${parsed.position}, near ${near}). Send one JSON object.`
      return { error: 'malformed', message, flags }
    }
    if (parsed.repairs.size > 0 || !/^[\s"]*$/.test(text.slice(parsed.end))) {
      const where =
        parsed.repairs.size > 0
          ? 'a string holds a raw control character; write \\n for a line break'
          : `text follows the value at character ${parsed.end}`
      return { error: 'malformed', message: `The arguments are no valid JSON: ${where}.`, flags }
    }
    flags.push('trailing_quotes')
    value = parsed.value
  }
  // A value that outgrows the stack of whoever walks it would make a fault of the world of what is the model's mistake.
  if (nestsTooDeep(text)) {
    const message = `The arguments nest more than ${mostNesting} levels deep. Send a flatter object.`
    return { error: 'malformed', message, flags }
  }
  return fromValue(value, flags, depth)
}

function fromValue(value: unknown, flags: ArgumentFlag[], depth: number): ParsedArguments {
  if (value === null) return { arguments: {}, flags }
  if (typeof value === 'object' && !Array.isArray(value))
    return { arguments: value as Record<string, unknown>, flags }
  if (typeof value === 'string' && depth < 3 && (value.trim() === '' || /^\s*["{]/.test(value))) {
    if (!flags.includes('double_encoded')) flags.push('double_encoded')
    return parseArgumentText(value, flags, depth + 1)
  }
  const kind = Array.isArray(value) ? 'an array' : `a ${typeof value}`
  return {
    error: 'arguments_not_object',
    message: `The arguments must be one JSON object, but they are ${kind}.`,
    flags,
  }
}

export type CallFlag = 'missing_call_id' | 'duplicate_call_id' | 'object_arguments'

/**
 * Tool calls of a provider's message in our shape. Reads `{ id, function: { name, arguments } }` and
 * `{ id, name, arguments }`; arguments stay the text that was sampled. Missing and repeated ids are replaced, so that
 * results pair one to one; `taken` holds ids of earlier turns and is added to. Never throws.
 */
export function normalizeToolCalls(
  raw: unknown,
  taken: Set<string> = new Set(),
): { calls: ToolCall[]; flags: CallFlag[] } {
  const calls: ToolCall[] = []
  const flags = new Set<CallFlag>()
  if (!Array.isArray(raw)) return { calls, flags: [] }
  for (const [position, entry] of raw.entries()) {
    if (typeof entry !== 'object' || entry === null) continue
    const outer = entry as Record<string, unknown>
    const inner = (
      typeof outer['function'] === 'object' && outer['function'] !== null ? outer['function'] : outer
    ) as Record<string, unknown>
    const text = inner['arguments'] ?? inner['input']
    if (text !== undefined && text !== null && typeof text !== 'string') flags.add('object_arguments')
    const given = idOf(outer['id'])
    if (given === '') flags.add('missing_call_id')
    else if (taken.has(given)) flags.add('duplicate_call_id')
    calls.push({
      id: uniqueCallId(given, position, taken),
      name: typeof inner['name'] === 'string' ? inner['name'] : '',
      arguments: typeof text === 'string' ? text : text === undefined || text === null ? '' : safeText(text),
    })
  }
  return { calls, flags: [...flags] }
}

/** The id of a reply's call at `position` (from 0), given what the server called it, if anything; `taken` is added to. */
export function uniqueCallId(given: string, position: number, taken: Set<string>): string {
  let id = given === '' ? `call_${position + 1}` : given
  if (taken.has(id)) {
    let count = 2
    while (taken.has(`${id}_${count}`)) count++
    id = `${id}_${count}`
  }
  taken.add(id)
  return id
}

function idOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

function safeText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** What `runToolCalls` needs of a tool; `Tool` of the core fits. */
export interface CallableTool {
  readonly name: string
  readonly schema?: Schema
}

/** One call of a reply and what came of it. */
export interface ToolCallResult {
  call: ToolCall
  message: ToolMessage
  /** Whether the tool ran. */
  executed: boolean
  /** Parsed arguments; undefined when they could not be parsed. */
  arguments?: Record<string, unknown>
  /** The turn, when the tool gave one. */
  turn?: Turn
}

export interface ToolStep {
  /** One message per call, in order. */
  messages: ToolMessage[]
  results: ToolCallResult[]
  /** How many tools ran. */
  executed: number
  /** Set when a tool's result ended the episode. */
  done?: string
  /** The reply was cut, by its finish or by an argument text that ends open. */
  truncated: boolean
  /** In-band tool errors by code. */
  errors: Record<string, number>
  /** Oddities of arguments, once each. */
  flags: string[]
}

/**
 * Carries out the tool calls of one model reply, in order, and gives one message per call. Whatever the model got
 * wrong comes back as a message with `error`; when the reply was cut, no call of it is run. Throws what `execute`
 * throws, and `definition_invalid` when a tool returns something that is no tool result.
 *
 * @example
 * const step = await runToolCalls({ calls, tools, truncated: finish === 'length', execute: (tool, input) => tool.run(input) })
 */
export async function runToolCalls<T extends CallableTool>(options: {
  calls: readonly ToolCall[]
  tools: ReadonlyMap<string, T> | readonly T[]
  /** The reply ended with `length`. */
  truncated: boolean
  /** `input` is what the tool's schema made of the arguments. */
  execute(tool: T, input: unknown, call: ToolCall): ToolResult | Promise<ToolResult>
}): Promise<ToolStep> {
  const tools =
    options.tools instanceof Map
      ? (options.tools as ReadonlyMap<string, T>)
      : new Map((options.tools as readonly T[]).map((tool) => [tool.name, tool]))
  const parsed = options.calls.map((call) => parseToolArguments(call.arguments))
  const truncated = options.truncated || parsed.some((entry) => entry.error === 'truncated')
  const flags = new Set<string>()
  const step: ToolStep = { messages: [], results: [], executed: 0, truncated, errors: {}, flags: [] }

  const add = (call: ToolCall, content: Content, rest: Partial<ToolCallResult>, error?: string): void => {
    const message: ToolMessage = {
      role: 'tool',
      toolCallId: call.id,
      ...(call.name === '' ? {} : { name: call.name }),
      content,
      ...(error === undefined ? {} : { error }),
    }
    if (error !== undefined) step.errors[error] = (step.errors[error] ?? 0) + 1
    step.messages.push(message)
    step.results.push({ executed: false, ...rest, call, message })
  }

  for (const [index, call] of options.calls.entries()) {
    const entry = parsed[index]!
    for (const flag of entry.flags) flags.add(flag)
    const known = entry.arguments === undefined ? {} : { arguments: entry.arguments }
    if (truncated) {
      add(call, cutMessage, known, 'truncated')
      continue
    }
    if (step.done !== undefined) {
      add(call, 'Not run: an earlier call ended the episode.', known, 'episode_over')
      continue
    }
    const tool = tools.get(call.name)
    if (tool === undefined) {
      add(call, unknownTool(call.name, tools), known, 'unknown_tool')
      continue
    }
    if (entry.error !== undefined) {
      add(call, entry.message, known, entry.error)
      continue
    }
    let input: unknown = entry.arguments
    if (tool.schema !== undefined) {
      const checked = await validate(tool.schema, entry.arguments)
      if (checked.issues !== undefined) {
        const issues = checked.issues.slice(0, 5)
        const text = issues
          .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
          .join('; ')
        add(call, `The arguments do not fit "${call.name}": ${text}`, known, 'arguments_invalid')
        continue
      }
      input = checked.value
    }
    const result = await options.execute(tool, input, call)
    step.executed++
    if (typeof result === 'string' || Array.isArray(result)) {
      add(call, result, { ...known, executed: true })
    } else if (typeof result === 'object' && result !== null && 'toolError' in result) {
      add(call, result.message, { ...known, executed: true }, result.toolError)
    } else if (typeof result === 'object' && result !== null && 'content' in result) {
      add(call, result.content, { ...known, executed: true, turn: result })
      if (result.done !== undefined) step.done = result.done
    } else {
      throw new QuintainError(
        'definition_invalid',
        `Tool "${call.name}" returned ${result === null ? 'null' : `a value of type ${typeof result}`}; return text, parts, a turn { content }, or toolError().`,
        { facts: { tool: call.name } },
      )
    }
  }
  step.flags = [...flags]
  return step
}

function unknownTool(name: string, tools: ReadonlyMap<string, unknown>): string {
  const names = [...tools.keys()]
  if (names.length === 0) return `There is no tool "${name}"; this conversation has no tools.`
  const listed = names.length > 20 ? `${names.slice(0, 20).join(', ')}, …` : names.join(', ')
  return `There is no tool "${name}"${didYouMean(name, names)} Tools: ${listed}.`
}

/** How many cut replies in a row end a rollout with the outcome `truncated`: the same prompt and limit cut again. */
export const truncatedRepliesAllowed = 3

/** Counts cut replies in a row. `stop` says that the rollout ends as `truncated`. */
export function countTruncation(inARow: number, truncated: boolean): { inARow: number; stop: boolean } {
  const next = truncated ? inARow + 1 : 0
  return { inARow: next, stop: next >= truncatedRepliesAllowed }
}
