export * from './create-embedded.ts'
export type { EmbeddedLearner } from './embedded-learner.ts'
export { checkedShape, type EmbeddedShape, parameterCount } from './shape.ts'
