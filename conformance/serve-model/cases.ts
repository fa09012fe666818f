/** What the policies of these checks are asked, and what they were taught to say. */
export const question = 'What is the weather like?'
export const request = 'Weather in Rome?'

export const replies = {
  sun: { text: 'It is fine. ☀️', again: 'Fine too.' },
  rain: { text: 'It rains, in Zürich.', again: 'It will stop.' },
} as const

export const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'Tells the weather.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
] as const
