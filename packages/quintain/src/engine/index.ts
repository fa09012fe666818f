export type { Player, Recordings } from './policy.ts'
export type { Progress } from './progress.ts'
export type { HostDescription } from './protocol.ts'
export {
  previewRun,
  type ResumeOptions,
  type RunControl,
  type RunEnd,
  type RunOptions,
  type RunPreview,
  resumeRun,
  startRun,
} from './run.ts'
export type { RunStop } from './scheduler.ts'
