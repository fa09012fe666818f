import { type Model, QuintainError } from '../core/index.ts'
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
    const openWith = (env: CliIo['env']) =>
      chatModelFromEnv(name, {
        env,
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(price === undefined ? {} : { client: { prices: { [bare]: price } } }),
      })
    const model = this.options.keyless === true ? this.openKeyless(openWith) : openWith(this.io.env)
    this.models.set(name, model)
    return model
  }

  private openKeyless(open: (env: CliIo['env']) => Model): Model {
    try {
      return open(this.io.env)
    } catch (error) {
      if (!QuintainError.isInstance(error) || error.code !== 'provider_unconfigured') throw error
      if (!this.missing.includes(error.message)) this.missing.push(error.message)
      return open({ ...this.io.env, [this.options.apiKeyEnv ?? 'OPENAI_API_KEY']: noKey })
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
