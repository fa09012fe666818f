import { randomUUID } from 'node:crypto'
import { type HttpAnswer, type HttpCall, HttpProblem } from '../../core/http-port.ts'
import { type AssistantMessage, textOf } from '../../core/index.ts'
import { fieldsOf, listOf, optional, optionalList, requiredText } from '../../models/dialects/body-fields.ts'
import { readHistory } from '../../models/dialects/chat-history.ts'
import { readTools } from '../../models/dialects/chat-request.ts'
import { readMessage } from '../../models/index.ts'
import type { Renderer } from '../renderer.ts'
import { answer } from './answer.ts'
import { type ChatAsk, readChatAsk } from './chat-ask.ts'
import { chatForm, chatMessage } from './chat-form.ts'
import { type CompletionAsk, readCompletionAsk } from './completion-ask.ts'
import { completionForm } from './completion-form.ts'
import { type Conversations, type Prompt, replyIdField } from './conversations.ts'
import { ModelProblem } from './problem.ts'
import type { Answering } from './question.ts'
import type { EndedReply, TokenTexts } from './reply-form.ts'
import { readTokenIds } from './token-ids.ts'

/** What the address of clients is answered from. */
export interface Routed extends Answering {
  conversations: Conversations
  texts: TokenTexts
  /** Seconds since 1970 when the server began. */
  since: number
  /** No more is taken. */
  readonly draining: boolean
}

type Handler = (call: HttpCall, routed: Routed) => Promise<HttpAnswer | undefined> | HttpAnswer

const routes: Readonly<Record<string, { method: 'GET' | 'POST'; handle: Handler }>> = {
  '/v1/chat/completions': { method: 'POST', handle: chat },
  '/v1/completions': { method: 'POST', handle: completion },
  '/v1/models': { method: 'GET', handle: (_, routed) => models(routed) },
  '/tokenize': { method: 'POST', handle: tokenize },
  '/detokenize': { method: 'POST', handle: detokenize },
  '/health': {
    method: 'GET',
    handle: (_, { draining }) => (draining ? { status: 503, text: 'ending\n' } : { text: 'ok\n' }),
  },
}

/** Answers one request of a client. Throws `ModelProblem` and what `problemOf` knows. */
export async function route(call: HttpCall, routed: Routed): Promise<HttpAnswer | undefined> {
  const known = Object.hasOwn(routes, call.path) ? routes[call.path] : undefined
  const method = call.method === 'HEAD' ? 'GET' : call.method
  if (known === undefined) {
    const name = /^\/v1\/models\/(.+)$/.exec(call.path)?.[1]
    if (name !== undefined && method === 'GET') return model(decoded(name), routed)
    throw new ModelProblem(
      404,
      'not_found',
      `There is nothing under this path; there is ${Object.keys(routes).join(', ')}.`,
    )
  }
  if (method !== known.method) {
    throw new ModelProblem(405, 'method_not_allowed', `This path takes ${known.method}.`, {
      headers: { allow: known.method },
    })
  }
  return known.handle(call, routed)
}

async function chat(call: HttpCall, routed: Routed): Promise<HttpAnswer | undefined> {
  const ask = readChatAsk(await bodyFor(call, routed), routed.renderer.vocabulary)
  const { conversations, renderer, texts } = routed
  const prompt = conversations.prompt(ask)
  // A conversation's own name is for one reply at a time.
  const sessions = Array.from({ length: ask.choices }, (_, at) => (at === 0 ? prompt.session : randomUUID()))
  return answer(
    call,
    {
      ask,
      form: chatForm(ask, texts),
      prompts: [prompt.ids],
      sessions,
      textOf: (ids) => textOf(renderer.parse(ids).message.content),
      messageOf(reply) {
        const said = { ...prompt, session: sessions[reply.index]! }
        return namedReply(chatReply(reply, ask, renderer), reply, { ask, said, routed })
      },
    },
    routed,
  )
}

type Said = Omit<EndedReply, 'message'>

