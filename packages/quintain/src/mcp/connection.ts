import type { Client, Transport } from '@modelcontextprotocol/client'
import { quintainVersion } from '../core/version.ts'
import { GuardedTransport } from './guarded-transport.ts'
import { loadClient } from './sdk.ts'

/** A revision of the protocol: of 2026 and later without a handshake (`modern`), or with `initialize` (`legacy`). */
export type Era = 'auto' | 'modern' | 'legacy'

/** What a connection is made of: one transport of its own, never shared. */
export interface Channel {
  guard: GuardedTransport
  /** Ends what the protocol has for an end of session, before the transport is closed. */
  endSession?(): Promise<void>
}

/** How channels to one server are made, and what is known of it. */
export interface ChannelMaker {
  name: string
  open(): Promise<Channel>
  /** The only era that it can have, where that is known. */
  era: Era | undefined
  connected(era: 'modern' | 'legacy' | undefined): void
  lastWords(): string
  stderr(): string
  skippedLines(): number
  pid(): number | undefined
}

/** One client on one transport, connected. */
export class Connection {
  readonly client: Client
  readonly channel: Channel
  /** Why nothing more can come from it. */
  lost: string | undefined
  private closed: Promise<void> | undefined

  private constructor(client: Client, channel: Channel) {
    this.client = client
    this.channel = channel
  }

  /** Connects; the transport is closed when that fails. Takes as long as it takes: close it to give it up. */
  static async open(options: {
    channel: Channel
    era: Era
    /** How long a server may leave the probe for the era unanswered before it is taken for a legacy one. */
    probeMs: number
    onToolsChanged(): void
  }): Promise<Connection> {
    const { Client } = await loadClient()
    const { era, channel } = options
    const client = new Client(
      { name: 'quintain', version: quintainVersion },
      {
        // No elicitation, no sampling, no roots: nobody sits here to answer, and the world's model is not the server's.
        capabilities: {},
        versionNegotiation: {
          mode: era === 'modern' ? { pin: '2026-07-28' } : era,
          probe: { timeoutMs: options.probeMs },
        },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: 0, onChanged: () => options.onToolsChanged() },
        },
      },
    )
    const connection = new Connection(client, channel)
    client.onerror = () => {}
    client.onclose = () => {
      connection.lost ??= 'the connection was closed'
    }
    try {
      await client.connect(channel.guard, { timeout: 2 ** 31 - 1 })
    } catch (thrown) {
      await channel.guard.close().catch(() => {})
      throw thrown
    }
    return connection
  }

  /** Ends the session and closes the transport. */
  close(): Promise<void> {
    this.closed ??= this.end()
    return this.closed
  }

  private async end(): Promise<void> {
    this.lost ??= 'it was closed'
    await this.channel.endSession?.().catch(() => {})
    await this.client.close().catch(() => {})
    // The client forgets a transport that has closed by itself; its process may still have to be ended.
    await this.channel.guard.close().catch(() => {})
  }
}

/** A transport that was made elsewhere, such as one in memory. */
export function channelOf(transport: Transport): Channel {
  return { guard: new GuardedTransport(transport) }
}
