// How Quintain plays the agent: in this process, with a model and tools that belong to the rollout.
import { textOf } from 'quintain'
import { type AgentTurn, agent } from 'quintain/harness'
import { SupportAgent } from './agent.ts'

export default agent(async (turn) => {
  turn.memory['support'] ??= start(turn)
  return await (turn.memory['support'] as SupportAgent).answer(turn.input)
})

function start({ messages, model, aiTools }: AgentTurn): SupportAgent {
  return new SupportAgent({
    model,
    tools: aiTools,
    // The first message says by which rules to work.
    instructions: textOf(messages[0]?.content),
    stream: process.env.STREAM === '1',
  })
}
