import type { Said, Tool } from './programs.ts'

export const tools: Tool[] = [
  {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', enum: ['London', 'Paris', 'Rome'] } },
      required: ['city'],
    },
  },
]

/** So small a model calls a tool where it has seen one called. */
export const shown: Said[] = [
  { by: 'user', text: 'Call get_weather for London.' },
  {
    by: 'model',
    text: '<tool_call>\n{"name": "get_weather", "arguments": {"city": "London"}}\n</tool_call>',
  },
  { by: 'user', text: 'Call get_weather for Paris.' },
]
