import type { Action, Observation, Script, ScriptContext, ScriptedCall } from '../core/environment.ts'
import { messageOf } from '../core/errors.ts'
import {
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
  textOf,
} from '../core/message.ts'
import { type Model, ModelFault, type ModelRequest, type ModelResponse } from '../core/model.ts'
import { cancelled } from './fault.ts'
import { randomValue } from './random-value.ts'
import { ignoredSettings } from './script-ignores.ts'
import { untilAborted } from './until-aborted.ts'

/** What a script's start is given here; the engine adds task, options and rng. */
export type ScriptStart = (context: Pick<ScriptContext<unknown, unknown>, 'observation' | 'tools'>) => Script

/**
 * A script as the model of one seat of one attempt: each call hands the script what is new and turns its action into
 * a reply. When the script returns, the reply has `ended: true`. A script that throws is a fault: `simulator` when it
 * plays another seat than `agent`, else `platform`.
 */
export function createScriptModel(options: {
  /** For records, such as `script:oracle`. */
  id: string
  seat?: string
  start: ScriptStart
}): Model {
  const { id, start } = options
  const owner = options.seat === undefined || options.seat === 'agent' ? 'platform' : 'simulator'
  let script: Script | undefined
  let ended = false
  let calls = 0

  function broken(code: string, thrown: unknown): ModelFault {
    ended = true
    return new ModelFault(
      { owner, stage: 'model', code, message: `${id}: ${messageOf(thrown)}`, retryable: false },
      { cause: thrown },
    )
  }

  function reply(
    action: Action | void,
    last: boolean,
    { began, request }: { began: number; request: ModelRequest },
  ): ModelResponse {
    const { text, calls: wanted } = readAction(action)
    const toolCalls: ToolCall[] = wanted.map((call) => ({
      id: `call_${++calls}`,
      name: offeredName(call.tool, request.tools),
      arguments: JSON.stringify(call.arguments ?? {}),
    }))
    const message: AssistantMessage = {
      role: 'assistant',
      content: text,
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    }
    const flags = ignoredSettings(request, { message })
    return {
      message,
      finish: toolCalls.length === 0 ? 'stop' : 'tool_calls',
      costUsd: 0,
      timing: { totalMs: performance.now() - began, waitMs: 0 },
      ...(flags.length === 0 ? {} : { flags }),
      ...(last ? { ended: true } : {}),
    }
  }

  return {
    id,
    async generate(request, { signal }) {
      const asked = { began: performance.now(), request }
      if (signal.aborted) throw cancelled()
      if (ended) return reply(undefined, true, asked)
      let step: IteratorResult<Action, Action | void>
      try {
        const first = script === undefined
        const observation = observe(request.messages, first)
        script ??= start({ observation, tools: toolsOf(request) })
        const next = first ? script.next() : script.next(observation)
        step = next instanceof Promise ? await untilAborted(next, signal) : next
      } catch (thrown) {
        if (thrown instanceof ModelFault) throw thrown
        throw broken('script_threw', thrown)
      }
      if (step.done) ended = true
      try {
        return reply(step.value, step.done === true, asked)
      } catch (thrown) {
        throw broken('script_bad_action', thrown)
      }
    },
    async close() {
      ended = true
      try {
        await script?.return(undefined)
      } catch {
        // What a script does after the rollout is over changes nothing.
      }
    },
  }
}

/**
 * A tool's name as the one who asks offers it. Programs put the name of a server before the tools that they have from it,
 * as in `mcp__shop__send_code`; a script knows them by the names that the world gives.
 */
function offeredName(name: string, tools: ModelRequest['tools'] = []): string {
  if (tools.some((tool) => tool.name === name)) return name
  const prefixed = tools.filter(
    (tool) =>
      tool.name.endsWith(name) && /(?:__|[./:])$/.test(tool.name.slice(0, tool.name.length - name.length)),
  )
  return prefixed.length === 1 ? prefixed[0]!.name : name
}

function toolsOf(request: ModelRequest): ScriptContext<unknown, unknown>['tools'] {
  return request.tools ?? []
}

/** What is new since the script's last reply. System messages are in `messages` only: they are not said to anybody. */
function observe(messages: readonly Message[], first: boolean): Observation {
  let from = 0
  if (!first) {
    from = messages.length
    while (from > 0 && messages[from - 1]!.role !== 'assistant') from--
  }
  let text = ''
  let said = false
  const results: ToolMessage[] = []
  for (let i = from; i < messages.length; i++) {
    const message = messages[i]!
    if (message.role === 'assistant' || message.role === 'system') continue
    if (message.role === 'tool') results.push(message)
    text += said ? `\n${textOf(message.content)}` : textOf(message.content)
    said = true
  }
  return { text, messages, results }
}

function readAction(action: Action | void): { text: string; calls: readonly ScriptedCall[] } {
  if (action === undefined) return { text: '', calls: [] }
  if (typeof action === 'string') return { text: action, calls: [] }
  let text = ''
  let calls: readonly ScriptedCall[]
  if (isCalls(action)) calls = action
  else if (typeof action === 'object' && action !== null && 'tool' in action) calls = [action]
  else if (typeof action === 'object' && action !== null && typeof action.text === 'string') {
    text = action.text
    calls = action.calls ?? []
  } else throw new TypeError('a script yields text, a call { tool, arguments }, calls, or { text, calls }')
  for (const call of calls) {
    if (typeof call?.tool !== 'string') throw new TypeError('a call of a script needs the name of its tool')
  }
  return { text, calls }
}

function isCalls(action: Action): action is readonly ScriptedCall[] {
  return Array.isArray(action)
}

/** The no-op policy: says one empty message and ends. */
export function* noop(): Generator<Action, Action | void, Observation> {
  yield ''
}

/** How many calls `randomCalls` makes at most, so that a rollout without a turn limit ends. */
export const randomCallsMost = 100

/**
 * Random legal play in any environment with tools: a tool and arguments drawn from its JSON Schema, again and again.
 * Ends at once where there are no tools; an environment of text moves ships its own `policies.random`.
 */
export function* randomCalls(
  context: Pick<ScriptContext<unknown, unknown>, 'rng' | 'tools'>,
): Generator<Action, Action | void, Observation> {
  const { rng, tools } = context
  if (tools.length === 0) return
  for (let count = 0; count < randomCallsMost; count++) {
    const tool = rng.pick(tools)
    const value = randomValue(tool.parameters, rng)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    yield { tool: tool.name, arguments: isObject ? (value as Record<string, unknown>) : {} }
  }
}
