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
  if (lacksItsBeginning(prompt, before, at)) return 'left_truncated'
  const sampled = sampledAt(at)
  if (sampled !== undefined) return hasReasoning(sampled) ? 'reasoning_removed' : 'retokenised'
  const soon = sampledAt(Math.min(at + longestOpening, before.length - 1))
  return soon !== undefined && hasReasoning(soon) ? 'reasoning_removed' : 'template_changed'
}

/** A prompt of messages that go on lacks what these began with: its server cut it at its left. */
function lacksItsBeginning(prompt: Int32Array, before: Int32Array, at: number): boolean {
  if (beginsWithAnEnd(prompt, before, at)) return true
  if (at >= mostOfABeginning) return false
  return (
    prompt.length < before.length || isWithin(prompt, at, before, at + 1) || !sharesAWindow(prompt, before)
  )
}

/** After as much as servers put before what they cut, the prompt goes on with what came before, from some place to its end. */
function beginsWithAnEnd(prompt: Int32Array, before: Int32Array, at: number): boolean {
  for (let start = 0; start <= Math.min(at, mostOfABeginning - 1); start++) {
    for (let from = start + 1; from <= before.length - windowLength; from++) {
      const length = before.length - from
      if (start + length <= prompt.length && isSame(prompt, start, before, from, length)) return true
    }
  }
  return false
}

/** Whether a window of one sequence stands in another, from some place on. */
function isWithin(one: Int32Array, at: number, other: Int32Array, least: number): boolean {
  if (one.length < at + windowLength) return false
  for (let from = least; from <= other.length - windowLength; from++)
    if (isSame(one, at, other, from, windowLength)) return true
  return false
}

/** Whether any window of what came before stands in the prompt. */
function sharesAWindow(prompt: Int32Array, before: Int32Array): boolean {
  for (let at = 0; at <= before.length - windowLength; at += windowLength)
    if (isWithin(before, at, prompt, 0)) return true
  return false
}

function isSame(one: Int32Array, at: number, other: Int32Array, from: number, length: number): boolean {
  for (let same = 0; same < length; same++) if (one[at + same] !== other[from + same]) return false
  return true
}

function hasReasoning({ message }: MessageNode): boolean {
  if (message.role !== 'assistant') return false
  return Boolean(message.reasoning) || /<\/?think/.test(textOf(message.content))
}