/** The message of a reply. Its calls get names that no other has, by which it is known when it comes back. */
function chatReply({ text, ids, stoppedBy }: Said, { tools }: ChatAsk, renderer: Renderer): AssistantMessage {
  const said: AssistantMessage = { role: 'assistant', content: text }
  if (tools === undefined || typeof stoppedBy === 'string') return said
  const { message } = renderer.parse(Int32Array.from(ids), { tools })
  if (message.toolCalls === undefined) return said
  return { ...message, toolCalls: message.toolCalls.map((made) => ({ ...made, id: `call_${randomUUID()}` })) }
}

/** The message with a name of its own where it needs one. Keeps its tokens for when it is sent back. */
function namedReply(
  message: AssistantMessage,
  { ids, finish }: Said,
  { ask, said, routed }: { ask: ChatAsk; said: Prompt; routed: Routed },
): AssistantMessage {
  const { conversations, renderer } = routed
  const ended = finish === 'stop' && renderer.stop.includes(ids.at(-1) ?? -1) ? 'stop' : 'length'
  // As it will be read when it is sent back.
  const asRead = (given: AssistantMessage) =>
    ({ message: readMessage(chatMessage(given)).message, ids, ended }) as const
  const named = conversations.needsName(ask, said, asRead(message))
    ? { ...message, extra: { [replyIdField]: randomUUID() } }
    : message
  conversations.keep(ask, said, asRead(named))
  return named
}

async function completion(call: HttpCall, routed: Routed): Promise<HttpAnswer | undefined> {
  const ask: CompletionAsk = readCompletionAsk(await bodyFor(call, routed), routed.renderer)
  return answer(
    call,
    {
      ask,
      form: completionForm(ask, routed.texts),
      prompts: ask.prompts,
      textOf: (ids) => routed.renderer.text(ids),
      messageOf: ({ text }) => ({ role: 'assistant', content: text }),
    },
    routed,
  )
}

/** The body of a request for the model that is served here. */
async function bodyFor(call: HttpCall, { name }: Routed) {
  const body = fieldsOf(await call.json(), 'body')
  const asked = requiredText(body, 'model')
  if (asked !== name) throw noSuchModel(asked, name)
  return body
}

function noSuchModel(asked: string, name: string): ModelProblem {
  const shown = asked.length > 100 ? `${asked.slice(0, 99)}…` : asked
  return new ModelProblem(
    404,
    'model_not_found',
    `There is no model ${JSON.stringify(shown)} here; there is ${JSON.stringify(name)}.`,
    { param: 'model' },
  )
}

function models(routed: Routed): HttpAnswer {
  return { json: { object: 'list', data: [entryOf(routed)] } }
}

function model(asked: string, routed: Routed): HttpAnswer {
  if (asked !== routed.name) throw noSuchModel(asked, routed.name)
  return { json: entryOf(routed) }
}

/** `max_model_len` is vLLM's word for the context. */
function entryOf({ name, since, weights }: Routed): Record<string, unknown> {
  return {
    id: name,
    object: 'model',
    created: since,
    owned_by: 'quintain',
    max_model_len: weights.context,
    weight_version: weights.version,
  }
}

/** The ids of a prompt, as vLLM tells them: of a conversation, or of a text. */
async function tokenize(call: HttpCall, { weights, conversations, renderer }: Routed): Promise<HttpAnswer> {
  const body = fieldsOf(await call.json(), 'body')
  const text = optional(body, 'prompt')
  const ids =
    typeof text === 'string'
      ? renderer.encode(text)
      : conversations.prompt({
          messages: readHistory(listOf(body['messages'], 'messages')),
          tools: someOf(readTools(optionalList(body, 'tools') ?? [])),
        }).ids
  return { json: { count: ids.length, max_model_len: weights.context, tokens: [...ids] } }
}

function someOf<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list
}

async function detokenize(call: HttpCall, { renderer }: Routed): Promise<HttpAnswer> {
  const body = fieldsOf(await call.json(), 'body')
  const ids = readTokenIds(listOf(body['tokens'], 'tokens'), 'tokens', renderer.vocabulary)
  return { json: { prompt: renderer.text(ids) } }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new HttpProblem(400, 'The path is no valid address.')
  }
}
