import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { AssistantMessage, ModelResponse } from '../../core/index.ts'
import { SeatStop } from '../../gateway/index.ts'
import { calling, type FakeOptions, fakeContext } from '../__fixtures__/fake-context.ts'
import { type AgentFunction, agent } from '../agent.ts'
import type { AiCallOptions, AiStreamPart } from './types.ts'

async function play(run: AgentFunction, options?: FakeOptions) {
  const { context, done } = fakeContext(options)
  return { ...(await agent(run).run(context)), ...done }
}

const done: Partial<ModelResponse> = { message: { role: 'assistant', content: 'done' } }

const prompt = (more: AiCallOptions['prompt'] = []): AiCallOptions['prompt'] => [
  { role: 'system', content: 'Be good.' },
  { role: 'user', content: [{ type: 'text', text: 'go' }] },
  ...more,
]

describe('the model of an agent, for the AI SDK', () => {
  test('says the same as both versions', async () => {
    await play(({ model }) => {
      expect(model).toMatchObject({
        specificationVersion: 'v3',
        provider: 'quintain',
        modelId: 'script:test',
      })
      expect(model.v4).toMatchObject({ specificationVersion: 'v4', modelId: 'script:test' })
      return 'x'
    })
  })

  test('asks with every setting that it was given, and gives all of the reply', async () => {
    let result: unknown
    const end = await play(
      async ({ model }) => {
        result = await model.doGenerate({
          prompt: prompt(),
          maxOutputTokens: 9,
          temperature: 0.5,
          topP: 0.9,
          stopSequences: ['X'],
          seed: 3,
          reasoning: 'low',
          topK: 4,
          presencePenalty: 0.1,
          frequencyPenalty: 0.2,
          toolChoice: { type: 'tool', toolName: 'act' },
          responseFormat: { type: 'json', name: 'out', schema: { type: 'object' } },
          tools: [
            {
              type: 'function',
              name: 'act',
              description: 'Acts.',
              inputSchema: { type: 'object' },
              strict: true,
            },
            { type: 'provider', name: 'search' },
          ],
          providerOptions: { quintain: { min_p: 0.1 }, openai: { user: 'x' } },
        })
        return 'x'
      },
      { replies: [calling] },
    )
    expect(result).toEqual({
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'act', input: '{"n": 1}' },
      ],
      finishReason: { unified: 'tool-calls', raw: 'tool_use' },
      usage: {
        inputTokens: { total: 6, noCache: 3, cacheRead: 2, cacheWrite: 1 },
        outputTokens: { total: 5, text: 3, reasoning: 2 },
      },
      response: { id: 'r1', modelId: 'm-1' },
      warnings: [{ type: 'unsupported', feature: 'provider-defined tool search' }],
    })
    const [request] = end.sent
    expect(request).toMatchObject({
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'go' },
      ],
      tools: [{ name: 'act', description: 'Acts.', parameters: { type: 'object' }, strict: true }],
      sampling: {
        maxTokens: 9,
        temperature: 0.5,
        topP: 0.9,
        stop: ['X'],
        seed: 3,
        reasoningEffort: 'low',
        extra: { min_p: 0.1 },
      },
    })
    expect(request!.wire!.settings).toEqual({
      own: [],
      toolChoice: { tool: 'act' },
      responseFormat: { type: 'schema', name: 'out', schema: { type: 'object' } },
      topK: 4,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
    })
    expect(request!.wire!.body).toMatchObject({
      messages: [{ role: 'system' }, { role: 'user', content: 'go' }],
      temperature: 0.5,
      tool_choice: { type: 'function', function: { name: 'act' } },
      response_format: { type: 'json_schema', json_schema: { name: 'out', schema: { type: 'object' } } },
      top_k: 4,
    })
  })

  test('asks plainly where nothing more was said', async () => {
    const end = await play(async ({ model }) => {
      await model.doGenerate({
        prompt: prompt(),
        toolChoice: { type: 'auto' },
        responseFormat: { type: 'text' },
      })
      return 'x'
    })
    expect(end.sent[0]).toEqual({
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'go' },
      ],
    })
  })

  test('knows its own reply again, whatever the SDK made of it', async () => {
    const end = await play(
      async ({ model }) => {
        await model.doGenerate({ prompt: prompt() })
        const reply = (reasoning: string): AiCallOptions['prompt'][number] => ({
          role: 'assistant',
          content: [
            { type: 'reasoning', text: reasoning },
            { type: 'text', text: 'I look.' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'act', input: { n: 1 } },
          ],
        })
        const result: AiCallOptions['prompt'][number] = {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'act',
              output: { type: 'json', value: { ok: 1 } },
            },
          ],
        }
        await model.doGenerate({ prompt: prompt([reply('hm'), result]) })
        await model.v4.doGenerate({ prompt: prompt([reply('edited'), result]) })
        return 'x'
      },
      { replies: [calling, done] },
    )
    // The message itself: as it was sampled, with what only its provider knows.
    expect(end.sent[1]!.messages[2]).toBe(calling.message)
    expect(end.sent[1]!.messages[3]).toEqual({
      role: 'tool',
      toolCallId: 'c1',
      name: 'act',
      content: '{"ok":1}',
    })
    expect(end.sent[2]!.messages[2]).toEqual({
      role: 'assistant',
      content: 'I look.',
      reasoning: 'edited',
      toolCalls: [{ id: 'c1', name: 'act', arguments: '{"n":1}' }],
    } satisfies AssistantMessage)
  })

  test('takes images in the form of either version, and refuses what is no image', async () => {
    const bytes = new Uint8Array([1, 2])
    const image = { type: 'image', mediaType: 'image/png', data: 'AQI=' }
    const url = { type: 'image', mediaType: 'image/*', url: 'https://x.example/a.png' }
    const parts = [
      { type: 'file', mediaType: 'image/png', data: bytes },
      { type: 'file', mediaType: 'image/png', data: 'AQI=' },
      { type: 'file', mediaType: 'image/*', data: new URL('https://x.example/a.png') },
      { type: 'file', mediaType: 'image/png', data: { type: 'data' as const, data: bytes } },
      {
        type: 'file',
        mediaType: 'image/*',
        data: { type: 'url' as const, url: new URL('https://x.example/a.png') },
      },
    ]
    const end = await play(async ({ model }) => {
      await model.doGenerate({ prompt: [{ role: 'user', content: parts }] })
      const results = [
        { type: 'text', text: 'see' },
        { type: 'file-data', mediaType: 'image/png', data: 'AQI=' },
        { type: 'image-url', url: 'https://x.example/a.png' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
      ]
      await model.doGenerate({
        prompt: [
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: 'c', output: { type: 'content', value: results } }],
          },
        ],
      })
      const pdf = { type: 'file', mediaType: 'application/pdf', data: 'AQI=' }
      await expect(model.doGenerate({ prompt: [{ role: 'user', content: [pdf] }] })).rejects.toThrow(
        'holds a file of type application/pdf',
      )
      return 'x'
    })
    expect(end.sent[0]!.messages[0]!.content).toEqual([image, image, url, image, url])
    expect(end.sent[1]!.messages[0]!.content).toEqual([{ type: 'text', text: 'see' }, image, url, image])
  })

  async function streamed(options: Partial<AiCallOptions>, replies: FakeOptions['replies']) {
    const parts: AiStreamPart[] = []
    await play(
      async ({ model }) => {
        const { stream } = await model.doStream({ prompt: prompt(), ...options })
        for await (const part of stream) parts.push(part)
        return 'x'
      },
      { replies: replies! },
    )
    return parts
  }

  test('streams text as it comes, and tells the rest at the end', async () => {
    const parts = await streamed({}, [calling])
    expect(parts.map(({ type }) => type)).toEqual([
      'stream-start',
      'text-start',
      ...Array<string>(4).fill('text-delta'),
      'text-end',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-end',
      'tool-call',
      'response-metadata',
      'finish',
    ])
    const text = parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : [])).join('')
    expect(text).toBe('I look.')
  })

  test('a stream that nobody reads holds the model back, and one that is left ends the call', async () => {
    let pieces = 0
    let ended: unknown
    const { context } = fakeContext()
    context.model.generate = async (_request, { onDelta, signal } = {}) => {
      try {
        for (; !signal?.aborted; pieces++) await onDelta?.({ type: 'text', text: 'x' })
        signal.throwIfAborted()
        throw new Error('never')
      } catch (thrown) {
        ended = thrown
        throw thrown
      }
    }
    const run = agent(async ({ model }) => {
      const { stream } = await model.doStream({ prompt: prompt() })
      const reader = stream.getReader()
      await reader.read()
      await sleep(20)
      expect(pieces).toBeLessThan(5)
      await reader.cancel()
      await expect
        .poll(() => ended, { timeout: 30_000 })
        .toMatchObject({ message: 'the stream was cancelled' })
      return 'x'
    })
    await run.run(context)
  })

  test('a refused call is an error that the SDK knows and does not retry', async () => {
    const stop = new SeatStop({ outcome: 'turn_limit' })
    const expected = {
      name: 'AI_APICallError',
      isRetryable: false,
      statusCode: 403,
      cause: stop,
      message: expect.stringContaining('turn_limit') as string,
    }
    await play(
      async ({ model }) => {
        const error: unknown = await Promise.resolve(model.doGenerate({ prompt: prompt() })).catch(
          (thrown: unknown) => thrown,
        )
        expect(error).toMatchObject(expected)
        expect((error as Record<symbol, unknown>)[Symbol.for('vercel.ai.error.AI_APICallError')]).toBe(true)
        await expect(model.v4.doStream({ prompt: prompt() })).rejects.toMatchObject(expected)
        const items = { input: 'go', modelSettings: {}, tools: [], outputType: 'text' as const, handoffs: [] }
        await expect(model.openaiAgents.getModel().getResponse(items)).rejects.toMatchObject(expected)
        return 'x'
      },
      { replies: [stop] },
    )
  })
})
