import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { isLoopback } from '../../core/http-port.ts'
import { messageOf, QuintainError } from '../../core/index.ts'
import { serveTools } from '../../mcp/index.ts'
import type { Door, DoorAddress, DoorOptions, OpenDoor } from '../serve/door.ts'
import { callsAreTurns, type Loss, objectsAlone, textBesideCalls } from '../serve/loss.ts'
import type { ServedEnvironment, SessionCore } from '../session/session.ts'
import { Channel } from './channel.ts'
import { serveConnection } from './connection.ts'
import { FrameRoom } from './frame-room.ts'

/** Connections to one environment at once: each rollout has one, and one for each stream to its tools. */
const mostConnections = 4_096
/** Bytes of large frames that are not answered yet, of all connections. */
const mostFrameBytes = 256 * 2 ** 20
/** Milliseconds in which a frame must be whole. */
const frameMs = 60_000
/** How long a server that closes lets clients read what they were told last. */
const lastWordsMs = 500

/**
 * HUD's control channel (`hud` 0.6): one TCP port per environment, JSON-RPC in lines, and the tools by MCP at an address of
 * each session's own. The protocol knows no authentication, so it listens on loopback and nowhere else.
 */
export const hudDoor: Door = {
  name: 'hud',
  title: 'HUD',
  plane: { authentication: 'none: loopback only', origin: 'one', merges: false },
  carries: { turns: true, tools: true, seats: true, images: false, groupRewards: false, sandbox: true },
  unscored: 'error',
  losses,
  open: openHud,
}

function losses({ needs, rewards }: ServedEnvironment): Loss[] {
  const lost: Loss[] = [{ says: 'A system message reaches agents as a user message.' }]
  if (needs.includes('turns'))
    lost.push({
      says: 'An agent speaks to the environment by the tool "say"; the text that it ends with is said last.',
    })
  if (needs.length > 0)
    lost.push(textBesideCalls, callsAreTurns, objectsAlone, {
      name: 'calls of unknown tools',
      says: 'A call of a tool that is not there is answered by MCP itself, and the environment never hears of it.',
    })
  if (Object.keys(rewards).length > 0)
    lost.push({
      says: 'Rewards below 0 or above 1 are left out of the subscores, which cannot hold them, and stand in "info".',
    })
  return lost
}

async function openHud(cores: readonly SessionCore[], options: DoorOptions): Promise<OpenDoor> {
  const { host, port, log } = options
  if (!isLoopback(host))
    throw new QuintainError(
      'usage',
      `HUD's control channel knows no authentication, and no token can help: serve it on 127.0.0.1, and bring it elsewhere by a tunnel of your own (ssh -L). Not on ${host}.`,
      { facts: { host } },
    )
  const tools = await serveTools()
  const opened: { channel: Channel; server: ChannelServer }[] = []
  const room = new FrameRoom(mostFrameBytes)
  const close = async () => {
    await Promise.all(opened.map(({ server }) => server.close()))
    for (const { channel } of opened) channel.close()
    await tools.close()
  }
  try {
    for (const [place, core] of cores.entries()) {
      const channel = new Channel({ core, tools })
      opened.push({
        channel,
        server: await listen(channel, { host, port: port === 0 ? 0 : port + place, log, room }),
      })
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
  return { addresses: opened.map(({ channel, server }) => addressOf(channel, server, host)), close }
}

function addressOf({ core }: Channel, { port }: ChannelServer, host: string): DoorAddress {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return { environments: [core.environment.slug], url: `tcp://${name}:${port}`, plane: 'control' }
}

interface ChannelServer {
  port: number
  close(): Promise<void>
}

async function listen(
  channel: Channel,
  { host, port, log, room }: Pick<DoorOptions, 'host' | 'port' | 'log'> & { room: FrameRoom },
): Promise<ChannelServer> {
  const sockets = new Set<Socket>()
  // A client that has sent everything may still be reading.
  const server = createServer({
    allowHalfOpen: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    noDelay: true,
  })
  server.maxConnections = mostConnections
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    serveConnection(socket, { channel, log, frameMs, room })
  })
  await listening(server, { host: host.replace(/^\[|\]$/g, ''), port })
  server.on('error', (error) => log(`hud: ${messageOf(error)}`))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroySoon()
        // Whoever reads nothing does not keep the server.
        setTimeout(() => {
          for (const socket of sockets) socket.destroy()
        }, lastWordsMs).unref()
      }),
  }
}

function listening(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Nothing can listen on ${host}:${port}: ${messageOf(cause)}. Choose another port (--port), or 0 for any that is free.`
      reject(new QuintainError('usage', message, { cause, facts: { host, port } }))
    })
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}
