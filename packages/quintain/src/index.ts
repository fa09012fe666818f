/**
 * Quintain: write an environment once, measure any agent in it, carry it to any trainer.
 *
 * @example
 * import { environment, evaluate } from 'quintain'
 */
export * from './core/index.ts'
export type { Progress, RunPreview, RunStop } from './engine/index.ts'
export type { EvaluateOptions, ResumeRunOptions, RunResult } from './evaluate.ts'
export type { EvaluateAllOptions, EvaluateAllResult } from './evaluate-all.ts'
export {
  type AgentFunction,
  type AgentTurn,
  agent,
  agentFunction,
  type ChatOptions,
  type CommandOptions,
  chat,
  command,
  type RemoteOptions,
  remote,
  type ToolLoopOptions,
  toolLoop,
} from './harness/index.ts'
export { evaluate, evaluateAll, plan, resume } from './measuring.ts'
export {
  chatModelFromEnv,
  createChatModel,
  createMessagesModel,
  createReplicas,
  createResponsesModel,
} from './models/index.ts'
