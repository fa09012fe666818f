import { type MessageNode, textOf } from '../core/index.ts'
import type { BreakCause } from './training-row.ts'

/** So few tokens in common are no more than what every sequence begins with. */
const mostOfABeginning = 4
/** A generation prompt is so long at most; where it opens the reasoning, it goes with it. */
const longestOpening = 16
const windowLength = 16

/** What is known of a prompt that does not begin with what came before it. */
export interface PromptBreak {
  /** The prompt, and what came before. */
  prompt: Int32Array
  before: Int32Array
  /** Tokens that both begin with. */
  at: number
  /** The messages go on from those before. */
  goesOn: boolean
  sameTools: boolean
  /** What was sampled at a place of what came before, where it was sampled there. */
  sampledAt(place: number): MessageNode | undefined
}

/** The likely cause, from what the record shows: messages first, tools next, then the place where the ids part. */
export function causeOf({ prompt, before, at, goesOn, sameTools, sampledAt }: PromptBreak): BreakCause {
  if (!goesOn) return 'history_edited'
  if (!sameTools) return 'tools_changed'
  if (at < mostOfABeginning && (prompt.length < before.length || isCutFromLeft(prompt, before, at)))
    return 'left_truncated'
  const sampled = sampledAt(at)
  if (sampled !== undefined) return hasReasoning(sampled) ? 'reasoning_removed' : 'retokenised'
  const soon = sampledAt(Math.min(at + longestOpening, before.length - 1))
  return soon !== undefined && hasReasoning(soon) ? 'reasoning_removed' : 'template_changed'
}

/** The prompt goes on, after its beginning, with what stood further on before. */
function isCutFromLeft(prompt: Int32Array, before: Int32Array, at: number): boolean {
  if (prompt.length < at + windowLength) return false
  for (let from = at + 1; from <= before.length - windowLength; from++) {
    let same = 0
    while (same < windowLength && before[from + same] === prompt[at + same]) same++
    if (same === windowLength) return true
  }
  return false
}

function hasReasoning({ message }: MessageNode): boolean {
  if (message.role !== 'assistant') return false
  return Boolean(message.reasoning) || /<\/?think/.test(textOf(message.content))
}
