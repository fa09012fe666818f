import { openHttp } from '../../core/http-port.ts'
import type { Door, DoorOptions, OpenDoor } from '../serve/door.ts'
import { callsAreTurns, type Loss, noGroupRewards, objectsAlone, textBesideCalls } from '../serve/loss.ts'
import type { ServedEnvironment, SessionCore } from '../session/session.ts'
import { orsRoutes } from './routes.ts'

/** Answered without a token: whether the server lives tells nobody anything. */
const open: ReadonlySet<string> = new Set(['/health'])

/**
 * The Open Reward Standard, HTTP and event streams: `ors-sdk`, the `openreward` package, and what stands on them, such as
 * TRL's `OpenRewardSpec(url)`. Its paths are absolute, so every environment has a port of its own.
 */
export const orsDoor: Door = {
  name: 'ors',
  title: 'ORS / OpenReward',
  plane: { authentication: 'X-API-Key or bearer token', origin: 'one', merges: true },
  carries: { turns: true, tools: true, seats: true, images: true, groupRewards: false, sandbox: true },
  unscored: 'error',
  losses,
  open: openOrs,
}

function losses({ needs, rewards }: ServedEnvironment): Loss[] {
  const lost: Loss[] = [
    textBesideCalls,
    callsAreTurns,
    objectsAlone,
    {
      name: 'no score when ended early',
      says: 'An episode that the client ends before it is over has no score, as no request asks for one.',
    },
  ]
  if (needs.includes('images'))
    lost.push({ says: 'TRL shows no images of prompts and tool results to its models.' })
  if (needs.includes('groupRewards')) lost.push(noGroupRewards)
  if (Object.keys(rewards).length > 1)
    lost.push({
      says: 'Clients see the weighted sum as the reward, and its parts in the metadata of the last result only.',
    })
  return lost
}

async function openOrs(cores: readonly SessionCore[], options: DoorOptions): Promise<OpenDoor> {
  const { host, port, token, names, log } = options
  const opened: { url: string; slug: string; close(): Promise<void> }[] = []
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()))
  }
  try {
    for (const [index, core] of cores.entries()) {
      const { slug, version } = core.environment
      const routes = orsRoutes(core, { version, log })
      const http = await openHttp({
        host,
        port: port === 0 ? 0 : port + index,
        ...(token === undefined ? {} : { token }),
        ...(names === undefined ? {} : { names }),
        open,
        handle: routes.handle,
        log,
      }).catch((thrown: unknown) => {
        routes.close()
        throw thrown
      })
      const closeOne = async () => {
        routes.close()
        await http.close()
      }
      opened.push({ url: http.url, slug, close: closeOne })
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
  return {
    addresses: opened.map(({ url, slug }) => ({ environments: [slug], url, plane: 'both' })),
    close,
  }
}
