import type { DialectName } from '../../../core/index.ts'

const image = 'iVBORw0KGgo='
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }

/** One conversation as programs of each dialect write it. */
export const conversations: Record<DialectName, Record<string, unknown>> = {
  chat: {
    model: 'm',
    max_tokens: 500,
    temperature: 0.5,
    top_p: 0.9,
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Where is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
        ],
      },
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'cold' },
      { role: 'tool', tool_call_id: 'c2', content: 'warm' },
      { role: 'user', content: 'Which, then?' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', description: 'w', parameters, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'output', schema, strict: true } },
  },
  responses: {
    model: 'm',
    max_output_tokens: 500,
    temperature: 0.5,
    top_p: 0.9,
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Where is this?' },
          { type: 'input_image', image_url: `data:image/png;base64,${image}`, detail: 'auto' },
        ],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'cold' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'warm' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'Which, then?' }] },
    ],
    tools: [{ type: 'function', name: 'weather', description: 'w', parameters, strict: true }],
    tool_choice: { type: 'function', name: 'weather' },
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'output', schema, strict: true } },
  },
  messages: {
    model: 'm',
    max_tokens: 500,
    temperature: 0.5,
    top_p: 0.9,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Where is this?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } },
        ],
      },
      { role: 'assistant', content: 'Let me look.' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'c2', name: 'weather', input: { city: 'Rome' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'cold' },
          { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'warm' }] },
          { type: 'text', text: 'Which, then?' },
        ],
      },
    ],
    tools: [{ name: 'weather', description: 'w', input_schema: parameters, strict: true }],
    tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
    output_config: { format: { type: 'json_schema', schema } },
  },
}
