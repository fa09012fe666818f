import { type HttpPort, openHttp } from '../../core/http-port.ts'
import { messageOf } from '../../core/index.ts'
import { checkSessionTools } from '../../mcp/index.ts'
import type { Door, DoorAddress, OpenDoor } from '../serve/door.ts'
import { type Loss, objectsAlone } from '../serve/loss.ts'
import type { ServedEnvironment } from '../session/session.ts'
import { livenessPaths, mcpPath } from './paths.ts'
import { ResourcesServer } from './server.ts'

/** Rollouts come back with the ids and logprobs of every token. */
const maxBodyBytes = 128 * 2 ** 20

/**
 * NeMo Gym: each environment is a resources server of its own, for nemo-gym 0.5 (rows and cookies), for the episode
 * protocol of 0.7, for steps by `gymnasium_agent`, and for the `nemo_gym` taskset of verifiers 0.3 and later. Read in
 * the packages nemo-gym 0.4.0 and 0.7.0, and verifiers 0.3.0 and 0.4.0.
 */
export const nemoGymDoor: Door = {
  name: 'nemo-gym',
  title: 'NeMo Gym',
  plane: {
    authentication: 'a cookie for each session, a token of its own for its MCP tools',
    origin: 'one',
    merges: true,
  },
  // Output of tools is text in this protocol, so an image that one shows does not arrive.
  carries: { turns: true, tools: true, seats: true, images: false, groupRewards: false, sandbox: true },
  unscored: 'mask',
  losses,
  async open(cores, options): Promise<OpenDoor> {
    const mcp = await checkSessionTools().then(
      () => true,
      (thrown: unknown) => {
        options.log(`NeMo Gym: tools are served at POST /NAME only: ${messageOf(thrown)}`)
        return false
      },
    )
    const opened: { server: ResourcesServer; port: HttpPort }[] = []
    const close = async () => {
      await Promise.all(opened.map(({ server }) => server.episodes.close()))
      await Promise.all(opened.map(({ port }) => port.close()))
    }
    const addresses: DoorAddress[] = []
    try {
      for (const [i, core] of cores.entries()) {
        const server = new ResourcesServer(core, { mcp })
        const port = await openHttp({
          host: options.host,
          port: options.port === 0 ? 0 : options.port + i,
          ...(options.token === undefined ? {} : { token: options.token }),
          ...(options.names === undefined ? {} : { names: options.names }),
          // Agents show their session's token there, and are not given the server's.
          open: new Set([...livenessPaths, mcpPath]),
          maxBodyBytes,
          handle: (call) => server.handle(call),
          log: options.log,
        })
        opened.push({ server, port })
        addresses.push({ environments: [core.environment.slug], url: port.url, plane: 'both' })
      }
    } catch (thrown) {
      await close()
      throw thrown
    }
    return { addresses, close }
  },
}

function losses({ needs }: ServedEnvironment): Loss[] {
  const lost: Loss[] = [
    {
      name: 'text beside calls',
      says: 'What an agent says beside its tool calls is not known here: rewards see its calls and its last message.',
    },
  ]
  if (needs.includes('tools'))
    lost.push(objectsAlone, {
      name: 'calls are turns',
      says: 'Calls come one by one, so that of several in one reply each counts as a turn; gymnasium_agent sends them together.',
    })
  if (needs.includes('turns'))
    lost.push({
      says: 'Where the environment answers, agents speak by the tool "say", but for gymnasium_agent, whose messages are turns.',
    })
  return lost
}
