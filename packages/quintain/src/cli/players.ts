import type { Model } from '../core/index.ts'
import type { Player } from '../engine/index.ts'
import type { Price } from '../models/index.ts'
import type { CliIo } from './io.ts'
import type { GivenPrice } from './parse.ts'

/** Options of commands that call models. */
export interface EndpointOptions {
  baseUrl?: string
  apiKeyEnv?: string
  concurrency?: number
  price?: GivenPrice[]
}

/**
 * Opens the models of a run's seats: one connection pool and one adaptive limiter for the endpoint that the options or
 * `OPENAI_BASE_URL` name. Keys come from environment variables alone; one on the command line would be in every
 * process list.
 */
export class PlayerOpener {
  private readonly options: EndpointOptions
  private readonly io: CliIo
  private readonly models = new Map<string, Model>()

  constructor(options: EndpointOptions, io: CliIo) {
    this.options = options
    this.io = io
  }

  /** A seat's player as it is typed: `script:NAME`, `recorded:PATH`, or a model's name. Throws `provider_unconfigured`. */
  async player(text: string): Promise<Player> {
    return /^(script|recorded):/.test(text) ? { policy: text } : { model: await this.model(text) }
  }

  /** `endpoint` is where an earlier sitting of the run asked; an option goes before it. */
  async model(name: string, endpoint?: string): Promise<Model> {
    const open = this.models.get(name)
    if (open !== undefined) return open
    const { chatModelFromEnv } = await import('../models/index.ts')
    const { baseUrl = endpoint, apiKeyEnv, concurrency } = this.options
    const bare = name.replace(/^openai-compatible:/, '')
    const price = this.priceOf(bare)
    const model = chatModelFromEnv(name, {
      env: this.io.env,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(price === undefined ? {} : { client: { prices: { [bare]: price } } }),
    })
    this.models.set(name, model)
    return model
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
