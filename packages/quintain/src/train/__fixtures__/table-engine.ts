import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { QuintainError } from '../../core/index.ts'
import { checkData } from '../datum.ts'
import type {
  AdamParams,
  Datum,
  EngineCapabilities,
  ForwardBackwardResult,
  Learner,
  LossFunction,
  LossSpec,
  ModelShape,
  Operation,
  OptimStepResult,
  Sampler,
} from '../engine.ts'
import { resolveLoss } from '../losses.ts'
import { OperationLog } from '../operations.ts'
import { keyOf, logSumExp, type Row, scored } from './table.ts'
import { TableSampler } from './table-sampler.ts'

export interface TableOptions {
  vocabulary: number
  /** Most tokens of a sequence; 256 when absent. */
  context?: number
  /**
   * How many of the last ids decide what comes next; 2 when absent. `Infinity`: all of them, a policy that learns each
   * beginning by itself.
   */
  order?: number
}

/** Logits by the last ids, and the moments of Adam. */
interface Table {
  logits: Map<string, Row>
  first: Map<string, Row>
  second: Map<string, Row>
}

/**
 * A policy that is a table of logits by the last ids, for tests: plain TypeScript in double precision, exact and quick at a
 * few hundred rows. All logits begin at 0, so an untrained policy is uniform; only rows that were trained are kept. Losses are
 * any of `losses`, or a function.
 *
 * @example const learner = createTableLearner({ vocabulary: 5, order: 1 })
 */
export function createTableLearner(options: TableOptions): Learner {
  return new TableLearner(options)
}

const stateSchema = z.object({
  vocabulary: z.int(),
  order: z.number().nullable(),
  version: z.int().min(0),
  logits: z.record(z.string(), z.array(z.number())),
  first: z.record(z.string(), z.array(z.number())),
  second: z.record(z.string(), z.array(z.number())),
})

class TableLearner implements Learner {
  readonly capabilities: EngineCapabilities
  readonly model: ModelShape
  version = 0
  private readonly order: number
  private table: Table = { logits: new Map(), first: new Map(), second: new Map() }
  private gradient = new Map<string, Row>()
  private readonly log = new OperationLog<{
    forward_backward: ForwardBackwardResult
    optim_step: OptimStepResult
    reset_optimiser: undefined
  }>()

  constructor({ vocabulary, context = 256, order = 2 }: TableOptions) {
    this.order = order
    this.capabilities = {
      name: 'table',
      losses: 'any',
      entropy: true,
      deterministic: true,
      context,
      vocabulary,
    }
    const parameters = Math.min(Number.MAX_SAFE_INTEGER, vocabulary ** (Math.min(order, context) + 1))
    this.model = {
      kind: 'table',
      parameters,
      sizes: { vocabulary, context, order: Math.min(order, context) },
    }
  }

  forwardBackward(
    data: readonly Datum[],
    loss: LossSpec | LossFunction,
    operation: Operation,
  ): Promise<ForwardBackwardResult> {
    return this.log.take(
      'forward_backward',
      operation,
      () => this.version,
      () => {
        const compute = resolveLoss(loss)
        checkData(data, this.capabilities)
        const { logprobs, entropies } = scored(
          data,
          this.table.logits,
          this.order,
          this.capabilities.vocabulary,
        )
        const value = compute(data, logprobs)
        const numbers = [[value.loss], ...logprobs, ...value.gradients]
        if (!numbers.every((array) => array.every((number) => Number.isFinite(number)))) {
          throw new QuintainError('not_finite', 'The loss is no number. The learner is as it was.', {
            facts: { loss: value.loss },
          })
        }
        for (const [at, { input, target }] of data.entries()) {
          for (let t = 0; t < target.length; t++) {
            const slope = value.gradients[at]![t]!
            if (slope !== 0) this.gather(keyOf(input, t, this.order), target[t]!, slope)
          }
        }
        return { loss: value.loss, logprobs, entropies, metrics: value.metrics }
      },
    )
  }

  async forward(data: readonly Datum[]): Promise<Pick<ForwardBackwardResult, 'logprobs' | 'entropies'>> {
    checkData(data, this.capabilities)
    return scored(data, this.table.logits, this.order, this.capabilities.vocabulary)
  }

