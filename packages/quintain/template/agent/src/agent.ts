import yours from '__AGENT__'
import type { AgentFunction } from 'quintain'

// The one place that knows your agent. It is called with what the agent is asked, and gives back what it answered.
// Here `yours` takes a text and returns a text or a promise of one; change this line if it wants something else.
// `messages` is the whole conversation, `signal` says when to stop, and `call` uses a tool of the environment. `model` is the
// model of the run (`evaluate(env, { agent, model })`), for the AI SDK as it is, for other SDKs as { baseURL, apiKey, fetch }:
// what is asked through it is limited and recorded, fit to be trained on.
export const agent: AgentFunction = ({ input }) => yours(input)
