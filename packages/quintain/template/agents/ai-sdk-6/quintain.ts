// How Quintain plays the agent: in this process, with a model and tools that belong to the rollout.
import { type AgentTurn, agent } from 'quintain/harness'
import { SupportAgent } from './agent.ts'

export default agent(async (turn) => {
  turn.memory['support'] ??= start(turn)
  return await (turn.memory['support'] as SupportAgent).answer(turn.input)
})

function start({ messages, model, aiTools }: AgentTurn): SupportAgent {
  const [first] = messages
  return new SupportAgent({
    model,
    tools: aiTools,
    instructions: first?.role === 'system' ? first.content : 'You are a helpful assistant.',
    stream: process.env.STREAM === '1',
  })
}
