import { FaultError, messageOf } from '../core/index.ts'
import type { Gateway, GatewayOptions } from '../gateway/index.ts'

export type OpenGateway = (options: GatewayOptions) => Promise<Gateway>

/** The gateway of a run, opened when the first agent asks for its address: most runs need none. */
export class RunGateway {
  private readonly openGateway: OpenGateway
  private readonly log: (text: string) => void
  private opened: Promise<Gateway> | undefined
  private closed = false

  constructor(openGateway: OpenGateway, log: (text: string) => void) {
    this.openGateway = openGateway
    this.log = log
  }

  /** Rejects with a `FaultError` of the gateway when it cannot listen; asked again, it is tried again. */
  get(): Promise<Gateway> {
    this.opened ??= this.open()
    return this.opened
  }

  async close(): Promise<void> {
    this.closed = true
    const gateway = await this.opened?.catch(() => undefined)
    await gateway?.close()
  }

  private async open(): Promise<Gateway> {
    try {
      if (this.closed) throw new Error('the run is over')
      return await this.openGateway({ log: this.log })
    } catch (thrown) {
      this.opened = undefined
      const message = `the gateway did not open: ${messageOf(thrown)}`
      throw new FaultError(
        { owner: 'gateway', code: 'gateway_start_failed', message, retryable: true },
        thrown,
      )
    }
  }
}
