import type { AssistantMessage, Message } from '../../core/index.ts'
import { howToSpeak } from '../session/how-to-speak.ts'
import type { Opening } from '../session/session.ts'
import { type Block, blocksOf, textBlock } from './blocks.ts'

/** A turn of the conversation that a task begins with; what tools answered stands in the user's turns. */
export interface Turn {
  role: 'system' | 'user' | 'assistant'
  blocks: (Block | ToolCallBlock | ToolResultBlock)[]
  detail: null
}

interface ToolCallBlock {
  type: 'tool_call'
  id: string
  name: string
  input: Record<string, unknown>
  detail: null
}

interface ToolResultBlock {
  type: 'tool_result'
  tool_call_id: string
  blocks: Block[]
  is_error: boolean
  detail: null
}

/**
 * What an agent is told, as blocks without roles, which is all that most clients look at. Texts that follow one another
 * are one block, since some clients join blocks by a line break and others by nothing.
 */
export function promptBlocks(opening: Opening): Block[] {
  const { messages } = opening
  // Who said what has to be told only where not all of it is said to the agent.
  const labelled = messages.some(({ role }) => role === 'assistant' || role === 'tool')
  const blocks: Block[] = []
  const add = (block: Block) => {
    const last = blocks.at(-1)
    if (block.type === 'text' && last?.type === 'text')
      blocks[blocks.length - 1] = textBlock(`${last.text}\n\n${block.text}`)
    else blocks.push(block)
  }
  for (const message of messages) {
    if (labelled && message.role !== 'system') add(textBlock(`${labels[message.role]}:`))
    for (const block of blocksOf(message.content)) add(block)
    if (message.role === 'assistant')
      for (const { name, arguments: given } of message.toolCalls ?? []) add(textBlock(`[${name} ${given}]`))
  }
  const how = howToSpeak(opening)
  if (how !== undefined) add(textBlock(how))
  return blocks
}

const labels = { user: 'User', assistant: 'Assistant', tool: 'Tool' } as const

/** The same with roles, for clients that ask for it. */
export function promptTurns(opening: Opening): Turn[] {
  const turns = opening.messages.map(turnOf)
  const how = howToSpeak(opening)
  if (how === undefined) return turns
  const last = turns.at(-1)
  if (last?.role !== 'user') return [...turns, { role: 'user', blocks: [textBlock(how)], detail: null }]
  // One text stays one: clients make a plain message of it, and a list of anything else.
  const end = last.blocks.at(-1)
  if (end?.type === 'text') end.text += `\n\n${how}`
  else last.blocks.push(textBlock(how))
  return turns
}

function turnOf(message: Message): Turn {
  const blocks = blocksOf(message.content)
  switch (message.role) {
    case 'tool': {
      const result: ToolResultBlock = {
        type: 'tool_result',
        tool_call_id: message.toolCallId,
        blocks,
        is_error: message.error !== undefined,
        detail: null,
      }
      return { role: 'user', blocks: [result], detail: null }
    }
    case 'assistant':
      return { role: 'assistant', blocks: [...blocks, ...callBlocks(message)], detail: null }
    default:
      return { role: message.role, blocks, detail: null }
  }
}

function callBlocks({ toolCalls = [] }: AssistantMessage): ToolCallBlock[] {
  return toolCalls.map(({ id, name, arguments: given }) => {
    return { type: 'tool_call', id, name, input: objectOf(given), detail: null }
  })
}

function objectOf(given: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(given)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {}
  return { arguments: given }
}
