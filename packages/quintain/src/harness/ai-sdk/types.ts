/*
 * The language models of the AI SDK, in as much of their shape as is read and written here, so that no package of it is
 * needed: LanguageModelV3 (`ai` 6, taken by `ai` 7 too) and LanguageModelV4 (`ai` 7). What the two call differently is
 * read in either form.
 */

export type AiFileData =
  | string
  | Uint8Array
  | URL
  | { type: 'data'; data: string | Uint8Array }
  | { type: 'url'; url: URL | string }
  | { type: 'text'; text: string }
  | { type: 'reference'; reference: unknown }

export type AiToolOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'json' | 'error-json'; value: unknown }
  | { type: 'execution-denied'; reason?: string | undefined }
  | { type: 'content'; value: readonly { type: string; [field: string]: unknown }[] }

/** A part of a message; which fields are there depends on `type`. */
export interface AiPart {
  type: string
  text?: string
  data?: AiFileData
  mediaType?: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  output?: AiToolOutput
}

export type AiMessage =
  | { role: 'system'; content: string }
  | { role: 'user' | 'assistant' | 'tool'; content: readonly AiPart[] }

export interface AiTool {
  type: string
  name: string
  description?: string | undefined
  inputSchema?: unknown
  strict?: boolean | undefined
}

export interface AiCallOptions {
  prompt: readonly AiMessage[]
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  stopSequences?: string[] | undefined
  topP?: number | undefined
  topK?: number | undefined
  presencePenalty?: number | undefined
  frequencyPenalty?: number | undefined
  responseFormat?:
    | { type: 'text' }
    | {
        type: 'json'
        schema?: unknown
        name?: string | undefined
        description?: string | undefined
      }
    | undefined
  seed?: number | undefined
  tools?: readonly AiTool[] | undefined
  toolChoice?:
    | { type: 'auto' }
    | { type: 'none' }
    | { type: 'required' }
    | { type: 'tool'; toolName: string }
    | undefined
  abortSignal?: AbortSignal | undefined
  reasoning?: string | undefined
  providerOptions?: Record<string, unknown> | undefined
}

export interface AiUsage {
  inputTokens: {
    total: number | undefined
    noCache: number | undefined
    cacheRead: number | undefined
    cacheWrite: number | undefined
  }
  outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined }
}

export interface AiFinish {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
  raw: string | undefined
}

export type AiContent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }

export type AiWarning = { type: 'unsupported'; feature: string; details?: string }

export interface AiResult {
  content: AiContent[]
  finishReason: AiFinish
  usage: AiUsage
  response: { id?: string; modelId?: string; timestamp?: Date }
  warnings: AiWarning[]
}

export type AiStreamPart =
  | { type: 'stream-start'; warnings: AiWarning[] }
  | { type: 'response-metadata'; id?: string; modelId?: string }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end' | 'tool-input-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | { type: 'finish'; finishReason: AiFinish; usage: AiUsage }
  | { type: 'error'; error: unknown }

/** A language model of the AI SDK. */
export interface AiLanguageModel<Version extends 'v3' | 'v4'> {
  readonly specificationVersion: Version
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(options: AiCallOptions): Promise<AiResult>
  doStream(options: AiCallOptions): Promise<{ stream: ReadableStream<AiStreamPart> }>
}
