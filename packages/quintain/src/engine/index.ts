export { type Agent, agentDigest, digestOf, harnessOf } from './agent.ts'
export { readArtefacts } from './artefact-store.ts'
export { checkHarness } from './check-options.ts'
export { totalReward } from './grade.ts'
export { gradingSandbox, type OpenGradingSandbox } from './grading-sandbox.ts'
export { failureOf } from './harness-end.ts'
export { JudgeDesk } from './judge-desk.ts'
export { refuseServed } from './manifest.ts'
export type { OrderEnd, PanelWatch } from './pace.ts'
export {
  type PanelEnd,
  type PanelOptions,
  type PanelResumeOptions,
  previewPanel,
  resumePanel,
  startPanel,
} from './panel.ts'
export {
  noCalls,
  type PlayEnd,
  type PlayFailure,
  type PlayStart,
  type SeatPlayers,
  type WorldSide,
} from './play.ts'
export type { AgentPlayer, Behind, Player, Recordings } from './policy.ts'
export type { Progress } from './progress.ts'
export type { HostDescription, Job } from './protocol.ts'
export { hideKeys } from './redact.ts'
export { failRollout } from './rollout-guard.ts'
export {
  openRolloutRun,
  type Rollout,
  type RolloutResumeOptions,
  type RolloutRun,
  type RolloutRunOptions,
  resumeRolloutRun,
} from './rollout-run.ts'
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
export { openServedRun, type ServedAttempt, type ServedRun, type ServedRunOptions } from './served-run.ts'
export type { TaskSummary } from './taskset.ts'
