export { type Agent, agentDigest, digestOf, harnessOf } from './agent.ts'
export { readArtefacts } from './artefact-store.ts'
export { checkHarness } from './check-options.ts'
export type { OrderEnd, PanelWatch } from './pace.ts'
export {
  type PanelEnd,
  type PanelOptions,
  type PanelResumeOptions,
  previewPanel,
  resumePanel,
  startPanel,
} from './panel.ts'
export type { AgentPlayer, Behind, Player, Recordings } from './policy.ts'
export type { Progress } from './progress.ts'
export type { HostDescription } from './protocol.ts'
export { hideKeys } from './redact.ts'
export { failRollout } from './rollout-guard.ts'
export { previewRun, type RunEnd, type RunPreview, resumeRun, startRun } from './run.ts'
export {
  controlNames,
  type ExtendOptions,
  type OpenSandbox,
  type PlanOptions,
  planNames,
  type ResumeOptions,
  type RunControl,
  type RunOptions,
} from './run-options.ts'
export type { RunStop } from './scheduler.ts'
