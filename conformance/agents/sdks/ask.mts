// Official SDKs ask a model. This file is installed beside them, and type-checked there.
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { APICallError, generateText, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'

/** What an SDK made of a reply, in words of none of them. */
export type Seen =
  | {
      text: string
      calls: { name: string; arguments: unknown }[]
      finish: string | null | undefined
      usage: { input: number | undefined; output: number | undefined }
    }
  | { status: number | undefined; code: unknown; message: string }

export interface Address {
  baseURL: string
  anthropicBaseURL: string
  apiKey: string
  fetch: typeof globalThis.fetch
}

const prompt = 'What is the weather like?'
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
}
const description = 'Tells the weather of a city.'

async function openaiChat({ baseURL, apiKey, fetch }: Address, stream: boolean): Promise<Seen> {
  const client = new OpenAI({ baseURL, apiKey, fetch })
  const request = {
    model: 'm',
    messages: [{ role: 'user' as const, content: prompt }],
    tools: [{ type: 'function' as const, function: { name: 'weather', description, parameters } }],
  }
  const { choices, usage } = stream
    ? await client.chat.completions
        .stream({ ...request, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await client.chat.completions.create(request)
  const [choice] = choices
  return {
    text: choice?.message.content ?? '',
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? { name: call.function.name, arguments: JSON.parse(call.function.arguments) }
        : [],
    ),
    finish: choice?.finish_reason,
    usage: { input: usage?.prompt_tokens, output: usage?.completion_tokens },
  }
}

async function openaiResponses({ baseURL, apiKey, fetch }: Address, stream: boolean): Promise<Seen> {
  const client = new OpenAI({ baseURL, apiKey, fetch })
  const request = {
    model: 'm',
    input: prompt,
    tools: [{ type: 'function' as const, name: 'weather', description, parameters, strict: false }],
  }
  const response = stream
    ? await client.responses.stream(request).finalResponse()
    : await client.responses.create(request)
  return {
    text: response.output_text,
    calls: response.output.flatMap((item) =>
      item.type === 'function_call' ? { name: item.name, arguments: JSON.parse(item.arguments) } : [],
    ),
    finish: response.incomplete_details?.reason ?? response.status,
    usage: { input: response.usage?.input_tokens, output: response.usage?.output_tokens },
  }
}

async function anthropic({ anthropicBaseURL, apiKey, fetch }: Address, stream: boolean): Promise<Seen> {
  const client = new Anthropic({ baseURL: anthropicBaseURL, apiKey, fetch })
  const request = {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: prompt }],
    tools: [{ name: 'weather', description, input_schema: parameters }],
  }
  const message = stream
    ? await client.messages.stream(request).finalMessage()
    : await client.messages.create(request)
  return {
    text: message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(''),
    calls: message.content.flatMap((block) =>
      block.type === 'tool_use' ? { name: block.name, arguments: block.input } : [],
    ),
    finish: message.stop_reason,
    usage: { input: message.usage.input_tokens, output: message.usage.output_tokens },
  }
}

async function aiSdk(
  { baseURL, apiKey, fetch }: Address,
  stream: boolean,
  path: 'chat' | 'responses',
): Promise<Seen> {
  const request = {
    model: createOpenAI({ baseURL, apiKey, fetch })[path]('m'),
    prompt,
    tools: { weather: tool({ description, inputSchema: jsonSchema<{ city: string }>(parameters) }) },
  }
  let failure: unknown
  const result = stream
    ? streamText({
        ...request,
        onError: ({ error }) => {
          failure = error
        },
      })
    : await generateText(request)
  try {
    const [text, calls, finish, usage] = await Promise.all([
      result.text,
      result.toolCalls,
      result.finishReason,
      result.usage,
    ])
    if (failure !== undefined) throw failure
    return {
      text,
      calls: calls.map(({ toolName, input }) => ({ name: toolName, arguments: input })),
      finish,
      usage: { input: usage.inputTokens, output: usage.outputTokens },
    }
  } catch (thrown) {
    // Of a stream that broke it says only that there is no output; the cause was told before.
    throw failure ?? thrown
  }
}

const askers = {
  'openai, chat': openaiChat,
  'openai, responses': openaiResponses,
  '@anthropic-ai/sdk': anthropic,
  '@ai-sdk/openai, chat': (address, stream) => aiSdk(address, stream, 'chat'),
  '@ai-sdk/openai, responses': (address, stream) => aiSdk(address, stream, 'responses'),
} satisfies Record<string, (address: Address, stream: boolean) => Promise<Seen>>

export type Sdk = keyof typeof askers
export const sdks = Object.keys(askers) as Sdk[]

/** Asks with an SDK, with all that it does on its own, its retries too. */
export async function ask(sdk: Sdk, address: Address, stream: boolean): Promise<Seen> {
  try {
    return await askers[sdk](address, stream)
  } catch (thrown) {
    if (thrown instanceof OpenAI.APIError)
      return { status: thrown.status, code: thrown.code, message: thrown.message }
    if (thrown instanceof Anthropic.APIError)
      return { status: thrown.status, code: thrown.type, message: thrown.message }
    if (APICallError.isInstance(thrown))
      return { status: thrown.statusCode, code: codeIn(thrown.responseBody), message: thrown.message }
    return { status: undefined, code: undefined, message: String(thrown) }
  }
}

function codeIn(body: string | undefined): unknown {
  try {
    return (JSON.parse(body ?? '') as { error: { code: unknown } }).error.code
  } catch {
    return undefined
  }
}
