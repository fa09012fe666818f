/**
 * The programs round a model in a seat: ours (`chat`, `toolLoop`), and the agent that you have, as a function
 * (`agent`), a program (`command`) or a service (`remote`).
 */
export { type AgentFunction, agent, agentFunction } from './agent.ts'
export type { AgentModel } from './agent-model.ts'
export type { AgentTurn } from './agent-turn.ts'
export type { AiToolSchema, AiWorldTool } from './ai-sdk/tool-set.ts'
export type { AiLanguageModel } from './ai-sdk/types.ts'
export * from './chat.ts'
export { command } from './command/command.ts'
export type { CommandOptions } from './command/options.ts'
export { rolloutBaseURL } from './model-fetch.ts'
export type { AgentsModel, AgentsModelProvider } from './openai-agents/model-provider.ts'
export type { RemoteOptions } from './remote/options.ts'
export { remote } from './remote/remote.ts'
export { currentRollout, rolloutFetch } from './rollout.ts'
export * from './tool-loop.ts'
export { withSettings } from './with-settings.ts'