  optimStep(adam: AdamParams, operation: Operation): Promise<OptimStepResult> {
    return this.log.take(
      'optim_step',
      operation,
      () => this.version,
      () => {
        let square = 0
        for (const row of this.gradient.values()) for (const value of row) square += value * value
        const gradNorm = Math.sqrt(square)
        if (!Number.isFinite(gradNorm)) {
          this.gradient = new Map()
          throw new QuintainError('not_finite', 'The gradient is no number. The weights are as they were.')
        }
        const { gradClipNorm = 0 } = adam
        const scale = gradClipNorm > 0 && gradNorm > gradClipNorm ? gradClipNorm / gradNorm : 1
        this.version++
        for (const key of new Set([...this.table.logits.keys(), ...this.gradient.keys()]))
          this.adamRow(key, adam, scale)
        this.gradient = new Map()
        return { gradNorm, version: this.version }
      },
    )
  }

  resetOptimiser(operation: Operation): Promise<void> {
    return this.log.take(
      'reset_optimiser',
      operation,
      () => this.version,
      () => {
        this.table = { logits: this.table.logits, first: new Map(), second: new Map() }
        return undefined
      },
    )
  }

  async save(folder: string): Promise<void> {
    const plain = (rows: Map<string, Row>) =>
      Object.fromEntries([...rows].map(([key, row]) => [key, [...row]]))
    const { vocabulary } = this.capabilities
    const { logits, first, second } = this.table
    const state: z.infer<typeof stateSchema> = {
      vocabulary,
      order: Number.isFinite(this.order) ? this.order : null,
      version: this.version,
      logits: plain(logits),
      first: plain(first),
      second: plain(second),
    }
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'table.json.part'), JSON.stringify(state))
    await rename(join(folder, 'table.json.part'), join(folder, 'table.json'))
  }

  async load(folder: string, { optimiser = true }: { optimiser?: boolean } = {}): Promise<void> {
    const refuse = (what: string, cause?: unknown) =>
      new QuintainError('checkpoint_invalid', `The checkpoint ${folder} ${what}`, {
        cause,
        facts: { folder },
      })
    let state: z.infer<typeof stateSchema>
    try {
      state = stateSchema.parse(JSON.parse(await readFile(join(folder, 'table.json'), 'utf8')))
    } catch (thrown) {
      throw refuse('cannot be read as a table.', thrown)
    }
    const { vocabulary } = this.capabilities
    if (state.vocabulary !== vocabulary || (state.order ?? Number.POSITIVE_INFINITY) !== this.order) {
      throw refuse(
        `is of another shape than this learner: vocabulary ${state.vocabulary}, order ${state.order}.`,
      )
    }
    const rows = (plain: Record<string, number[]>) =>
      new Map(Object.entries(plain).map(([key, row]) => [key, Float64Array.from(row)]))
    this.table = {
      logits: rows(state.logits),
      first: rows(optimiser ? state.first : {}),
      second: rows(optimiser ? state.second : {}),
    }
    this.version = state.version
    this.gradient = new Map()
  }

  async sampler(): Promise<Sampler> {
    return new TableSampler(new Map(this.table.logits), this.order, this.version, this.capabilities)
  }

  async close(): Promise<void> {}

  private gather(key: string, target: number, slope: number): void {
    const { vocabulary } = this.capabilities
    const logits = this.table.logits.get(key)
    const total = logSumExp(logits, vocabulary)
    const row = this.gradient.get(key) ?? new Float64Array(vocabulary)
    this.gradient.set(key, row)
    for (let id = 0; id < vocabulary; id++) row[id]! -= slope * Math.exp((logits?.[id] ?? 0) - total)
    row[target]! += slope
  }

  /** AdamW of a row; a new array, since samplers hold the old one. */
  private adamRow(key: string, adam: AdamParams, scale: number): void {
    const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0 } = adam
    const { vocabulary } = this.capabilities
    const old = this.table.logits.get(key) ?? new Float64Array(vocabulary)
    const first = this.table.first.get(key) ?? new Float64Array(vocabulary)
    const second = this.table.second.get(key) ?? new Float64Array(vocabulary)
    const gradient = this.gradient.get(key)
    const row = new Float64Array(vocabulary)
    for (let id = 0; id < vocabulary; id++) {
      const slope = (gradient?.[id] ?? 0) * scale
      first[id] = beta1 * first[id]! + (1 - beta1) * slope
      second[id] = beta2 * second[id]! + (1 - beta2) * slope * slope
      const mean = first[id]! / (1 - beta1 ** this.version)
      const spread = Math.sqrt(second[id]! / (1 - beta2 ** this.version))
      row[id] = old[id]! * (1 - learningRate * weightDecay) - (learningRate * mean) / (spread + eps)
    }
    this.table.logits.set(key, row)
    this.table.first.set(key, first)
    this.table.second.set(key, second)
  }
}
