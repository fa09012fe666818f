import {
  type JsonSchema,
  type ModelHandle,
  type ModelRequest,
  type ModelResponse,
  type ToolSpec,
  textOf,
} from '../../core/index.ts'
import { asRefusal } from '../ai-sdk/refused-call.ts'
import { defined } from '../defined.ts'
import type { Echoes } from '../echoes.ts'
import { rolloutBaseURL } from '../model-fetch.ts'
import { ReplyPieces } from '../reply-pieces.ts'
import { withSettings } from '../with-settings.ts'
import { readItems } from './read-items.ts'
import type { AgentsOutput, AgentsRequest, AgentsUsage } from './types.ts'

export interface AgentsReply {
  usage: AgentsUsage
  output: AgentsOutput[]
  responseId?: string
}

export type AgentsStreamEvent =
  | { type: 'response_started' }
  | { type: 'output_text_delta'; delta: string }
  | { type: 'response_done'; response: { id: string; usage: AgentsUsage; output: AgentsOutput[] } }

/** A model of the OpenAI Agents SDK. */
export interface AgentsModel {
  getResponse(request: AgentsRequest): Promise<AgentsReply>
  getStreamedResponse(request: AgentsRequest): AsyncIterable<AgentsStreamEvent>
}

/** The model of a seat for the OpenAI Agents SDK, whatever model an agent names: `new Runner({ modelProvider })`. */
export interface AgentsModelProvider {
  getModel(name?: string): AgentsModel
}

export function agentsModelProvider(options: {
  handle: Pick<ModelHandle, 'id' | 'generate'>
  echoes: Echoes
}): AgentsModelProvider {
  const { handle, echoes } = options
  const generate = async (
    asked: AgentsRequest,
    onDelta?: (delta: Parameters<ReplyPieces['read']>[0]) => void | Promise<void>,
  ): Promise<ModelResponse> => {
    const request = readRequest(asked, options)
    try {
      const response = await handle.generate(request, {
        ...(asked.signal === undefined ? {} : { signal: asked.signal }),
        ...(onDelta === undefined ? {} : { onDelta }),
      })
      echoes.remember(response.message)
      return response
    } catch (thrown) {
      throw asRefusal(thrown, rolloutBaseURL, request)
    }
  }
  const model: AgentsModel = {
    async getResponse(request) {
      const response = await generate(request)
      const { responseId } = response
      return {
        usage: usageOf(response),
        output: outputOf(response),
        ...(responseId === undefined ? {} : { responseId }),
      }
    },
    async *getStreamedResponse(request) {
      yield { type: 'response_started' }
      const pieces = new ReplyPieces()
      const said: string[] = []
      let news = Promise.withResolvers<void>()
      let read = Promise.withResolvers<void>()
      let told = ''
      const response = generate(request, (delta) => {
        for (const piece of pieces.read(delta)) if (piece.type === 'text') said.push(piece.text)
        if (said.length === 0) return undefined
        news.resolve()
        return read.promise
      })
      let over = false
      const ended = () => {
        over = true
        news.resolve()
      }
      response.then(ended, ended)
      while (!over || said.length > 0) {
        await news.promise
        news = Promise.withResolvers<void>()
        for (const delta of said.splice(0)) {
          told += delta
          yield { type: 'output_text_delta', delta }
        }
        read.resolve()
        read = Promise.withResolvers<void>()
        if (over) break
      }
      const whole = await response
      const rest = textOf(whole.message.content)
      if (told === '' && rest !== '') yield { type: 'output_text_delta', delta: rest }
      yield {
        type: 'response_done',
        response: {
          id: whole.responseId ?? 'response',
          usage: usageOf(whole),
          output: outputOf(whole),
        },
      }
    },
  }
  return { getModel: () => model }
}

/** What an agent asks. Throws a `TypeError` for what no chat model has, such as hosted tools or a server's history. */
function readRequest(
  asked: AgentsRequest,
  { handle, echoes }: { handle: Pick<ModelHandle, 'id'>; echoes: Echoes },
): ModelRequest {
  const { modelSettings: given, outputType } = asked
  if (asked.previousResponseId !== undefined || asked.conversationId !== undefined)
    throw new TypeError('the model of this rollout keeps no conversation; send the whole history')
  const tools: ToolSpec[] = asked.tools.map(({ type, name, description, parameters, strict }) => {
    if (type !== 'function' || name === undefined)
      throw new TypeError(
        `the model of this rollout takes function tools, and the agent has one of type ${type}`,
      )
    return {
      name,
      description: description ?? '',
      parameters: asSchema(parameters),
      ...(strict === undefined ? {} : { strict }),
    }
  })
  for (const { toolName, toolDescription, inputJsonSchema } of asked.handoffs)
    tools.push({ name: toolName, description: toolDescription, parameters: asSchema(inputJsonSchema) })
  const messages = readItems(asked.input, echoes)
  if (asked.systemInstructions) messages.unshift({ role: 'system', content: asked.systemInstructions })
  const sampling = defined({
    temperature: given.temperature,
    topP: given.topP,
    maxTokens: given.maxTokens,
    reasoningEffort: given.reasoning?.effort ?? undefined,
    extra: given.providerData,
  })
  const { toolChoice } = given
  const settings = defined({
    toolChoice: toolChoice === undefined || toolChoice === 'auto' ? undefined : choiceOf(toolChoice),
    parallelToolCalls: tools.length > 0 ? given.parallelToolCalls : undefined,
    responseFormat:
      outputType === 'text'
        ? undefined
        : {
            type: 'schema' as const,
            name: outputType.name,
            schema: asSchema(outputType.schema),
            ...(outputType.strict === undefined ? {} : { strict: outputType.strict }),
          },
    frequencyPenalty: given.frequencyPenalty,
    presencePenalty: given.presencePenalty,
  })
  const request: ModelRequest = {
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
  }
  return withSettings(request, settings, handle.id)
}

function choiceOf(name: string): 'required' | 'none' | { tool: string } {
  return name === 'required' || name === 'none' ? name : { tool: name }
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? { ...value } : { type: 'object', properties: {} }
}

function outputOf({ message }: ModelResponse): AgentsOutput[] {
  const output: AgentsOutput[] = []
  if (message.reasoning !== undefined)
    output.push({
      type: 'reasoning',
      content: [],
      rawContent: [{ type: 'reasoning_text', text: message.reasoning }],
    })
  const text = textOf(message.content)
  const said =
    message.refusal === undefined
      ? { type: 'output_text' as const, text }
      : { type: 'refusal' as const, refusal: message.refusal }
  // A reply without anything is a message all the same: a run ends by one.
  if (text !== '' || message.refusal !== undefined || (message.toolCalls ?? []).length === 0)
    output.push({ type: 'message', role: 'assistant', status: 'completed', content: [said] })
  for (const { id, name, arguments: args } of message.toolCalls ?? [])
    output.push({ type: 'function_call', callId: id, name, arguments: args, status: 'completed' })
  return output
}

function usageOf({ usage }: ModelResponse): AgentsUsage {
  const { fresh = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = usage ?? {}
  const input = fresh + cacheRead + cacheWrite
  return {
    requests: 1,
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    inputTokensDetails: [{ cached_tokens: cacheRead }],
    outputTokensDetails: [{ reasoning_tokens: reasoning }],
    requestUsageEntries: undefined,
    add(more) {
      this.requests += more.requests
      this.inputTokens += more.inputTokens
      this.outputTokens += more.outputTokens
      this.totalTokens += more.totalTokens
    },
  }
}
