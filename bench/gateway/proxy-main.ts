/**
 * The peer: the reverse proxy that one would write with `node:http` and undici in an afternoon, `node proxy-main.ts
 * PORT`. It passes bodies on as they come and looks at nothing.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { serveParent } from './server-process.ts'

const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 4_096, keepAliveTimeout: 60_000 })

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const { host: _, connection: __, ...headers } = request.headers
  pool.stream(
    { path: request.url ?? '/', method: 'POST', headers, body: request },
    ({ statusCode, headers: { connection: ___, 'transfer-encoding': ____, ...rest } }) => {
      response.writeHead(statusCode, rest)
      return response
    },
    (error) => {
      if (error !== null) response.destroy(error)
    },
  )
})
server.listen(0, '127.0.0.1', () =>
  serveParent({ port: (server.address() as AddressInfo).port, path: '/v1/chat/completions', keys: [] }),
)
