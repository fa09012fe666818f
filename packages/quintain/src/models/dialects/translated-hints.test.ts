import { expect, test } from 'vitest'
import type { DialectName } from '../../core/index.ts'
import { dialects } from './index.ts'

const data = 'data:image/png;base64,AAAA'
const imageOf: Record<'chat' | 'responses', (detail?: string) => unknown> = {
  chat: (detail) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: data, detail } }] }],
  }),
  responses: (detail) => ({
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: data, detail }] }],
  }),
}

function sent(from: DialectName, body: unknown, to: DialectName): string {
  const request = dialects[from].readRequest(JSON.parse(JSON.stringify({ model: 'm', ...Object(body) })))
  return dialects[to].requestBody(request, { model: 'm', stream: false })
}

test.each(['chat', 'responses'] as const)(
  'how closely an image of %s is looked at goes on, or is refused',
  (from) => {
    const other = from === 'chat' ? 'responses' : 'chat'
    expect(sent(from, imageOf[from]('low'), other)).toContain('"detail":"low"')
    expect(sent(from, imageOf[from]('low'), from)).toContain('"detail":"low"')
    expect(sent(from, imageOf[from](), other)).not.toContain('low')
    expect(() => sent(from, imageOf[from]('low'), 'messages')).toThrow(
      expect.objectContaining({ name: 'DialectError', code: 'unsupported', param: 'detail' }),
    )
    // What it does of itself is no refusal.
    for (const detail of ['high', 'auto', undefined])
      expect(sent(from, imageOf[from](detail), 'messages')).toContain('AAAA')
  },
)

test.each(['chat', 'responses'] as const)(
  'that a tool of a Messages program has failed is said in words to %s',
  (to) => {
    const result = (content: unknown) => ({
      max_tokens: 5,
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', is_error: true, content }] },
      ],
    })
    expect(sent('messages', result('boom'), to)).toContain('"Error: boom"')
    expect(sent('messages', result('error: boom'), to)).toContain('"error: boom"')
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    expect(sent('messages', result([image]), to)).toMatch(/"Error:".*AAAA/)
    expect(sent('messages', result('boom'), 'messages')).toContain('"content":"boom"')
  },
)
