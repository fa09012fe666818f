// How Quintain plays the agent: in this process, through one client that all rollouts share.
import OpenAI from 'openai'
import { textOf } from 'quintain'
import { type AgentTurn, agent, rolloutBaseURL, rolloutFetch } from 'quintain/harness'
import { SupportAgent } from './agent.ts'

const client = new OpenAI({ baseURL: rolloutBaseURL, apiKey: 'none', fetch: rolloutFetch })

export default agent(async (turn) => {
  turn.memory['support'] ??= start(turn)
  return await (turn.memory['support'] as SupportAgent).answer(turn.input)
})

function start({ messages, tools, call }: AgentTurn): SupportAgent {
  return new SupportAgent({
    client,
    tools: { list: tools, call },
    // The first message says by which rules to work.
    instructions: textOf(messages[0]?.content),
    stream: process.env.STREAM === '1',
  })
}
