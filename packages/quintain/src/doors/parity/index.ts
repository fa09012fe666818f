export type { GraderParity, ParityTolerance } from './compare-scores.ts'
export { type ParityRow, type ReadParityRow, readParityRow } from './parity-row.ts'
export { parityText } from './parity-text.ts'
export { agrees, type ParityReport, type ReplayOptions, replay } from './replay.ts'
