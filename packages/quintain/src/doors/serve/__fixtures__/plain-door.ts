import { type HttpPort, HttpProblem, openHttp } from '../../../core/http-port.ts'
import type { Need } from '../../../core/index.ts'
import type { TaskChoice } from '../../session/session.ts'
import { SessionError } from '../../session/session-error.ts'
import type { Door, DoorName } from '../door.ts'

/** What a door of tests is told beside what it does. */
export interface PlainDoorTraits {
  name?: DoorName
  merges?: boolean
  origin?: 'one' | 'many'
  /** Needs that it does not carry. */
  lacks?: readonly Need[]
  losses?: readonly string[]
}

interface PlainBody {
  split?: string
  index?: number
  handle?: string
  name?: string
  arguments?: unknown
  answer?: string
}

function taskOf({ split = 'train', index = 0 }: PlainBody): TaskChoice {
  return { split, index }
}

/**
 * A door of the plainest protocol, for tests of what serves doors: `POST /create` `{ split, index }`, `/call`
 * `{ handle, name, arguments }`, `/grade` `{ handle, answer }`, `/close` `{ handle }`.
 */
export function plainDoor({
  name = 'ors',
  merges = true,
  origin = 'one',
  lacks = [],
  losses = [],
}: PlainDoorTraits = {}): Door {
  const carries = { turns: true, tools: true, seats: true, images: true, groupRewards: true, sandbox: true }
  return {
    name,
    title: `Plain ${name}`,
    plane: { authentication: 'bearer token', origin, merges },
    carries: { ...carries, ...Object.fromEntries(lacks.map((need) => [need, false])) },
    unscored: 'null',
    losses: () => losses.map((says) => ({ says })),
    async open(cores, { host, port, token, log }) {
      const groups = origin === 'one' ? cores.map((core) => [core]) : [cores]
      const ports: { http: HttpPort; environments: string[] }[] = []
      const close = async () => void (await Promise.all(ports.map(({ http }) => http.close())))
      for (const [place, group] of groups.entries()) {
        const http = await openHttp({
          host,
          port: port === 0 ? 0 : port + place,
          ...(token === undefined ? {} : { token }),
          log,
          async handle(call) {
            const body = ((await call.json()) ?? {}) as PlainBody
            const core = group[0]!
            try {
              if (call.path === '/create')
                return { json: { handle: (await core.create({ task: taskOf(body) })).handle } }
              const session = core.session(body.handle ?? '')
              if (call.path === '/call')
                return { json: await session.call({ name: '', arguments: {}, ...body }) }
              if (call.path === '/grade') return { json: await session.grade({ answer: body.answer ?? '' }) }
              if (call.path === '/close') return { json: (await session.close()) ?? null }
            } catch (error) {
              if (error instanceof SessionError) throw new HttpProblem(409, error.code)
              throw error
            }
            throw new HttpProblem(404, 'not here')
          },
        }).catch(async (thrown: unknown) => {
          await close()
          throw thrown
        })
        ports.push({ http, environments: group.map(({ environment }) => environment.slug) })
      }
      return {
        addresses: ports.map(({ http, environments }) => ({ environments, url: http.url, plane: 'both' })),
        close,
      }
    },
  }
}
