export type { LoadWeights } from './control.ts'
export * from './model-server.ts'
export { ServedWeights, type Weights, type WeightsLease } from './served-weights.ts'
