import { type Model, QuintainError } from '../core/index.ts'
import type { Player } from '../engine/index.ts'
import type { chatModelFromEnv, Price, RecordedModel, ServerKind } from '../models/index.ts'
import type { CliIo } from './io.ts'
import { type GivenPrice, parseJudges, parseSeats } from './parse.ts'

/** Options of commands that call models. */
export interface EndpointOptions {
  /** Several are replicas. */
  baseUrl?: string[]
  server?: ServerKind
  apiKeyEnv?: string
  concurrency?: number
  price?: GivenPrice[]
}

type FromEnv = NonNullable<Parameters<typeof chatModelFromEnv>[1]>

/** A policy of the embedded engine, `checkpoint:PATH`. */
const isCheckpoint = (name: string): boolean => name.startsWith('checkpoint:')

/** What stands in the place of a key where nothing is called. */
const noKey = 'no-key'

/**
 * Opens the models of a run's seats: one connection pool and one adaptive limiter for the endpoint that the options or
 * `OPENAI_BASE_URL` name. Keys come from environment variables alone; one on the command line would be in every
 * process list.
 */
export class PlayerOpener {
  /** What the run will lack, when `keyless`. */
  readonly missing: string[] = []
  private readonly options: EndpointOptions & { keyless?: boolean }
  private readonly io: CliIo
  private readonly models = new Map<string, Model>()

  /** `keyless`: nothing will be called, so a model may be opened without its key. */
  constructor(options: EndpointOptions & { keyless?: boolean }, io: CliIo) {
    this.options = options
    this.io = io
  }

  /** A seat's player as it is typed: `script:NAME`, `recorded:PATH`, or what `model` takes. Throws as it does. */
  async player(text: string): Promise<Player> {
    return /^(script|recorded):/.test(text) ? { policy: text } : { model: await this.model(text) }
  }

  /** Who plays the other seats, as `--seat` was typed. Throws `usage`, and as `player`. */
  async seats(texts: readonly string[] = []): Promise<Record<string, Player>> {
    const seats: Record<string, Player> = {}
    for (const [seat, text] of Object.entries(parseSeats(texts))) seats[seat] = await this.player(text)
    return seats
  }

  /** The models of the judges, as `--judge` was typed. Throws `usage`, and as `model`. */
  async judges(texts: readonly string[] = []): Promise<Record<string, Model>> {
    const judges: Record<string, Model> = {}
    for (const [judge, name] of Object.entries(parseJudges(texts))) judges[judge] = await this.model(name)
    return judges
  }

  /** A model by its name, or a checkpoint of a policy. Throws `provider_unconfigured`, and `checkpoint_invalid`. */
  async model(name: string): Promise<Model> {
    if (isCheckpoint(name)) return await this.checkpoint(name)
    const { chatModelFromEnv } = await import('../models/index.ts')
    return this.open(name, (options) => chatModelFromEnv(name, options))
  }

  /**
   * The model that a run recorded; options go before where and how an earlier sitting asked it. Throws
   * `provider_unconfigured`, and `policy_unknown` for one that was made in code.
   */
  async modelAgain(seat: string, recorded: RecordedModel): Promise<Model> {
    const { modelAgain } = await import('../models/index.ts')
    const { policy } = recorded
    if (isCheckpoint(policy)) return await this.checkpoint(policy)
    return this.open(policy, (options) => {
      const model = modelAgain(recorded, options)
      if (model !== undefined) return model
      throw new QuintainError(
        'policy_unknown',
        `The ${seat} of this run is ${policy}, a model that was made in code; go on from there, with resume(dir, { model }).`,
        { facts: { seat, policy } },
      )
    })
  }

  /** A policy as a model; its threads end with `close`. */
  private async checkpoint(name: string): Promise<Model> {
    const open = this.models.get(name)
    if (open !== undefined) return open
    const { openCheckpointModel } = await import('./checkpoint-model.ts')
    const model = await openCheckpointModel(name, this.io.cwd)
    this.models.set(name, model)
    return model
  }

  private open(name: string, openWith: (options: FromEnv) => Model): Model {
    const open = this.models.get(name)
    if (open !== undefined) return open
    const { baseUrl, server, apiKeyEnv, concurrency } = this.options
    const bare = name.replace(/^openai-compatible:/, '')
    const price = this.priceOf(bare)
    const options: FromEnv = {
      env: this.io.env,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(server === undefined ? {} : { server }),
      ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(price === undefined ? {} : { client: { prices: { [bare]: price } } }),
    }
    const model = this.options.keyless === true ? this.openKeyless(openWith, options) : openWith(options)
    this.models.set(name, model)
    return model
  }

  private openKeyless(openWith: (options: FromEnv) => Model, options: FromEnv): Model {
    try {
      return openWith(options)
    } catch (error) {
      if (!QuintainError.isInstance(error) || error.code !== 'provider_unconfigured') throw error
      if (!this.missing.includes(error.message)) this.missing.push(error.message)
      const variable = String(error.facts['variable'])
      return openWith({ ...options, env: { ...this.io.env, [variable]: noKey } })
    }
  }

  /** The last price that names the model, else the last that names none. */
  private priceOf(name: string): Price | undefined {
    const { price = [] } = this.options
    return (
      price.findLast(({ model }) => model === name) ?? price.findLast(({ model }) => model === undefined)
    )?.price
  }

  async close(): Promise<void> {
    for (const model of this.models.values()) await model.close?.()
  }
}
