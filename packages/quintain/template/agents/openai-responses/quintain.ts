// How Quintain plays the agent: in this process, through one client that all rollouts share.
import OpenAI from 'openai'
import { type AgentTurn, agent, rolloutBaseURL, rolloutFetch } from 'quintain/harness'
import { SupportAgent } from './agent.ts'

const client = new OpenAI({ baseURL: rolloutBaseURL, apiKey: 'none', fetch: rolloutFetch })

export default agent(async (turn) => {
  turn.memory['support'] ??= start(turn)
  return await (turn.memory['support'] as SupportAgent).answer(turn.input)
})

function start({ messages, tools, call }: AgentTurn): SupportAgent {
  const [first] = messages
  return new SupportAgent({
    client,
    tools: { list: tools, call },
    instructions: first?.role === 'system' ? first.content : 'You are a helpful assistant.',
    stream: process.env.STREAM === '1',
  })
}
