import { QuintainError } from '../../core/index.ts'
import { serveJsonTools } from './json-tools.ts'
import { mcpToolsOf } from './mcp-tools-of.ts'
import { SharedServer } from './shared-server.ts'
import type { ToolDesk } from './tool-desk.ts'

/** A call's deadline is the world's own; what waits behind others has none. */
const mostMs = 2 ** 31 - 1
/** Of one attempt, calls that may wait; more are answered with an error. */
const maxWaiting = 1_000

/** Where a program reaches tools, on 127.0.0.1. */
export interface ToolAddress {
  readonly port: number
  /** Path and query below it; what is in it is the credential. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

const jsonServer = new SharedServer(() => serveJsonTools())
// Loaded by the first program that is given tools: every worker would else hold it and play none.
const mcpServer = new SharedServer(async () => (await import('../../mcp/index.ts')).serveTools())

/** The addresses of one desk, opened when they are asked for and closed with it. */
export class ServedTools {
  private readonly desk: ToolDesk
  private readonly closing: (() => Promise<void>)[] = []
  private jsonAddress: Promise<ToolAddress> | undefined
  private mcpAddress: Promise<ToolAddress> | undefined

  constructor(desk: ToolDesk) {
    this.desk = desk
  }

  json(): Promise<ToolAddress> {
    this.jsonAddress ??= this.openJson()
    return this.jsonAddress
  }

  /** Throws `needs_unmet` when `@modelcontextprotocol/server` is not installed. */
  mcp(): Promise<ToolAddress> {
    this.mcpAddress ??= this.openMcp()
    return this.mcpAddress
  }

  /** As `mcp`; undefined where the package for it is not installed. */
  async mcpWhereInstalled(): Promise<ToolAddress | undefined> {
    try {
      return await this.mcp()
    } catch (thrown) {
      if (QuintainError.isInstance(thrown) && thrown.code === 'needs_unmet') return undefined
      throw thrown
    }
  }

  async close(): Promise<void> {
    // One that is being opened is closed as well.
    await Promise.allSettled([this.jsonAddress, this.mcpAddress])
    await Promise.all(this.closing.splice(0).map((close) => close()))
  }

  private async openJson(): Promise<ToolAddress> {
    const { server, release } = await jsonServer.acquire()
    const { path, close } = server.mount(this.desk)
    this.closing.push(async () => {
      close()
      await release()
    })
    return { port: server.port, path, headers: {} }
  }

  private async openMcp(): Promise<ToolAddress> {
    const { server, release } = await mcpServer.acquire()
    const mount = server.mount({ tools: mcpToolsOf(this.desk), callMs: mostMs, maxWaiting })
    this.closing.push(async () => {
      await mount.close()
      await release()
    })
    return { port: server.port, path: new URL(mount.url).pathname, headers: mount.headers }
  }
}
