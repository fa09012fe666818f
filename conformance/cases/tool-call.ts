import type { Message, ModelResponse, Outcome } from '../../packages/quintain/src/core/index.ts'
import { toolLoop } from '../../packages/quintain/src/harness/index.ts'
import {
  buildRequestBody,
  checkConversation,
  exposeToolNames,
  isCacheable,
  normalizeToolCalls,
  outcomeOfReply,
  parseToolArguments,
  readFinish,
  readMessage,
  readResponse,
  runToolCalls,
} from '../../packages/quintain/src/models/index.ts'

type Input = Record<string, unknown>

async function step({ declared_tools, tool_calls, finish_reason }: Input) {
  const tools = ((declared_tools ?? []) as (string | { name: string })[]).map((tool) =>
    typeof tool === 'string' ? { name: tool } : tool,
  )
  const { calls } = normalizeToolCalls(tool_calls)
  const finish = readFinish(finish_reason as string | undefined, {
    role: 'assistant',
    content: '',
    toolCalls: calls,
  })
  const executed: string[] = []
  const result = await runToolCalls({
    calls,
    tools,
    truncated: finish === 'length',
    execute: (tool) => {
      executed.push(tool.name)
      return 'done'
    },
  })
  const ids = result.messages.map(({ toolCallId }) => toolCallId)
  return {
    executed,
    tool_results: result.messages.map(({ toolCallId, error }) => ({
      id: toolCallId,
      is_error: error !== undefined,
      code: error ?? null,
    })),
    metrics: result.errors,
    unique_ids: new Set(ids).size === ids.length,
    results_in_order: calls.every(({ id }, index) => ids[index] === id),
    throws: false,
  }
}

/** The harness with a model whose every reply is cut. */
async function loop({ always_truncated, max_steps }: Input) {
  const most = Number(max_steps ?? 50)
  let steps = 0
  const reply = (): ModelResponse => ({
    message: {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: `c${steps}`, name: 'write', arguments: always_truncated ? '{"text": "ha' : '{}' }],
    },
    finish: always_truncated ? 'length' : 'tool_calls',
  })
  class TurnLimit extends Error {}
  let outcome: Outcome = 'turn_limit'
  try {
    const result = await toolLoop().run({
      task: { id: 't', split: 'test', data: undefined },
      seat: 'agent',
      messages: [{ role: 'user', content: 'write' }],
      tools: {
        specs: [],
        run: async (calls, { truncated }) =>
          await runToolCalls({ calls, tools: [{ name: 'write' }], truncated, execute: () => 'written' }),
      },
      model: {
        id: 'script:case',
        turns: 0,
        address: () => Promise.reject(new Error('no gateway here')),
        record: () => {},
        generate: async () => {
          if (steps >= most) throw new TurnLimit()
          steps++
          return reply()
        },
      },
      endpoints: {},
      limits: {},
      signal: new AbortController().signal,
      rng: undefined as never,
    })
    outcome = result.outcome
  } catch (thrown) {
    if (!(thrown instanceof TurnLimit)) throw thrown
  }
  return { outcome, steps, stops_after_consecutive_truncations: steps }
}

function parseResponse({ message, text, finish_reason }: Input) {
  const raw = (message ?? { role: 'assistant', content: text }) as Record<string, unknown>
  const finish = finish_reason as string | undefined
  const response = readResponse({ message: raw, ...(finish === undefined ? {} : { finish }) })
  return {
    outcome: outcomeOfReply(response) ?? 'completed',
    content: response.message.content,
    reasoning: response.message.reasoning ?? null,
    tool_calls: response.message.toolCalls ?? [],
    flags: response.flags ?? [],
    throws: false,
  }
}

/** Messages as cases write them: a provider's shape. */
function conversationOf(raw: unknown): Message[] {
  return (raw as Input[]).map((entry): Message => {
    const content = typeof entry['content'] === 'string' ? entry['content'] : ''
    switch (entry['role']) {
      case 'tool':
        return { role: 'tool', toolCallId: String(entry['tool_call_id'] ?? entry['id']), content }
      case 'assistant':
        return readMessage(entry, { thinkTags: 'never' }).message
      case 'system':
        return { role: 'system', content }
      default:
        return { role: 'user', content }
    }
  })
}

async function build({ messages: raw }: Input) {
  const messages = conversationOf(raw)
  const last = messages.at(-1)
  const cut =
    last?.role === 'assistant' &&
    last.toolCalls?.some(({ arguments: text }) => parseToolArguments(text).error)
  // The harness answers a reply with bad calls before it asks again.
  if (cut) {
    const results = await runToolCalls({
      calls: last.toolCalls!,
      tools: [],
      truncated: false,
      execute: () => '',
    })
    messages.push(...results.messages)
  }
  const { missing } = checkConversation(messages)
  let sent: string | undefined
  try {
    sent = buildRequestBody({ messages }, { model: 'm', stream: false })
  } catch {
    // Refused before it was sent.
  }
  const body = sent === undefined ? undefined : (JSON.parse(sent) as { messages: Input[] })
  const sampled = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  )
  const calls = (body?.messages ?? []).flatMap(
    (message) => (message['tool_calls'] ?? []) as { function: { arguments: string } }[],
  )
  return {
    rejected_locally: sent === undefined,
    missing,
    oversized_call_replaced: calls.some(
      (call, index) => call.function.arguments !== sampled[index]!.arguments,
    ),
    conversation_usable:
      sent !== undefined &&
      calls.every((call) => parseToolArguments(call.function.arguments).error === undefined),
  }
}

function expose({ server, names }: Input) {
  const tools = (names as string[]).map((name) => ({ server: String(server), name }))
  const exposed = exposeToolNames(tools)
  const again = exposeToolNames(tools.toReversed()).toReversed()
  return {
    names: exposed,
    max_len: Math.max(...exposed.map((name) => name.length)),
    distinct_exposed_names: new Set(exposed).size,
    deterministic: exposed.every((name, index) => name === again[index]),
  }
}

function orders({ servers_order, tool }: Input) {
  const names = (servers_order as string[][]).map((servers) => {
    const exposed = exposeToolNames(servers.map((server) => ({ server, name: String(tool) })))
    return JSON.stringify(servers.map((server, index) => [server, exposed[index]]).sort())
  })
  return { names, same_names: new Set(names).size === 1 }
}

function parse({ arguments: raw, tool }: Input) {
  const parsed = parseToolArguments(raw)
  if (parsed.error !== undefined)
    return { tool_error: parsed.error, message: parsed.message, flags: parsed.flags, loop_continues: true }
  return { arguments: parsed.arguments, flags: parsed.flags, tool: (tool as Input | undefined)?.['name'] }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'agent.loop': loop,
  'agent.step': step,
  'cache.store': ({ finish_reason }) => ({
    stored: isCacheable({ finish: readFinish(finish_reason as string, { role: 'assistant', content: '' }) }),
  }),
  'request.build': build,
  'response.parse': parseResponse,
  'toolcall.parse': parse,
  'tools.expose': expose,
  'tools.expose.order_independence': orders,
}
