import { type Content, content, type Seat, type Tool, type Turn } from '../core/index.ts'
import { worldFault } from './step.ts'

/** Content that a world gave; a `StepFailure` of the world for anything else. */
export function checkedContent(value: unknown, stage: string, what: string): Content {
  if (typeof value === 'string') return value
  const parsed = content.safeParse(value)
  if (parsed.success) return parsed.data
  throw worldFault(stage, 'bad_content', `${what} gave ${kindOf(value)}; content is text or parts`)
}

/** A turn that a world gave; a `StepFailure` of the world for what is none. */
export function checkedTurn(value: unknown, stage: string, what: string): Turn {
  const refuse = (problem: string) => {
    throw worldFault(
      stage,
      'bad_turn',
      `${what} gave ${problem}; a turn is { content, done?, reward?, next? }`,
    )
  }
  if (typeof value !== 'object' || value === null || !('content' in value)) refuse(kindOf(value))
  // Read once, each a plain copy: what a getter gives the second time was not looked at.
  const { content: said, done, reward, next } = value as Turn
  const turn = turnOf(said, done, next)
  if (reward !== undefined) turn.reward = reward
  if (typeof turn.content !== 'string' && !content.safeParse(turn.content).success)
    refuse(`a turn whose content is ${kindOf(turn.content)}`)
  if (turn.done !== undefined && typeof turn.done !== 'string')
    refuse(`a turn whose "done" is ${kindOf(turn.done)} and not the reason of the end as text`)
  if (turn.reward !== undefined && !Number.isFinite(turn.reward))
    refuse(`a turn whose reward is no finite number`)
  if (turn.next !== undefined && typeof turn.next !== 'string') refuse('a turn whose "next" names no seat')
  return turn
}

/** A turn without a field that would say nothing. By hand: it is made thousands of times a second. */
export function turnOf(content: Content, done: string | undefined, next: Seat | undefined): Turn {
  const turn: Turn = { content }
  if (done !== undefined) turn.done = done
  if (next !== undefined) turn.next = next
  return turn
}

/** Tools that a world gave, each with a name of its own; a `StepFailure` of the world for anything else. */
export function checkedTools(value: unknown): readonly Tool[] {
  const refuse = (problem: string) => {
    throw worldFault('tools', 'bad_tools', `world.tools() gave ${problem}; give a list of what tool() made`)
  }
  if (!Array.isArray(value)) refuse(kindOf(value))
  const tools = value as Tool[]
  const names = new Set<string>()
  for (const tool of tools) {
    if (typeof tool?.name !== 'string' || typeof tool.run !== 'function' || tool.spec === undefined)
      refuse('something that is no tool')
    if (names.has(tool.name)) refuse(`two tools with the name "${tool.name}"`)
    names.add(tool.name)
  }
  return tools
}

/** Addresses that a world gave, as a plain copy; a `StepFailure` of the world for anything else. */
export function checkedEndpoints(value: unknown): Record<string, string> {
  if (value === undefined) return {}
  const entries =
    typeof value === 'object' && value !== null ? Object.entries(value as Record<string, unknown>) : undefined
  if (entries === undefined || Array.isArray(value) || entries.some(([, at]) => typeof at !== 'string'))
    throw worldFault('open', 'bad_endpoints', `world.endpoints() gave ${kindOf(value)}; give text by name`)
  return Object.fromEntries(entries) as Record<string, string>
}

/** What kind of thing a value is, without saying the value, which may be secret. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing (undefined)'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
