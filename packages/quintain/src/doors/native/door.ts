import { openHttp } from '../../core/http-port.ts'
import type { Door } from '../serve/door.ts'
import { problemBody } from './refusals.ts'
import { nativeRoutes } from './routes.ts'

/**
 * Sessions as they are, one route for each of their methods, for clients that we write ourselves: the Python client and the
 * packages that stand on it. It adds nothing of another protocol and loses nothing: a fault is a fault, rewards keep their
 * names.
 */
export const nativeDoor: Door = {
  name: 'native',
  title: 'Quintain',
  plane: { authentication: 'bearer token', origin: 'many', merges: true },
  carries: { turns: true, tools: true, seats: true, images: true, groupRewards: false, sandbox: true },
  unscored: 'error',
  losses: () => [],
  async open(cores, { host, port, token, names, log }) {
    const http = await openHttp({
      host,
      port,
      ...(token === undefined ? {} : { token }),
      ...(names === undefined ? {} : { names }),
      open: new Set(['/health']),
      handle: nativeRoutes(cores),
      problem: problemBody,
      log,
    })
    const environments = cores.map(({ environment }) => environment.slug)
    return { addresses: [{ environments, url: http.url, plane: 'both' }], close: () => http.close() }
  },
}
