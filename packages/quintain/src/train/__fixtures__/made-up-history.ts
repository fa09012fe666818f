import type { EndRecord, EvaluationRecord, StepRecord, TrainingRecord } from '../records.ts'

/** A step in which nothing is wrong. */
export function madeUpStep(step: number, given: Partial<StepRecord> = {}): StepRecord {
  return {
    schema: 'quintain.train-step',
    v: 1,
    kind: 'step',
    step,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, step)).toISOString(),
    elapsedS: step,
    seconds: { rollouts: 0.6, training: 0.3, other: 0.1 },
    groups: [{ id: `g${step}`, task: 'task-1', orders: ['o1', 'o2'] }],
    left: {},
    rollouts: 64,
    scored: 64,
    rewardMean: 0.5,
    rewardSpread: 0.4,
    success: 0.5,
    deadGroups: 0.2,
    truncated: 0,
    malformed: 0,
    tokensMean: 40,
    turnsMean: 3,
    trainedTokens: 1_000,
    entropy: 1,
    loss: 0,
    gradNorm: 0.3,
    learningRate: 1e-3,
    mismatch: { k1: 0, k2: 0, maxRatio: 1 },
    clipped: 0,
    kl: null,
    staleness: { mean: 0, max: 0 },
    shadow: null,
    version: step,
    alarms: [],
    ...given,
  }
}

/** As many steps, each with what `given` says of it (from 1). */
export function madeUpSteps(
  count: number,
  given: (step: number) => Partial<StepRecord> = () => ({}),
): StepRecord[] {
  return Array.from({ length: count }, (_, i) => madeUpStep(i + 1, given(i + 1)))
}

/** An evaluation at temperature 1 on validation tasks; its interval is ten points wide. */
export function madeUpEvaluation(
  step: number,
  success: number,
  given: Partial<EvaluationRecord> = {},
): EvaluationRecord {
  const role = given.role ?? 'validation'
  return {
    schema: 'quintain.train-step',
    v: 1,
    kind: 'evaluation',
    step,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, step)).toISOString(),
    elapsedS: step,
    split: role,
    role,
    temperature: 1,
    tasks: 100,
    rollouts: 100,
    scored: 100,
    success,
    interval: [Math.max(0, success - 0.05), Math.min(1, success + 0.05)],
    reward: success,
    run: `evals/${role}-${step}-t1`,
    ...given,
  }
}

export function madeUpEnd(step: number, reason: EndRecord['reason'] = 'done'): EndRecord {
  return {
    schema: 'quintain.train-step',
    v: 1,
    kind: 'end',
    step,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, step)).toISOString(),
    elapsedS: step,
    reason,
    says: `${reason} after ${step} steps`,
    best: `checkpoints/step-${String(step).padStart(6, '0')}`,
  }
}

/** `train.json` of a training by GRPO of a small embedded policy. */
export function madeUpTraining(given: Partial<TrainingRecord> = {}): TrainingRecord {
  return {
    schema: 'quintain.training',
    v: 1,
    created: '2026-01-01T00:00:00.000Z',
    quintain: '0.1.0',
    algorithm: {
      recipe: 'grpo',
      groups: 24,
      groupSize: 16,
      minibatches: 4,
      epochs: 1,
      advantage: { baseline: 'mean', scale: 'none', std: 'population', eps: 1e-6 },
      loss: { name: 'importance_sampling' },
      normalise: 'token',
      filterZeroVariance: true,
      tolerance: 1e-9,
      refill: 1,
      maskTruncated: false,
      adam: {
        learningRate: 1e-3,
        decayTo: 0.1,
        beta1: 0.9,
        beta2: 0.99,
        eps: 1e-8,
        weightDecay: 0,
        gradClipNorm: 0.5,
      },
    },
    engine: {
      name: 'embedded',
      model: { kind: 'decoder', parameters: 100_000, sizes: { layers: 2, width: 64, heads: 4 } },
    },
    from: null,
    seed: '0',
    steps: 200,
    splits: { train: 'train', validation: 'validation', test: 'test' },
    options: {},
    ...given,
  }
}
