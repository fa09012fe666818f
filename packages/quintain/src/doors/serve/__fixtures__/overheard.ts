import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Overheard {
  /** The address under which clients reach what is behind. */
  url: string
  /** All that was answered, on all connections. */
  text(): string
  close(): Promise<void>
}

/** Stands between clients and an address, and keeps every byte that is answered. */
export async function overhear(url: string): Promise<Overheard> {
  const behind = new URL(url)
  const heard: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const there = connect({ host: behind.hostname, port: Number(behind.port), allowHalfOpen: true })
    there.on('data', (chunk: Buffer) => heard.push(chunk))
    client.pipe(there)
    there.pipe(client)
    for (const socket of [client, there]) {
      sockets.add(socket)
      socket.on('error', () => {
        client.destroy()
        there.destroy()
      })
      socket.once('close', () => sockets.delete(socket))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${behind.protocol}//127.0.0.1:${port}`,
    text: () => Buffer.concat(heard).toString('utf8'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
