import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

export interface Item {
  sku: string
  kind: string
  /** In cents. */
  price: number
  stock: number
}

const order = z.object({ sku: z.string(), count: z.int().min(1) })

/** The world of one attempt: the API that the agent's own tools call, and what was ordered there. */
export class StockRoom {
  private readonly items: readonly Item[]
  private readonly server: Server
  private readonly orders: z.infer<typeof order>[] = []

  static async open(items: readonly Item[]): Promise<StockRoom> {
    const room = new StockRoom(items)
    room.server.listen(0, '127.0.0.1')
    await once(room.server, 'listening')
    return room
  }

  private constructor(items: readonly Item[]) {
    this.items = items
    this.server = createServer(async (request, response) => {
      const { status, body } = await this.answer(request)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  }

  endpoints() {
    const { port } = this.server.address() as AddressInfo
    return { STOCK_API: `http://127.0.0.1:${port}` }
  }

  finish() {
    return { orders: this.orders }
  }

  async close() {
    this.server.closeAllConnections()
    await new Promise((done) => this.server.close(done))
  }

  private async answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stock')
    if (pathname === '/items') {
      const kind = searchParams.get('kind')
      return { status: 200, body: this.items.filter((item) => item.kind === kind) }
    }
    if (pathname !== '/orders' || request.method !== 'POST')
      return { status: 404, body: { error: `there is no ${request.method} ${pathname}` } }
    const { data } = order.safeParse(parsed(await text(request)))
    const item = this.items.find(({ sku }) => sku === data?.sku)
    if (data === undefined || item === undefined)
      return { status: 400, body: { error: 'name a sku and a count' } }
    if (item.stock < data.count) return { status: 409, body: { error: `there are only ${item.stock}` } }
    this.orders.push(data)
    return { status: 200, body: { ordered: data.count, sku: data.sku } }
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
