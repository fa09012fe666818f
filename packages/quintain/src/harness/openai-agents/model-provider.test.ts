import { describe, expect, test } from 'vitest'
import type { ModelResponse } from '../../core/index.ts'
import { calling, type FakeOptions, fakeContext } from '../__fixtures__/fake-context.ts'
import { type AgentFunction, agent } from '../agent.ts'

async function play(run: AgentFunction, options?: FakeOptions) {
  const { context, done } = fakeContext(options)
  return { ...(await agent(run).run(context)), ...done }
}

const done: Partial<ModelResponse> = { message: { role: 'assistant', content: 'done' } }

describe('the model of an agent, for the OpenAI Agents SDK', () => {
  const asked = (more: object = {}) => ({
    systemInstructions: 'Be good.',
    input: 'go' as const,
    modelSettings: {},
    tools: [],
    outputType: 'text' as const,
    handoffs: [],
    ...more,
  })

  test('asks what it is asked', async () => {
    const end = await play(async ({ model }) => {
      await model.openaiAgents.getModel('any').getResponse(
        asked({
          modelSettings: {
            temperature: 0.1,
            maxTokens: 5,
            toolChoice: 'required',
            parallelToolCalls: false,
            reasoning: { effort: 'high' },
            providerData: { top_k: 2 },
          },
          tools: [
            {
              type: 'function',
              name: 'act',
              description: 'Acts.',
              parameters: { type: 'object' },
              strict: true,
            },
          ],
          handoffs: [{ toolName: 'to_b', toolDescription: 'To b.', inputJsonSchema: { type: 'object' } }],
          outputType: { type: 'json_schema', name: 'out', strict: true, schema: { type: 'object' } },
        }),
      )
      return 'x'
    })
    expect(end.sent[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'go' },
      ],
      tools: [{ name: 'act', strict: true }, { name: 'to_b' }],
      sampling: { temperature: 0.1, maxTokens: 5, reasoningEffort: 'high', extra: { top_k: 2 } },
      wire: {
        dialect: 'chat',
        settings: {
          toolChoice: 'required',
          parallelToolCalls: false,
          responseFormat: { type: 'schema', name: 'out', strict: true },
        },
        body: { tool_choice: 'required', parallel_tool_calls: false },
      },
    })
  })

  test('gives a reply as items, and reads them back as the reply', async () => {
    const end = await play(
      async ({ model }) => {
        const provider = model.openaiAgents.getModel()
        const { output, usage, responseId } = await provider.getResponse(asked())
        expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
        expect(usage).toMatchObject({ requests: 1, inputTokens: 6, outputTokens: 5, totalTokens: 11 })
        expect(responseId).toBe('r1')
        const result = {
          type: 'function_call_result',
          callId: 'c1',
          name: 'act',
          output: { type: 'text', text: 'ok' },
        }
        await provider.getResponse(asked({ input: [{ role: 'user', content: 'go' }, ...output, result] }))
        return 'x'
      },
      { replies: [calling, done] },
    )
    const [system, user, reply, result] = end.sent[1]!.messages
    expect([system, user]).toEqual(end.sent[0]!.messages)
    expect(reply).toBe(calling.message)
    expect(result).toEqual({ role: 'tool', toolCallId: 'c1', name: 'act', content: 'ok' })
  })

  test('streams text as it comes, and ends with the whole reply', async () => {
    const events: { type: string; delta?: string }[] = []
    await play(
      async ({ model }) => {
        for await (const event of model.openaiAgents.getModel().getStreamedResponse(asked()))
          events.push(event)
        return 'x'
      },
      { replies: [calling] },
    )
    expect(events.map(({ type }) => type)).toEqual([
      'response_started',
      ...Array<string>(4).fill('output_text_delta'),
      'response_done',
    ])
    expect(events.map(({ delta = '' }) => delta).join('')).toBe('I look.')
  })

  test('a stream that is left ends the call', async () => {
    const { context } = fakeContext()
    const ended = Promise.withResolvers<unknown>()
    context.model.generate = async (_request, { onDelta, signal } = {}) => {
      while (!signal?.aborted) await onDelta?.({ type: 'text', text: 'x' })
      ended.resolve(signal.reason)
      throw signal.reason
    }
    const run = agent(async ({ model }) => {
      for await (const event of model.openaiAgents.getModel().getStreamedResponse(asked()))
        if (event.type === 'output_text_delta') break
      return 'x'
    })
    expect(await run.run(context)).toMatchObject({ outcome: 'completed' })
    expect(await ended.promise).toMatchObject({ message: 'the stream was left' })
  })

  test('refuses what no chat model has, in words', async () => {
    await play(async ({ model }) => {
      const provider = model.openaiAgents.getModel()
      for (const [more, words] of [
        [{ tools: [{ type: 'hosted_tool', name: 'web_search' }] }, 'one of type hosted_tool'],
        [{ previousResponseId: 'r' }, 'send the whole history'],
        [{ input: [{ type: 'computer_call' }] }, 'an item of type computer_call'],
        [{ input: [{ role: 'user', content: [{ type: 'audio', audio: 'x' }] }] }, 'the input holds audio'],
      ] as const)
        await expect(provider.getResponse(asked(more))).rejects.toThrow(words)
      return 'x'
    })
  })
})
