import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { openHttp } from '../../core/http-port.ts'
import type { Door, DoorOptions, OpenDoor } from '../serve/door.ts'
import { callsAreTurns, type Loss, noGroupRewards, objectsAlone, textBesideCalls } from '../serve/loss.ts'
import type { ServedEnvironment, SessionCore } from '../session/session.ts'
import { Instances } from './instances.ts'
import { openEnvRoutes } from './routes.ts'
import { holdRpc, holdSession } from './session-socket.ts'
import { defaultTimes, type Times } from './times.ts'

/**
 * OpenEnv: episodes by WebSocket, where a socket is an environment, and answers are told apart by their order alone.
 *
 * Source: huggingface/OpenEnv, `src/openenv/core/env_server`, release 0.10.0.
 */
export const openEnvDoor: Door = {
  name: 'openenv',
  title: 'OpenEnv',
  plane: { authentication: 'bearer token', origin: 'one', merges: true },
  carries: { turns: true, tools: true, seats: true, images: true, groupRewards: false, sandbox: true },
  unscored: 'error',
  losses,
  open: (cores, options) => openOpenEnv(cores, options, defaultTimes),
}

function losses({ needs, success, rewards, metrics }: ServedEnvironment): Loss[] {
  const lost: Loss[] = []
  if (needs.includes('tools')) lost.push(textBesideCalls, callsAreTurns, objectsAlone)
  if (success || Object.keys(rewards).length > 1 || metrics.length > 0)
    lost.push({
      says: 'Trainers see one number; success, the single rewards and the metrics stand in its metadata.',
    })
  if (needs.includes('images'))
    lost.push({
      says: 'Clients for tools and generated classes show texts alone; pictures stand in `messages`.',
    })
  if (needs.includes('groupRewards')) lost.push(noGroupRewards)
  lost.push({
    says: 'An episode that is ended early is scored where the client sends { "type": "finish" }, which only ours do.',
  })
  return lost
}

/** As `openEnvDoor.open`, with other times. */
export async function openOpenEnv(
  cores: readonly SessionCore[],
  options: DoorOptions,
  times: Times,
): Promise<OpenDoor> {
  const open: Awaited<ReturnType<typeof openAddress>>[] = []
  try {
    for (const [place, core] of cores.entries()) {
      const port = options.port === 0 ? 0 : options.port + place
      open.push(await openAddress(core, { ...options, port }, times))
    }
  } catch (thrown) {
    await Promise.all(open.map((one) => one.close()))
    throw thrown
  }
  return {
    addresses: open.map(({ url }, place) => {
      return { environments: [cores[place]!.environment.slug], url, plane: 'both' as const }
    }),
    async close() {
      await Promise.all(open.map((one) => one.close()))
    },
  }
}

async function openAddress(core: SessionCore, options: DoorOptions, times: Times) {
  const { host, port, token, names, log } = options
  const instances = new Instances(core, times, log)
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: times.mostFrameBytes,
    perMessageDeflate: false,
  })
  const context = { instances, times, log }
  const http = await openHttp({
    host,
    port,
    ...(token === undefined ? {} : { token }),
    ...(names === undefined ? {} : { names }),
    open: new Set(['/health']),
    handle: openEnvRoutes(instances, log),
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
      const [pathname, search] = (request.url ?? '/').split('?', 2)
      if (pathname !== '/ws' && pathname !== '/mcp') {
        socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
        return
      }
      sockets.handleUpgrade(request, socket, head, (opened) => {
        if (pathname === '/mcp') holdRpc(opened, context)
        else holdSession(opened, new URLSearchParams(search).get('session_id') || undefined, context)
      })
    },
    log,
  })
  return {
    url: http.url,
    async close() {
      instances.stop()
      for (const socket of sockets.clients) socket.terminate()
      await http.close()
    },
  }
}
