/** An example as it is checked here. */
export interface Example {
  name: string
  /** Tasks of its environment that it is given. */
  tasks: number
  /** It sends back exactly what it was told, so that all its model calls lie on one branch. */
  keepsHistory: boolean
  /** It can be told to stream its replies, and not to. */
  streams: boolean
  /** The tools are its own: the world carries out none. */
  ownTools?: true
}

const usual = { tasks: 3, keepsHistory: true, streams: true }

/** All that `quintain init --agent` makes. */
export const examples: readonly Example[] = [
  { name: 'ai-sdk', ...usual },
  { name: 'ai-sdk-6', ...usual },
  { name: 'openai-agents', ...usual },
  { name: 'langgraph', ...usual },
  { name: 'mastra', ...usual },
  { name: 'openai', ...usual },
  { name: 'openai-responses', ...usual },
  { name: 'anthropic', ...usual },
  { name: 'python', ...usual },
  // It writes the date into each request and leaves it out of the history that it keeps; it always streams.
  { name: 'coding-agent', tasks: 1, keepsHistory: false, streams: false },
  { name: 'own-tools', ...usual, ownTools: true },
]
