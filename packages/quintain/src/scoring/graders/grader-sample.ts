import type { AssistantMessage, Transcript } from '../../core/index.ts'
import { textOf } from '../../core/index.ts'
import { stripReasoning } from '../thinking.ts'
import type { GraderSample } from './grader.ts'
import { jsonIn } from './output-json.ts'

/**
 * What an agent gave, as hosted graders see it: its last text after any reasoning, the JSON of it, all its tool calls in the
 * order and form of Chat Completions, and its last message as the one choice.
 */
export function sampleOf(transcript: Pick<Transcript, 'messages' | 'answer'>): GraderSample {
  const said = transcript.messages.filter((message) => message.role === 'assistant')
  const output_text = answerOf(transcript.answer)
  const output_json = jsonIn(output_text)
  const calls = said.flatMap(callsOf)
  const last = said.at(-1)
  return {
    output_text,
    ...(output_json === undefined ? {} : { output_json }),
    output_tools: calls,
    choices: last === undefined ? [] : [choiceOf(last)],
  }
}

/** Reasoning that is still open has no answer after it. A text without any stays as it is, spaces included. */
function answerOf(text: string): string {
  const { answer, reasoning } = stripReasoning(text)
  return reasoning === null && answer !== null ? text : (answer ?? '')
}

function choiceOf(message: AssistantMessage): unknown {
  const calls = callsOf(message)
  return {
    index: 0,
    finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
    message: {
      role: 'assistant',
      content: answerOf(textOf(message.content)),
      ...(message.refusal === undefined ? {} : { refusal: message.refusal }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  }
}

function callsOf({ toolCalls = [] }: AssistantMessage): unknown[] {
  return toolCalls.map(({ id, name, arguments: written }) => ({
    ...{ id, type: 'function' },
    function: { name, arguments: written },
  }))
}
